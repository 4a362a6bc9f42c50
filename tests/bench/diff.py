"""Compares the time of `sp-gen diff` with libabigail's abidiff, on one pair of releases.

    tests/bench/diff.py [--sp-gen target/release/sp-gen] [--old 2.6] [--new 2.7] [--rounds 15]

The processes alternate, and a figure is the median over the rounds. abidiff compares compiled objects, so
the headers of each release are first compiled into one, with debug information and a symbol for every
struct and function. The time of this compilation is shown separately. The headers come
from the store (`sp-gen import tensorflow 2.6 2.7`), abidiff from the package abigail-tools.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = ("struct", "union", "function", "callback")


def declared(release):
    """Yields every item of every API, with its kind and header."""
    for path in sorted((ROOT / "generated/ir").glob(f"*/{release}.json")):
        api = json.loads(path.read_text())
        for name, item in api["items"].items():
            header = api["headers"][int(item["loc"].split(":")[0])]
            yield name, item["kind"], header


def stored(release):
    folders = sorted((ROOT / "headers/store").glob(f"{release}.*/include"))
    return folders[-1] if folders else None


def source(release):
    items = [item for item in declared(release) if item[1] in KINDS and not item[0].startswith("_")]
    yield "#include <cstddef>\n#include <cstdint>"
    yield from (f'#include "{header}"' for header in sorted({header for _, _, header in items}))
    for name, kind, _ in items:
        if "__" in name:
            continue
        c_type = f"decltype(&{name})" if kind == "function" else f"{name}*"
        yield f'extern "C" {c_type} use_{name}; {c_type} use_{name} = nullptr;'


def compile_headers(release, folder):
    path = folder / f"{release}.cc"
    path.write_text("\n".join(source(release)) + "\n")
    built = folder / f"{release}.so"
    command = ["c++", "-std=c++17", "-g", "-shared", "-fPIC", "-w", f"-I{stored(release)}", path, "-o", built]
    start = time.perf_counter()
    subprocess.run(command, check=True)
    return built, time.perf_counter() - start


def timed(command, expected):
    """Seconds, and the largest resident size in MB."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    took = time.perf_counter() - start
    code = child.returncode = os.waitstatus_to_exitcode(status)
    if code not in expected:
        sys.exit(f"{' '.join(map(str, command))} ended with {code}")
    return took, usage.ru_maxrss / 1024


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sp-gen", default=ROOT / "target/release/sp-gen")
    parser.add_argument("--old", default="2.6")
    parser.add_argument("--new", default="2.7")
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    old, new, sp_gen = arguments.old, arguments.new, arguments.sp_gen
    if not shutil.which("abidiff"):
        skip("there is no abidiff (apt install abigail-tools)")
    if not (stored(old) and stored(new)):
        skip(f"the store lacks headers (sp-gen import tensorflow {old} {new})")
    with tempfile.TemporaryDirectory() as scratch:
        built = {release: compile_headers(release, pathlib.Path(scratch)) for release in (old, new)}
        # abidiff's status is a set of bits: 4 something changed, 8 incompatibly.
        commands = {
            "sp-gen, two releases": ([sp_gen, "diff", old, new], {0, 1}),
            "sp-gen, two include roots": ([sp_gen, "diff", stored(old), stored(new)], {0, 1}),
            "abidiff, two objects": (["abidiff", built[old][0], built[new][0]], {0, 4, 12}),
        }
        figures = {name: [] for name in commands}
        for round_ in range(-1, arguments.rounds):
            for name, (command, expected) in commands.items():
                figure = timed(command, expected)
                if round_ >= 0:
                    figures[name].append(figure)
    print(f"{old} and {new}, {arguments.rounds} rounds, {os.cpu_count()} cores, whole processes")
    print(f"{'':28} {'ms':>8} {'MB':>7}")
    for name, rounds in figures.items():
        milliseconds, megabytes = (statistics.median(column) for column in zip(*rounds))
        print(f"{name:28} {milliseconds * 1000:8.1f} {megabytes:7.1f}")
    took = ", ".join(f"{release} {seconds:.2f} s" for release, (_, seconds) in built.items())
    print(f"before that, compiled for abidiff: {took}")
