"""Checks and measures the programs of `tests/gpu/pack` on this machine's GPU: `run.py [FOLDER]`.

Writes `gpu.json`, `gpu.md` and the programs' output to $OUT, or to target/made/gpu/results. Uses the standard library of Python only.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tarfile
import tempfile
import time

import opencl_library
import results_page

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Releases of which the first two differ in layouts, and the last one is the newest.
RELEASES = "2.12,2.18,2.21"
SECONDS = 180
# The characters of each output of a program in the log.
LOGGED = 500_000
GPU_FIELDS = ["name", "driver_version", "memory.total", "pcie.link.gen.max", "pcie.link.width.max"]


class Skipped(Exception):
    """The reason why a part cannot run."""


class Failed(Exception):
    """What a part has found."""


class Machine:
    """What the parts need: the programs, the driver's library and the environment of both."""

    def __init__(self, files, results):
        self.programs = files / "bin"
        self.results = results
        self.library, self.looked = opencl_library.find()
        self.environment = {**os.environ, "CARGO_MANIFEST_DIR": str(files), "SP_LOG": "info", "SP_HOST_SECONDS": "60"}
        if self.library:
            self.use_library()

    def use_library(self):
        """Makes the loader find the driver's library, and that library the others of its folder."""
        vendors = self.programs / "vendors"
        vendors.mkdir()
        (vendors / "driver.icd").write_text(self.library + "\n")
        self.environment["OCL_ICD_VENDORS"] = str(vendors)
        self.environment["CLPLUGIN_DRIVER"] = str(self.programs / "libOpenCL.so.1")
        folders = [str(pathlib.Path(self.library).parent), self.environment.get("LD_LIBRARY_PATH", "")]
        self.environment["LD_LIBRARY_PATH"] = ":".join(filter(None, folders))

    def needs_opencl(self):
        if not self.library:
            raise Skipped(f"no OpenCL library of a driver: looked for {', '.join(self.looked)}")

    def run(self, *command, seconds=SECONDS, **variables):
        """Runs a program; returns its exit status and output. Adds both to the log."""
        name = pathlib.Path(str(command[0])).name
        environment = {**self.environment, **variables}
        start = time.monotonic()
        try:
            finished = subprocess.run(
                [str(part) for part in command], capture_output=True, text=True, errors="replace", env=environment, timeout=seconds
            )
        except subprocess.TimeoutExpired as error:
            raise Failed(f"{name} did not end within {seconds} s") from error
        except OSError as error:
            raise Failed(f"{name} cannot run: {error}") from error
        with open(self.results / "log.txt", "a") as log:
            words = " ".join(map(str, command))
            log.write(f"== {words}: status {finished.returncode}, {time.monotonic() - start:.1f} s\n")
            log.write(f"{finished.stdout[-LOGGED:]}{finished.stderr[-LOGGED:]}\n")
        return finished


def describe_gpu():
    """Returns what the driver's tool states about the first GPU, or nothing without the tool."""
    command = ["nvidia-smi", f"--query-gpu={','.join(GPU_FIELDS)}", "--format=csv,noheader,nounits"]
    try:
        lines = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        return {}
    return dict(zip(GPU_FIELDS, (value.strip() for value in lines[0].split(","))))


def device(machine):
    """The device that OpenCL lists first."""
    machine.needs_opencl()
    finished = machine.run(sys.executable, HERE / "opencl_device.py", machine.environment["CLPLUGIN_DRIVER"])
    check_status(finished, {})
    facts = parse_json(finished)
    return {**facts, "summary": f"{facts['name']}, driver {facts['driver']}, {facts['memory'] / 1e9:.1f} GB"}


def verify(machine):
    """`sp-gen verify` with the real device."""
    machine.needs_opencl()
    plugin = machine.programs / "libclplugin.so"
    options = ["--release", RELEASES, "--require-device", "--run-timeout", SECONDS, "--format", "json"]
    finished = machine.run(machine.programs / "sp-gen", "verify", plugin, *options, seconds=SECONDS + 60)
    rows = parse_json(finished)["rows"]
    failed = [f"{row['check']} {row['release']}: {row['detail']}" for row in rows if row["status"] == "fail"]
    if failed:
        raise Failed(f"{len(failed)} of {len(rows)} checks: {'; '.join(failed)}")
    return check_status(finished, counts(rows))


def verify_kernels(machine):
    """`sp-gen verify --kernels`."""
    plugin = machine.programs / "libclplugin.so"
    finished = machine.run(machine.programs / "sp-gen", "verify", plugin, "--kernels", "--release", RELEASES)
    return check_status(finished, {"summary": finished.stdout.strip().split("\n")[-1]})


def parse_json(finished):
    try:
        return json.loads(finished.stdout)
    except ValueError as error:
        raise Failed(f"no JSON: {last_lines(finished)}") from error


def counts(rows):
    return {"passed": sum(row["status"] == "pass" for row in rows), "skipped": sum(row["status"] == "skip" for row in rows)}


def check_status(finished, facts):
    if finished.returncode != 0:
        raise Failed(f"status {finished.returncode}: {last_lines(finished)}")
    return facts


def last_lines(finished):
    lines = (finished.stdout + finished.stderr).strip().splitlines()
    return " | ".join(lines[-3:])


def unit_tests(machine):
    """The scaffold's tests of its OpenCL layer: a kernel that does not compile, an allocation that is too large."""
    machine.needs_opencl()
    finished = machine.run(machine.programs / "unit_tests")
    results = [line for line in finished.stdout.splitlines() if line.startswith("test result: ")]
    return check_status(finished, {"summary": "; ".join(results)})


def suite(machine, program, *filters, **variables):
    """Runs a test program of the test host; returns its rows."""
    machine.needs_opencl()
    finished = machine.run(machine.programs / program, *filters, seconds=2 * SECONDS, **variables)
    rows = [parse_row(line) for line in finished.stdout.splitlines() if line.startswith(("pass  ", "FAIL  ", "skip  "))]
    failed = [row for row in rows if row["status"] == "FAIL"]
    if finished.returncode != 0 or failed or not rows:
        names = "; ".join(f"{row['name']}: {row['detail']}" for row in failed) or last_lines(finished)
        raise Failed(f"{len(failed)} of {len(rows)} failed: {names}")
    return {**counts(rows), "rows": rows}


def parse_row(line):
    status, name, *detail = line.split(None, 2)
    return {"status": status, "name": name, "detail": "".join(detail).strip()}


def conformance(machine):
    """The scaffold's checks and tests."""
    return suite(machine, "conformance")


def kernels(machine):
    """Each kernel of the OpenCL table beside the reference kernel."""
    return suite(machine, "kernels", "kernel:", SP_COMPARE="1")


def enqueued_kernels(machine):
    """The same kernels without staging copies, called before their inputs are copied. Updates of variables have expected values."""
    return suite(machine, "kernels", "kernel:", SP_COMPARE="0", SP_FORBID_STAGED="1", SP_HOST_ASYNC="1")


def failures(machine):
    """Failures of the device, after which it computes."""
    return suite(machine, "kernels", "failure:")


def cuda(machine):
    """A program of safe Rust over bindings of cuda.h: copies, and a kernel given as PTX."""
    program = machine.programs / "cuda"
    if not program.exists():
        raise Skipped("tests/gpu/pack had no headers of CUDA")
    # The variable of the bindings, whose crate has this name.
    variables = {"BINDINGS_DRIVER": library} if (library := opencl_library.find_cuda()) else {}
    finished = machine.run(program, **variables)
    if finished.returncode == 77:
        raise Skipped(finished.stdout.strip().removeprefix("skipped: "))
    check_status(finished, {})
    return parse_json(finished)


def bench(machine):
    """The speed of the OpenCL device."""
    machine.needs_opencl()
    size = os.environ.get("SP_GPU_SIZE") or ("large" if opencl_library.NAME in machine.library else "small")
    finished = machine.run(machine.programs / "bench", size, seconds=2 * SECONDS)
    return check_status(finished, {"size": size, "measurements": parse_lines(finished.stdout)})


def torch_bench(machine):
    """The same measurements with PyTorch."""
    finished = machine.run(sys.executable, HERE / "torch_bench.py", os.environ.get("SP_GPU_SIZE") or "large")
    if finished.returncode == 77:
        raise Skipped(finished.stdout.strip().removeprefix("skipped: "))
    return check_status(finished, {"measurements": parse_lines(finished.stdout)})


def parse_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


# The parts, and whether each is a check.
PARTS = [
    (device, False),
    (verify, True),
    (verify_kernels, True),
    (unit_tests, True),
    (conformance, True),
    (kernels, True),
    (enqueued_kernels, True),
    (failures, True),
    (cuda, True),
    (bench, False),
    (torch_bench, False),
]


def run_part(part, machine):
    """Runs a part; returns its result, and prints a line."""
    start = time.monotonic()
    result = {"name": part.__name__, "description": part.__doc__, "status": "passed", "reason": "", "facts": {}}
    try:
        result["facts"] = part(machine)
    except Skipped as reason:
        result.update(status="skipped", reason=str(reason))
    except Failed as reason:
        result.update(status="failed", reason=str(reason))
    # The results of the other parts are written all the same.
    except Exception as error:
        result.update(status="failed", reason=repr(error))
    result["seconds"] = round(time.monotonic() - start, 1)
    words = f"skipped: {part.__name__}" if result["status"] == "skipped" else f"{result['status']:8}{part.__name__}"
    print(f"{words}, {result['seconds']} s: {results_page.detail(result)}", flush=True)
    return result


def run_parts(machine):
    """Runs all parts; returns the facts about the machine and the results."""
    print(f"OpenCL library: {machine.library or 'none'}", flush=True)
    facts = {"gpu": describe_gpu(), "opencl_library": machine.library, "glibc": platform.libc_ver()[1], "cores": os.cpu_count()}
    return {"machine": facts, "parts": [run_part(part, machine) for part, _ in PARTS]}


def exit_status(results):
    """Returns 1 if a part has failed, and 77 if no check ran but that of the list of kernels, which needs no device."""
    if any(it["status"] == "failed" for it in results):
        return 1
    checks = [part.__name__ for part, is_check in PARTS if is_check and part is not verify_kernels]
    return 0 if any(it["status"] == "passed" and it["name"] in checks for it in results) else 77


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=ROOT / ".gpu")
    pack = parser.parse_args().folder.resolve()
    if not (pack / "pack.json").is_file():
        print(f"skipped: {pack} has no pack.json: run tests/gpu/pack")
        sys.exit(77)
    results = pathlib.Path(os.environ.get("OUT") or ROOT / "target" / "made" / "gpu" / "results").resolve()
    results.mkdir(parents=True, exist_ok=True)
    if any((results / name).exists() for name in ("log.txt", "gpu.md")) and not (results / "gpu.json").is_file():
        sys.exit(f"{results} has a log.txt or gpu.md that tests/gpu/run has not written: set OUT to another folder")
    (results / "log.txt").unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as files, tarfile.open(pack / "pack.tar.gz") as archive:
        archive.extractall(files)
        report = {"pack": json.loads((pack / "pack.json").read_text()), **run_parts(Machine(pathlib.Path(files), results))}
    (results / "gpu.json").write_text(json.dumps(report, indent=1) + "\n")
    (results / "gpu.md").write_text(results_page.write(report))
    print(f"results: {results}/gpu.md")
    sys.exit(exit_status(report["parts"]))


if __name__ == "__main__":
    main()
