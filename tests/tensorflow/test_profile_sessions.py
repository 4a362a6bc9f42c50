"""Ways to record a session: context managers, options, a request of another process, several devices."""

import subprocess
import sys

import pytest
import tensorflow as tf
from test_profiler import PLANE, events, fields

from conftest import DEVICE, RELEASE, run_program

pytestmark = pytest.mark.skipif(RELEASE < (2, 7), reason="plugins have profilers from TensorFlow 2.7 on")


def planes_in(folder):
    """Returns the planes of the only trace in a folder, by name."""
    (path,) = folder.glob("**/*.xplane.pb")
    planes = map(fields, fields(path.read_bytes())[1])
    return {plane[2][0].decode(): plane for plane in planes}


def ops(plane):
    return {name.split()[0] for name, _, _ in events(plane)}


def relu():
    with tf.device(f"/device:{DEVICE}:0"):
        tf.nn.relu(tf.constant([[-1.0, 2.0]])).numpy()


def test_context_managers_record_a_session(tmp_path):
    relu()
    with tf.profiler.experimental.Profile(str(tmp_path)):
        for step in range(3):
            with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
                relu()
    planes = planes_in(tmp_path)
    assert [name.split()[0] for name, _, _ in events(planes[PLANE])] == ["Relu"] * 3
    assert b"train" in b"".join(fields(fields(entry)[2][0])[2][0] for entry in planes["/host:CPU"][4])


@pytest.mark.parametrize("level", [0, 1])
def test_level_of_device_events_selects_plugins_up_to_2_18(tmp_path, level):
    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=1, python_tracer_level=0, device_tracer_level=level)
    relu()
    with tf.profiler.experimental.Profile(str(tmp_path), options=options):
        relu()
    plane = planes_in(tmp_path).get(PLANE)
    if level == 0 and RELEASE in ((2, 19), (2, 20)):
        pytest.skip("not known of this release")
    is_recorded = level == 1 or RELEASE > (2, 20)
    assert (plane is not None and ops(plane) == {"Relu"}) == is_recorded


SERVED = """
import os, socket, sys, threading
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf
with socket.socket() as free:
    free.bind(("localhost", 0))
    port = free.getsockname()[1]
tf.profiler.experimental.server.start(port)
with tf.device(DEVICE):
    x = tf.constant([[-1.0, 2.0]])
    tf.nn.relu(x).numpy()
    print(port, flush=True)
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    while not ended.is_set():
        tf.nn.relu(x).numpy()
        ended.wait(0.01)
"""


def test_another_process_asks_for_a_session(tmp_path):
    program = f"DEVICE = '/device:{DEVICE}:0'\n" + SERVED
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            port = server.stdout.readline().strip()
            assert port, "the server has not started"
            tf.profiler.experimental.client.trace(f"grpc://localhost:{port}", str(tmp_path), 1000)
        finally:
            server.stdin.close()
            server.wait(timeout=120)
    assert ops(planes_in(tmp_path)[PLANE]) == {"Relu"}


TWO_DEVICES = """
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf
def compute(ordinal, f):
    with tf.device(f"/device:{DEVICE}:{ordinal}"):
        f(tf.constant([-1.0, 2.0])).numpy()
for f in (tf.nn.relu, tf.negative):
    compute(0, f), compute(1, f)
with tf.profiler.experimental.Profile(FOLDER):
    compute(0, tf.nn.relu)
    compute(1, tf.negative)
"""


def test_each_device_has_a_plane(tmp_path):
    run = run_program(TWO_DEVICES, {"SP_CPU_DEVICES": "2"}, DEVICE=DEVICE, FOLDER=tmp_path)
    if "visible_device_list" in run.stderr:
        pytest.skip("this release supports one plugin only, and another is installed")
    assert run.returncode == 0, run.stderr
    planes = planes_in(tmp_path)
    found = [ops(planes[PLANE[:-1] + str(ordinal)]) for ordinal in (0, 1)]
    assert found == [{"Relu"}, {"Neg"}]
