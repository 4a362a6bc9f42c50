"""Runs test files, each in a process of its own: `run_files.py TESTS RESULTS`.

TESTS is a file of JSON: `files`, each with parts of the names of the tests to run, where none means all, by their paths in `root`; the
modules `imports` that all processes have, and the module of pytest `hooks`. RESULTS gets the outcome of each test.
A test that ends its process, or takes longer than `SP_SECONDS`, has failed; the others of its file run in another process.
"""

import gc
import importlib
import json
import os
import pathlib
import signal
import sys
import tempfile
import time

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
PROCESSES = int(os.environ.get("SP_PROCESSES", os.cpu_count() or 1))
SECONDS = int(os.environ.get("SP_SECONDS", "300"))
STARTS = 30  # processes for a file whose tests end them
# Each takes longer than most others together, so the others run beside them.
LONGEST = ("applications/applications_test.py", "ops/numpy_test.py")


class Run:
    """The processes that run the tests of a file, one after the other."""

    def __init__(self, suite, file, folder):
        self.suite, self.file, self.chosen, self.tests, self.starts = suite, file, suite["files"][file], {}, 0
        name = file.replace("/", ".")
        self.input, self.outcomes, self.log, self.home = (folder / f"{name}.{it}" for it in ("json", "jsonl", "log", "home"))

    def start(self):
        """Forks a process for the tests that have no outcome; TensorFlow's devices do not exist before."""
        context = sys.modules["tensorflow.python.eager.context"].context()
        assert context._context_handle is None, "the imports create the devices"
        self.starts, self.changed = self.starts + 1, time.time()
        self.outcomes.write_text("")
        self.input.write_text(json.dumps({"outcomes": str(self.outcomes), "done": list(self.tests), "chosen": self.chosen}))
        self.process = os.fork()
        if self.process == 0:
            self.run_tests()
        return self.process

    def run_tests(self):
        os.setpgid(0, 0)  # a child of a test ends with it
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1), os.dup2(log, 2)
        self.home.mkdir(exist_ok=True)
        os.chdir(self.home)
        os.environ["SP_RUN_OF_FILE"] = str(self.input)
        status = 70
        try:
            # pytest's own tracebacks take about a second for each failed test.
            root, hooks = pathlib.Path(self.suite["root"]), self.suite["hooks"]
            options = ["-q", "--tb=native", "-p", "outcomes", "-p", hooks, "-p", "no:cacheprovider", "-c", os.devnull, f"--rootdir={root}"]
            status = pytest.main([*options, f"--basetemp={self.home}/tmp", str(root / self.file)])
        finally:
            sys.stdout.flush(), sys.stderr.flush()
            os._exit(status)  # without the parent's exit handlers

    def read(self):
        """Reads the outcomes; returns the test that has started last if it has none."""
        started = None
        for line in self.outcomes.read_text().splitlines():
            found = json.loads(line)
            name = found.pop("test")
            if found.pop("started", False):
                started = name
            else:
                self.tests[name], started = found, None
        return started

    def is_late(self):
        changed = self.outcomes.stat().st_mtime
        return time.time() - max(changed, self.changed) > SECONDS

    def end(self, status):
        """Notes the outcomes; returns true if other tests of the file may be left."""
        running, code = self.read(), os.waitstatus_to_exitcode(status)
        if code in range(0, 6):
            return False
        how = f"signal {-code}" if code < 0 else f"status {code}"
        error = f"the process ended with {how}: {last_line(self.log)}" if code != -signal.SIGKILL else f"no result after {SECONDS} s"
        # A process that ends outside of its tests does so each time.
        self.tests[running or self.file] = {"outcome": "failed", "error": error, "seconds": 0}
        return running is not None and self.starts < STARTS


def last_line(log):
    """Returns the line of a process's log that tells why it ended, or an empty text."""
    lines = [it for it in log.read_text(errors="replace").splitlines() if it.strip()]
    return next((it for it in reversed(lines) if "Fatal" in it or "Check failed" in it or it.startswith("F0")), (lines or [""])[-1])[:300]


def run_all(suite, folder, results):
    """Runs all files, and writes the outcomes after each."""
    for module in suite["imports"]:
        importlib.import_module(module)
    files = sorted(suite["files"], key=lambda file: not file.endswith(LONGEST))
    waiting, running = [Run(suite, file, folder) for file in files], {}
    finished = {}
    gc.freeze()  # the children do not visit the objects of TensorFlow
    while waiting or running:
        while waiting and len(running) < PROCESSES:
            run = waiting.pop(0)
            running[run.start()] = run
        child, status = os.waitpid(-1, os.WNOHANG)
        if child:
            run = running.pop(child)
            if run.end(status):
                waiting.insert(0, run)
            else:
                finished[run.file] = run.tests
                results.write_text(json.dumps(finished))
                report(run)
        else:
            stop_late(running)
            time.sleep(0.05)


def stop_late(running):
    for process, run in running.items():
        if run.is_late():
            os.killpg(process, signal.SIGKILL)


def report(run):
    counts = {it: sum(test["outcome"] == it for test in run.tests.values()) for it in ("passed", "failed", "skipped")}
    print(f"{run.file}: " + ", ".join(f"{count} {it}" for it, count in counts.items()), flush=True)


def main(tests, results):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        run_all(json.loads(pathlib.Path(tests).read_text()), pathlib.Path(folder), pathlib.Path(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
