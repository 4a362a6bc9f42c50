"""Runs the cases in each mode of the reference device, in processes that may end or hang, and returns the results."""

import json
import os
import pathlib
import subprocess
import threading

PROGRAM = pathlib.Path(__file__).with_name("program.py")
MODES = {
    "host, inline": {"SP_CPU_MEMORY": "host", "SP_CPU_STREAMS": "inline"},
    "opaque, inline": {"SP_CPU_MEMORY": "opaque", "SP_CPU_STREAMS": "inline"},
    "host, async": {"SP_CPU_MEMORY": "host", "SP_CPU_STREAMS": "async", "SP_CPU_JITTER": "3000"},
    "opaque, async": {"SP_CPU_MEMORY": "opaque", "SP_CPU_STREAMS": "async", "SP_CPU_JITTER": "3000"},
}
# Longest time of one case, and of TensorFlow's import, in seconds.
LIMIT, START_LIMIT = 60, 300
# The exit status of the program if TensorFlow does not list the device.
NO_DEVICE = 3


class DeviceMissing(RuntimeError):
    """The plugin is not installed, or was removed during the sweep."""


def listing(python):
    """Returns the release, the ops with kernels of device type DEFAULT, and the cases."""
    found = subprocess.run([python, PROGRAM, "--list"], capture_output=True, text=True, check=True)
    return json.loads(found.stdout.splitlines()[-1])


def run(python, pending, environment):
    """Yields a result for each pending `CASE:MODE`. A process that ends or hangs is started again after the case that it ran."""
    pending = list(pending)
    while pending:
        process = Process(python, pending, environment)
        for result in process.results():
            pending.remove(f"{result['case']}:{result['mode']}")
            yield result
        if pending:
            case, mode = pending.pop(0).split(":")
            yield {"case": case, "mode": mode, **process.end()}


class Process:
    """A process that runs cases in order, until one ends it or takes too long."""

    def __init__(self, python, pending, environment):
        self.started = subprocess.Popen(
            [python, PROGRAM, *pending], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, **environment})
        self.is_late = False

    def results(self):
        timer = self.timer(START_LIMIT)
        for line in self.started.stdout:
            timer.cancel()
            timer = self.timer(LIMIT)
            line = json.loads(line)
            if "result" in line:
                yield line
        timer.cancel()

    def timer(self, limit):
        timer = threading.Timer(limit, self.stop)
        timer.start()
        return timer

    def stop(self):
        self.is_late = True
        self.started.kill()

    def end(self):
        """Returns the result of the case that the process has not completed."""
        status = self.started.wait()
        if status == NO_DEVICE:
            raise DeviceMissing(f"{self.started.args[0]} lists no device MYACCEL: install the plugin, and let no other test remove it")
        if self.is_late:
            return {"result": "hangs", "detail": f"not complete after {LIMIT} s"}
        return {"result": "crashes", "detail": f"the process ends with {signal_name(status)}"}


def signal_name(status):
    return {-11: "SIGSEGV", -6: "SIGABRT", -7: "SIGBUS"}.get(status, f"status {status}")


def sweep(python, modes=MODES, report=print):
    """Returns the listing, with the results of each mode by case and execution."""
    found = listing(python)
    pending = sorted({f"{name}:{execution}" for name, executions in found["cases"].values() for execution in executions})
    found["results"] = {}
    for mode in modes:
        results = found["results"][mode] = {}
        for result in run(python, pending, MODES[mode]):
            results.setdefault(result["case"], {})[result["mode"]] = [result["result"], result["detail"]]
            if result["result"] != "right":
                report(f"{found['release']} {mode}: {result}")
    return found
