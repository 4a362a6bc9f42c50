"""Instructions of one kernel call in the plugin's own code, in Rust and in C: without noise, by valgrind.

    cargo bench -p sp-tests --bench kernel --no-run
    python3 tests/bench/instructions.py target/release/deps/kernel-HASH [--plugin libmyaccel.so]

A figure is the difference of a run with 2,000 calls and one with 1,000, divided by 1,000, of the instructions in the
kernels' library. Those of the device, which both kernels use, are subtracted: the kernels in C are in a library of their own,
so their run shows them. Those of the host and of the C library are not counted.
"""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile

OPS = ["Relu", "AddV2", "MatMul", "Sum", "Neg"]


def instructions(bench, op, language, calls, plugin):
    """Returns the instructions by library."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out")
        environment = os.environ | {"SP_KERNEL_CALLS": f"{op} {language} {calls}"}
        if plugin:
            environment["SP_KERNEL_PLUGIN"] = plugin
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--compress-strings=no", "--compress-pos=no", bench, "--bench"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
        return by_library(out.read_text())


def per_call(bench, op, language, plugin):
    few, many = (instructions(bench, op, language, calls, plugin) for calls in (1000, 2000))
    return {library: (many[library] - few.get(library, 0)) / 1000 for library in many}


def by_library(text):
    counts, library, is_inclusive = {}, "", False
    for line in text.splitlines():
        if line.startswith("ob="):
            library = line[3:].rsplit("/", 1)[-1]
        elif line.startswith("calls="):
            is_inclusive = True
        elif re.match(r"[0-9+*-]", line):
            if not is_inclusive:
                counts[library] = counts.get(library, 0) + int(line.split()[1])
            is_inclusive = False
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", help="the executable of the bench `kernel`")
    parser.add_argument("--plugin", help="another plugin in Rust")
    parser.add_argument("--only", choices=OPS, action="append")
    arguments = parser.parse_args()
    rust = pathlib.Path(arguments.plugin or "libsp_cost.so").name
    print(f"{'':8} {'Rust':>8} {'C':>8}")
    for op in arguments.only or OPS:
        in_rust, in_c = (per_call(arguments.bench, op, language, arguments.plugin) for language in ("Rust", "C"))
        print(f"{op:8} {in_rust[rust] - in_c[rust]:8.0f} {in_c['kernels.so']:8.0f}")
