"""Compares the time from headers to IR and Rust with bindgen's command line on the same headers.

    cargo build --release -p sp-gen
    cargo install bindgen-cli --root target/made
    python3 tests/bench/headers.py [--release 2.21] [--rounds 21] [--all]

The processes alternate. The figures are the median elapsed time and processor time (user and system) over
the rounds, and the largest memory of a round. On a shared machine compare the processor time, which does not
depend on other processes. `--all` adds the commands over all releases. Needs a libclang (LIBCLANG_PATH) and the releases in
headers/store; a tool or release that is absent is skipped.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def sp_gen():
    folder = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    return pathlib.Path(folder) / "release/sp-gen"


def bindgen():
    made = ROOT / "target/made/bin/bindgen"
    return str(made) if made.exists() else shutil.which("bindgen")


def stored(release):
    found = sorted((ROOT / "headers/store").glob(f"{release}.*/include"))
    return found[-1] if found else None


def headers(release):
    """Returns the headers of all APIs, whose declarations sp-gen reads."""
    snapshots = (ROOT / "generated/ir").glob(f"*/{release}.json")
    return sorted({header for snapshot in snapshots for header in json.loads(snapshot.read_text())["headers"]})


def builtin(scratch):
    """sp-gen's own <stddef.h> and the like, with the names that C++ has for them."""
    folder = scratch / "builtin"
    shutil.copytree(ROOT / "headers/builtin", folder)
    for header in list(folder.glob("*.h")):
        (folder / f"c{header.stem}").write_text(f"#include <{header.name}>\n")
    return folder


def peers(release, include, scratch):
    wrapper = scratch / "wrapper.h"
    wrapper.write_text("".join(f'#include "{header}"\n' for header in headers(release)))
    clang = ["--", "-x", "c++", "-std=c++17", "-nostdinc", "-isystem", builtin(scratch), "-I", include]
    for formatter in ("none", "prettyplease", "rustfmt"):
        if formatter == "rustfmt" and not shutil.which("rustfmt"):
            print("bindgen, rustfmt: skipped: there is no rustfmt")
            continue
        out = ["--formatter", formatter, "--output", scratch / f"{formatter}.rs", wrapper]
        yield f"bindgen, {'no formatter' if formatter == 'none' else formatter}", [bindgen(), *out, *clang]


def cases(release, include, scratch):
    tool = sp_gen()
    yield "headers to IR", [tool, "ir", "stream_executor", "--release", release, "--headers", include, "--format", "json"]
    yield "headers to Rust", [tool, "generate", "--release", release, "--headers", include, "--out", scratch / "crate"]
    if bindgen():
        yield from peers(release, include, scratch)
    else:
        print("bindgen: skipped: there is none in target/made or on PATH; `cargo install bindgen-cli --root target/made`")


def cases_of_all(scratch):
    tool = sp_gen()
    yield "snapshots to Rust, all releases", [tool, "generate", "--out", scratch / "all"]
    yield "headers to snapshots, all releases", [tool, "import", "tensorflow", "all", "--locked"]


def run(command):
    """Milliseconds that passed, milliseconds of processor time, megabytes."""
    start = time.perf_counter()
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = child.stderr.read().decode()
    _, status, usage = os.wait4(child.pid, 0)
    took = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{said}")
    return took * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3, usage.ru_maxrss / 1024


def measure(cases, rounds):
    figures = {name: [] for name, _ in cases}
    for round_ in range(-1, rounds):
        for name, command in cases:
            figure = run(command)
            if round_ >= 0:
                figures[name].append(figure)
    for name, rows in figures.items():
        took, cpu, memory = zip(*rows)
        print(f"{name:36} {statistics.median(took):9.1f} {statistics.median(cpu):9.1f} {max(memory):7.1f}")


def versions():
    said = [[str(sp_gen()), "--version"]] + ([[bindgen(), "--version"]] if bindgen() else [])
    return ", ".join(subprocess.run(one, capture_output=True, text=True).stdout.strip() for one in said)


def load():
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--release", default="2.21")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--all", action="store_true", help="also what concerns every release at once")
    arguments = parser.parse_args()
    include = stored(arguments.release)
    if include is None:
        raise SystemExit(f"skipped: headers/store has no {arguments.release}; `sp-gen import tensorflow {arguments.release}` brings it")
    print(f"{versions()}; TensorFlow {arguments.release}; {load()} before")
    print(f"{'':36} {'passed ms':>9} {'cpu ms':>9} {'MB':>7}")
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        measure(list(cases(arguments.release, include, scratch)), arguments.rounds)
        if arguments.all:
            measure(list(cases_of_all(scratch)), max(3, arguments.rounds // 4))
    print(f"{load()} after")
