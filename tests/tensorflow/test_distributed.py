"""Programs that scale to several devices and processes have the results of the same programs on the CPU.

A program of `distributed` runs once without the plugin and once with a plugin of the device's type, which has two devices. Its comment
`# processes: chief worker ps` lists the tasks of its cluster, each a process on the loopback address, and the first one reports;
`# restarts: 1` is the number of times that the program kills itself and starts again.

The default is a short form; `SP_DISTRIBUTED=1` runs each program for a device type of its own and for type GPU. The table is in
codegen/docs/devices.md.
"""

import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest

from conftest import DEVICE, RELEASE, example
from test_unchanged import differences, field, kernel_calls, releases

FOLDER = pathlib.Path(__file__).with_name("distributed")
PROGRAMS = sorted(it.stem for it in FOLDER.glob("*.py") if it.stem != "workload")
IS_COMPLETE = os.environ.get("SP_DISTRIBUTED") == "1"
SHORT = [("multi_worker", "GPU")]
CELLS = [(program, device) for program in PROGRAMS for device in ["own", "GPU"]] if IS_COMPLETE else SHORT
# The plugin computes nothing: these strategies use devices of type GPU, or else the CPU.
ON_CPU = {("multi_worker", "own"), ("parameter_server", "own"), ("other_strategies", "own"), ("dtensor", "own")}
SECONDS = 240

pytestmark = pytest.mark.skipif(RELEASE < (2, 12), reason="Keras' older optimizers use fused kernels that only core has")


def free_addresses(count):
    """Returns addresses of different ports."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for it in found:
            it.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{it.getsockname()[1]}" for it in found]


def variables_of_device(device):
    """Returns the variables that select the plugin."""
    if device == "cpu":
        return {"SP_HIDE_PLUGIN": "1"}
    two = {"SP_CPU_DEVICES": "2"}
    if device == "own":
        return {**two, "SP_DEVICES": f"{DEVICE}:0 {DEVICE}:1"}
    return {**two, "SP_LIBRARY": os.environ.get("SP_TYPE_GPU_LIBRARY") or str(example("type_gpu")), "SP_MESH": "GPU"}


def configurations(tasks):
    """Returns the `TF_CONFIG` of each task, or nothing for a program without a cluster."""
    if not tasks:
        return [{}]
    cluster = {}
    for task, address in zip(tasks, free_addresses(len(tasks))):
        cluster.setdefault(task, []).append(address)
    numbered = [{"type": task, "index": tasks[:position].count(task)} for position, task in enumerate(tasks)]
    return [{"TF_CONFIG": json.dumps({"cluster": cluster, "task": it})} for it in numbered]


def start(path, folder, variables):
    search = [str(FOLDER.parents[1] / "startup"), str(FOLDER), str(FOLDER.with_name("unchanged"))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(search), "SP_CALLS": str(folder / "calls"), **variables}
    with open(folder / "stderr", "ab") as stderr:
        return subprocess.Popen([sys.executable, path], cwd=folder, env=environment, stdout=stderr, stderr=stderr)


@contextlib.contextmanager
def started(path, folder, tasks):
    """Starts a process for each task, and ends those that are left: each ends itself once the file `done` exists."""
    processes = []
    try:
        for task in tasks:
            processes.append(start(path, folder, task))
        yield processes
    finally:
        (folder / "done").touch()
        for process in processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()
            process.wait()


def run_task(path, folder, task, expected):
    """Runs the process of a task to its end, which has to have this status."""
    with started(path, folder, [task]) as (process,):
        try:
            status = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            status = f"none in {SECONDS} s"
    assert status == expected, f"status {status}\n{(folder / 'stderr').read_text(errors='replace')[-3000:]}"


def run(name, device, folder):
    """Runs the processes of a program; returns the results that the first one reports."""
    path = FOLDER / f"{name}.py"
    text = path.read_text()
    folder.mkdir()
    tasks = [{**variables_of_device(device), **it} for it in configurations((field(text, "processes") or "").split())]
    first = {**tasks[0], "SP_REPORT": str(folder / "report.npz")}
    with started(path, folder, tasks[1:]):
        for _ in range(int(field(text, "restarts") or 0)):
            run_task(path, folder, first, -signal.SIGKILL)
        run_task(path, folder, first, 0)
    with np.load(folder / "report.npz") as found:
        return dict(found)


@pytest.mark.parametrize("program, device", CELLS)
def test_program_has_results_of_cpu(program, device, tmp_path):
    first, last = releases(field((FOLDER / f"{program}.py").read_text(), "releases"))
    if not first <= RELEASE <= last:
        pytest.skip("the program uses what other releases have")
    expected = run(program, "cpu", tmp_path / "cpu")
    found = run(program, device, tmp_path / "device")
    different = "\n".join(differences(expected, found, 1e-4))
    assert not different, different
    has_calls = kernel_calls(tmp_path / "device") > 0
    assert has_calls or (program, device) in ON_CPU, "the plugin has computed nothing"
