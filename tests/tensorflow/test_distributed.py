"""Programs that scale to several devices and processes have the results of the same programs on the CPU.

A program of `distributed` runs once without the plugin and once with a plugin of the device's type, which has two devices. Its comment
`# processes: chief worker ps` lists the tasks of its cluster, each a process on the loopback address, and the first one reports;
`# restarts: 1` is the number of times that the program kills itself and starts again.

The default is a short form; `SP_DISTRIBUTED=1` runs each program for a device type of its own and for type GPU. The table is in
codegen/docs/devices.md.
"""

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
SHORT = [("multi_worker", "GPU"), ("data_service", "GPU")]
CELLS = [(program, device) for program in PROGRAMS for device in ["own", "GPU"]] if IS_COMPLETE else SHORT
# The plugin computes nothing: these strategies use devices of type GPU, or else the CPU.
ON_CPU = {("multi_worker", "own"), ("parameter_server", "own"), ("other_strategies", "own"), ("dtensor", "own")}
# The worker computes. It is stopped before it writes its counts.
UNCOUNTED = {("parameter_server", "GPU")}
SECONDS = 240

pytestmark = pytest.mark.skipif(RELEASE < (2, 12), reason="Keras' older optimizers use fused kernels that only core has")


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


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
    for task in tasks:
        cluster.setdefault(task, []).append(f"127.0.0.1:{free_port()}")
    places = [(task, tasks[:position].count(task)) for position, task in enumerate(tasks)]
    tasks = [{"type": task, "index": index} for task, index in places]
    return [{"TF_CONFIG": json.dumps({"cluster": cluster, "task": it})} for it in tasks]


def start(path, folder, variables):
    search = [str(FOLDER.parents[1] / "startup"), str(FOLDER), str(FOLDER.with_name("unchanged"))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(search), "SP_CALLS": str(folder / "calls"), **variables}
    with open(folder / "stderr", "ab") as stderr:
        return subprocess.Popen([sys.executable, path], cwd=folder, env=environment, stdout=stderr, stderr=stderr)


def finish(process, folder):
    try:
        return process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        pytest.fail(f"does not end in {SECONDS} s\n{errors(folder)}")


def errors(folder):
    return (folder / "stderr").read_text(errors="replace")[-3000:]


def run(name, device, folder):
    """Runs the processes of a program; returns the results that the first one reports."""
    path = FOLDER / f"{name}.py"
    text = path.read_text()
    folder.mkdir()
    variables = variables_of_device(device)
    tasks = [{**variables, **it} for it in configurations((field(text, "processes") or "").split())]
    others = [start(path, folder, it) for it in tasks[1:]]
    first = {**tasks[0], "SP_REPORT": str(folder / "report.npz")}
    try:
        for _ in range(int(field(text, "restarts") or 0)):
            assert finish(start(path, folder, first), folder) == -signal.SIGKILL, errors(folder)
        assert finish(start(path, folder, first), folder) == 0, errors(folder)
    finally:
        for process in others:
            process.kill()
            process.wait()
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
    is_counted = (program, device) not in ON_CPU | UNCOUNTED
    assert not is_counted or kernel_calls(tmp_path / "device") > 0, "the plugin has computed nothing"
