"""The command `tests/pjrt-demand`."""

import argparse
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import data
import declarations
import environment
import measure
import page
from host import Host

SKIPPED = 77
BUILD = data.ROOT / "target" / "made" / "pjrt"
FLAGS = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Wno-unused-variable", "-fPIC", "-fvisibility=hidden", "-shared"]


def snapshots():
    """Returns the snapshots of the API by their minor version; before minor 40 the table was another one."""
    found = {}
    for path in sorted((data.ROOT / "generated" / "ir" / "pjrt").glob("*.json")):
        items, minor = declarations.read_snapshot(path)
        if minor >= 40:
            found[minor] = path, items
    return dict(sorted(found.items()))


def build_probe(newest):
    """Compiles the probe with the newest snapshot, and returns its path."""
    library = BUILD / "libprobe.so"
    declarations.write(data.ROOT / "generated" / "ir", newest.stem, BUILD / "probe")
    sources = sorted((data.ROOT / "tests" / "pjrt" / "probe").glob("*.c"))
    includes = [f"-I{BUILD / 'probe'}", f"-I{data.ROOT / 'tests' / 'pjrt' / 'probe'}"]
    subprocess.run(["cc", *FLAGS, *includes, *sources, "-o", library, "-ldl"], check=True)
    return library


def measured(host, release, process, short):
    """Returns the data of a host's process."""
    known = snapshots()
    _, items = known[max(known)]
    counts = {minor: len(declarations.slots(snapshot)) for minor, (_, snapshot) in known.items()}
    extensions = {number: name for number, name, _ in declarations.extensions(items)}
    try:
        demand = measure.measure(process, counts, declarations.slots(items), extensions, short)
    finally:
        process.close()
    return {"schema": 1, "host": host, "release": release, **process.versions, **demand}


def measure_jaxlib(library, release, arguments):
    """Installs and measures a release of JAX."""
    python, packages = environment.install(BUILD, release)
    variables = {"PYTHONPATH": str(packages), "PYTHONPYCACHEPREFIX": str(BUILD / "pycache"), "TF_CPP_MIN_LOG_LEVEL": "0"}
    process = Host(python, data.ROOT / "tests" / "pjrt" / "jax_host.py", library, variables)
    result = measured("jaxlib", release, process, arguments.short)
    if not arguments.keep:
        shutil.rmtree(packages)
    return result


def shape_size(release):
    """Returns the size of XLA_Shape in the snapshot of a release of TensorFlow."""
    minor = ".".join(release.split(".")[:2])
    items, _ = declarations.read_snapshot(data.ROOT / "generated" / "ir" / "pjrt" / f"{minor}.json")
    return items["XLA_Shape"]["layout"]["size"]


def measure_tensorflow(library, python, arguments):
    """Measures the TensorFlow of an environment, with a next pluggable device that compiles each op."""
    interpreter, release = environment.without_plugins(BUILD, python)
    variables = {"SP_PROBE_SHAPE_SIZE": str(shape_size(release)), "TF_CPP_MIN_LOG_LEVEL": "0"}
    process = Host(interpreter, data.ROOT / "tests" / "pjrt" / "tf_host.py", library, variables)
    return measured("tensorflow", release.replace("-", ""), process, arguments.short)


def report(result, check, compared):
    """Writes the data of a release, or compares it and adds its name to `compared`; returns the differences."""
    name = f"{result['host']} {result['release']}"
    called = sum(entry["demand"] != "unused" for entry in result["slots"].values())
    print(f"{name}: {called} of {len(result['slots'])} slots are called", flush=True)
    if not check:
        data.write(result)
        return []
    if not data.path_of(result["host"], result["release"]).exists():
        print(f"{name}: not in the data; without --check the command adds it", flush=True)
        return []
    compared.append(name)
    lines = [f"{name}: {line}" for line in data.differences(data.read(result["host"], result["release"]), result)]
    print("\n".join(lines) if lines else f"{name}: as in the data", flush=True)
    return lines


def parse():
    parser = argparse.ArgumentParser(prog="tests/pjrt-demand", description="Measures what hosts demand of a PJRT plugin.")
    parser.add_argument("--check", action="store_true", help="compare with the data and write nothing")
    parser.add_argument("--short", action="store_true", help="with --check: without errors of slots, tables and extensions")
    parser.add_argument("--keep", action="store_true", help="keep the installed packages")
    parser.add_argument("--page", action="store_true", help="write the page from the data, and measure nothing")
    parser.add_argument("host", nargs="?", choices=["jaxlib", "tensorflow"])
    parser.add_argument("releases", nargs="*", metavar="RELEASE|PYTHON")
    arguments = parser.parse_args()
    if arguments.short and not arguments.check:
        parser.error("--short needs --check: it measures a part of the data")
    if not arguments.page and not arguments.host:
        parser.error("name a host: jaxlib or tensorflow")
    if arguments.host == "tensorflow" and not arguments.releases:
        parser.error("name the Python of an environment with TensorFlow")
    return arguments


def run_all(function, releases, check):
    """Measures two releases at a time; a release that cannot be installed is reported."""
    found, problems, compared = [], [], []

    def run(release):
        try:
            return report(function(release), check, compared)
        except environment.NotInstalled as error:
            problems.append(f"{release}: {error}")
            print(f"{release}: not measured: {error}", flush=True)
            return []
        except RuntimeError as error:
            line = f"{release}: the measurement failed: {error}"
            print(line, flush=True)
            return [line]

    with ThreadPoolExecutor(2) as pool:
        for lines in pool.map(run, releases):
            found += lines
    return found, problems, compared


def main():
    arguments = parse()
    if arguments.page:
        page.write()
        return 0
    if not shutil.which("cc"):
        print("skipped: no C compiler (cc) is installed")
        return SKIPPED
    known = snapshots()
    BUILD.mkdir(parents=True, exist_ok=True)
    library = build_probe(known[max(known)][0])
    measure_one = {"jaxlib": measure_jaxlib, "tensorflow": measure_tensorflow}[arguments.host]
    releases = arguments.releases or (environment.available() if arguments.host == "jaxlib" else [])
    if not releases:
        print("skipped: pip cannot reach a package index with jaxlib")
        return SKIPPED
    found, problems, compared = run_all(lambda release: measure_one(library, release, arguments), releases, arguments.check)
    if len(problems) == len(releases):
        print(f"skipped: {problems[0]}")
        return SKIPPED
    if arguments.check and not compared and not found:
        print("skipped: no measured release is in the data, so that nothing was compared")
        return SKIPPED
    if not arguments.check:
        page.write()
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
