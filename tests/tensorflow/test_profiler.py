"""The profiler: a session's trace has a plane of the device, with the kernels that ran."""

import gzip
import importlib
import json
import os
import socket
import subprocess
import sys
import threading
import time

import pytest
import tensorflow as tf
import xspace

from conftest import DEVICE, RELEASE, example, run_program

pytestmark = pytest.mark.skipif(RELEASE < (2, 7), reason="plugins have profilers from TensorFlow 2.7 on")

PLANE = "/device:GPU:0"


def profile(folder, operation):
    """Profiles `operation`; returns the trace's path, its planes by name, and the session's duration."""
    start = time.monotonic()
    tf.profiler.experimental.start(str(folder))
    operation()
    tf.profiler.experimental.stop()
    (path,) = folder.glob("**/*.xplane.pb")
    return path, xspace.planes(path), time.monotonic() - start


def kernels(plane):
    """Returns name, start, duration and statistics of each kernel of a device's plane."""
    return [event[1:] for event in xspace.events(plane) if "tf_op" in event[4]]


def on_device(function):
    def operation():
        with tf.device(f"/device:{DEVICE}:0"):
            function(tf.constant([[-1.0, 2.0]])).numpy()

    return operation


def test_trace_has_kernels_of_its_session_only(tmp_path):
    for op, function in [("Relu", tf.nn.relu), ("Neg", tf.negative), ("Relu", tf.nn.relu)]:
        folder = tmp_path / f"{op}{len(os.listdir(tmp_path))}"
        on_device(function)()  # before the session, so not in its trace
        _, planes, seconds = profile(folder, on_device(function))
        assert "/host:CPU" in planes
        recorded = kernels(planes[PLANE])
        assert [name.split()[0] for name, *_ in recorded] == [op]
        (_, start, length, _) = recorded[0]
        # Times are relative to the session's start, as those of TensorFlow's own events.
        assert 0 <= start and 0 < length and start + length < seconds * 1e9


def test_trace_of_session_without_kernels_has_no_plane(tmp_path):
    on_device(tf.nn.relu)()
    _, planes, _ = profile(tmp_path, lambda: None)
    assert PLANE not in planes


def test_trace_viewer_shows_device(tmp_path):
    """Uses TensorFlow's converter for TensorBoard, which not every release has."""
    path, _, _ = profile(tmp_path, on_device(tf.nn.relu))
    trace = convert_trace(path)
    assert PLANE.encode() in trace and b"Relu" in trace


def convert_trace(path):
    internal = "tensorflow.python.profiler.internal."
    for name in ("_pywrap_profiler_plugin", "_pywrap_profiler"):
        try:
            convert = importlib.import_module(internal + name).xspace_to_tools_data
        except (ImportError, AttributeError):
            continue
        trace = convert([str(path)], "trace_viewer")
        trace = trace[0] if isinstance(trace, tuple) else trace
        return gzip.decompress(trace) if trace[:2] == b"\x1f\x8b" else bytes(trace)
    pytest.skip("this release has no converter of traces")


def test_event_has_node_run_and_inputs(tmp_path):
    with tf.device(f"/device:{DEVICE}:0"):

        @tf.function
        def function(x):
            return tf.nn.relu(tf.nn.relu(x, name="first") * 2.0, name="last")

        x = tf.constant([[-1.0, 2.0, 3.0]])
        function(x).numpy()
        _, planes, _ = profile(tmp_path, lambda: function(x).numpy())
    by_node = {stats["tf_op"]: stats for *_, stats in kernels(planes[PLANE])}
    first = by_node["first:Relu"]
    assert first["tensor_shapes"] == "float[1,3]" and first["bytes_accessed"] == 12
    assert first["kernel_source"] == "own" and len({stats["run_id"] for stats in by_node.values()}) == 1
    assert "last:Relu" in by_node


def test_profile_is_an_xspace_of_core(tmp_path):
    """Core's own class for the format reads the same events as the parser of these tests."""
    xplane_pb2 = pytest.importorskip("tensorflow.tsl.profiler.protobuf.xplane_pb2")
    path, planes, _ = profile(tmp_path, on_device(tf.nn.relu))
    space = xplane_pb2.XSpace.FromString(path.read_bytes())
    (plane,) = [plane for plane in space.planes if plane.name == PLANE]
    found = []
    for line in plane.lines:
        for event in line.events:
            values = {}
            for stat in event.stats:
                kind = stat.WhichOneof("value")
                value = getattr(stat, kind)
                name = plane.stat_metadata[stat.metadata_id].name
                values[name] = plane.stat_metadata[value].name if kind == "ref_value" else value
            start = line.timestamp_ns + event.offset_ps / 1000
            found.append((line.name, plane.event_metadata[event.metadata_id].name, start, event.duration_ps / 1000, values))
    assert found == list(xspace.events(planes[PLANE])) and found
    stats = {plane.stat_metadata[stat.metadata_id].name for stat in plane.stats}
    assert {"core_count", "memory_size", "compute_cap_major", "clock_rate", "memory_bandwidth"} <= stats


def test_calls_are_on_the_lines_of_core(tmp_path):
    """The id of a thread's line is that of TensorFlow's own events, so that these are beside the plugin's."""
    _, planes, _ = profile(tmp_path, on_device(tf.nn.relu))
    host = list(xspace.events(planes["/host:CPU"]))
    (line,) = {event[0] for event in host if event[1].startswith("Relu ")}
    assert any(event[0] == line and not event[1].startswith(("Relu ", "Memcpy")) for event in host)


@pytest.mark.parametrize("level", [0, 1])
def test_level_of_device_events_selects_plugins_up_to_2_18(tmp_path, level):
    """Core passes no level to a plugin's profiler. Up to 2.18 it does not start one at level 0."""
    if level == 0 and RELEASE in ((2, 19), (2, 20)):
        pytest.skip("not known of this release")
    options = tf.profiler.experimental.ProfilerOptions(device_tracer_level=level)
    tf.profiler.experimental.start(str(tmp_path), options)
    on_device(tf.nn.relu)()
    tf.profiler.experimental.stop()
    (path,) = tmp_path.glob("**/*.xplane.pb")
    plane = xspace.planes(path).get(PLANE)
    expected = ["Relu"] if level == 1 or RELEASE > (2, 20) else []
    assert [name.split()[0] for name, *_ in (kernels(plane) if plane else [])] == expected


def test_session_under_load_has_each_kernel_once(tmp_path):
    calls, threads = 200, 4

    def work():
        with tf.device(f"/device:{DEVICE}:0"):
            x = tf.constant([-1.0])
            for _ in range(calls):
                tf.nn.relu(x)

    def operation():
        workers = [threading.Thread(target=work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    _, planes, _ = profile(tmp_path, operation)
    found = [stats["correlation_id"] for name, *_, stats in kernels(planes[PLANE]) if name.startswith("Relu ")]
    assert len(found) == calls * threads == len(set(found))


def test_context_manager_records(tmp_path):
    with tf.profiler.experimental.Profile(str(tmp_path)):
        on_device(tf.nn.relu)()
    (path,) = tmp_path.glob("**/*.xplane.pb")
    assert [name.split()[0] for name, *_ in kernels(xspace.planes(path)[PLANE])] == ["Relu"]


def free_port():
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        return listener.getsockname()[1]


SERVER = """
import sys
import tensorflow as tf
tf.profiler.experimental.server.start(PORT)
with tf.device(DEVICE):
    x = tf.constant([-1.0])
    tf.nn.relu(x).numpy()
    print("ready", flush=True)
    while True:
        tf.nn.relu(x).numpy()
"""


def test_profile_from_another_process(tmp_path):
    """`tf.profiler.experimental.client.trace` asks the profiler's server of a process that computes without an end."""
    port = free_port()
    constants = f"PORT = {port}\nDEVICE = '/device:{DEVICE}:0'\n"
    with subprocess.Popen([sys.executable, "-c", constants + SERVER], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert "ready" in server.stdout.readline()
            tf.profiler.experimental.client.trace(f"grpc://localhost:{port}", str(tmp_path), 3000)
        finally:
            server.kill()
    (path,) = tmp_path.glob("**/*.xplane.pb")
    found = {name.split()[0] for name, *_ in kernels(xspace.planes(path)[PLANE])}
    assert found == {"Relu"}


DEVICES = """
import sys
import tensorflow as tf
tf.profiler.experimental.start(FOLDER)
for ordinal in range(2):
    with tf.device(f"{DEVICE}:{ordinal}"):
        [tf.nn.relu, tf.negative][ordinal](tf.constant([-1.0])).numpy()
tf.profiler.experimental.stop()
"""


@pytest.mark.parametrize("streams", ["inline", "async"])
def test_each_device_has_a_plane(tmp_path, streams):
    environment = {"SP_CPU_DEVICES": "2", "SP_CPU_STREAMS": streams, "SP_CPU_MEMORY": "opaque"}
    process = run_program(DEVICES, environment, FOLDER=str(tmp_path), DEVICE=f"/device:{DEVICE}")
    assert process.returncode == 0, process.stderr[-3000:]
    (path,) = tmp_path.glob("**/*.xplane.pb")
    planes = xspace.planes(path)
    for ordinal, op in enumerate(["Relu", "Neg"]):
        plane = planes[f"/device:GPU:{ordinal}"]
        assert [name.split()[0] for name, *_ in kernels(plane)] == [op]
        assert any(event[1].startswith("Memcpy") for event in xspace.events(plane))


TWO_PLUGINS = """
import tensorflow as tf
from tensorflow.python.framework import load_library
load_library.load_pluggable_device_library(LIBRARY)
for device in (DEVICE, OTHER):
    with tf.device(device):
        tf.nn.relu(tf.constant([-1.0])).numpy()
tf.profiler.experimental.start(FOLDER)
for device, function in [(DEVICE, tf.nn.relu), (OTHER, tf.negative)]:
    with tf.device(device):
        function(tf.constant([-1.0])).numpy()
tf.profiler.experimental.stop()
"""


@pytest.mark.skipif((2, 8) <= RELEASE < (2, 19), reason="these releases have an error with two device types")
def test_profilers_of_two_plugins_record_one_session(tmp_path):
    """The second plugin has chosen planes of the form `DevicePlane::Custom`. No number of a call is in both."""
    constants = {"FOLDER": tmp_path, "LIBRARY": example("second_type"), "DEVICE": f"/device:{DEVICE}:0", "OTHER": "/device:SECOND:0"}
    process = run_program(TWO_PLUGINS, **constants)
    assert process.returncode == 0, process.stderr[-3000:]
    (path,) = tmp_path.glob("**/*.xplane.pb")
    planes = xspace.planes(path)
    found = [kernels(planes[name]) for name in (PLANE, "/device:CUSTOM:SECOND:0")]
    assert [[name.split()[0] for name, *_ in recorded] for recorded in found] == [["Relu"], ["Neg"]]
    assert found[0][0][3]["correlation_id"] != found[1][0][3]["correlation_id"]
    launches = [event[4]["correlation_id"] for event in xspace.events(planes["/host:CPU"]) if "correlation_id" in event[4]]
    assert len(launches) == len(set(launches))


FAILING = """
import tensorflow as tf
with tf.device(DEVICE):
    x = tf.constant([-1.0])
    tf.profiler.experimental.start(FOLDER)
    try:
        tf.fill([1 << 45], 1.0)
        raise SystemExit("no error")
    except (tf.errors.ResourceExhaustedError, tf.errors.InternalError, tf.errors.InvalidArgumentError) as error:
        print(type(error).__name__)
    try:
        for _ in range(50):
            tf.nn.relu(x).numpy()
        raise SystemExit("no error")
    except tf.errors.OpError as error:
        print(error.message)
    tf.profiler.experimental.stop()
"""


def test_errors_of_ops_do_not_end_a_session(tmp_path):
    """A lack of memory and a device that fails at its 20th command: the errors are those without a profile."""
    environment = {"SP_CPU_MEMORY": "opaque", "SP_CPU_STREAMS": "async", "SP_CPU_FAIL": "20"}
    process = run_program(FAILING, environment, FOLDER=str(tmp_path), DEVICE=f"/device:{DEVICE}:0")
    assert process.returncode == 0, process.stdout + process.stderr[-3000:]
    assert "SP_CPU_FAIL" in process.stdout + process.stderr  # some releases replace the message
    (path,) = tmp_path.glob("**/*.xplane.pb")
    assert any(name.startswith("Relu") for name, *_ in kernels(xspace.planes(path)[PLANE]))


SESSIONS = """
import gc, json, resource, tempfile
import tensorflow as tf
from tensorflow.python.profiler.internal import _pywrap_profiler as profiler_api
with tf.device(DEVICE):
    x = tf.constant([-1.0])
    sizes = []
    for number in range(int(COUNT)):
        session = profiler_api.ProfilerSession()
        session.start("", {})
        tf.nn.relu(x).numpy()
        space = session.stop()
        if number % (int(COUNT) // 10) == 0:
            gc.collect()
            sizes.append([int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS")][0])
print(json.dumps({"sizes": sizes, "bytes": len(space)}))
"""


def test_memory_does_not_grow_over_1000_sessions():
    process = run_program(SESSIONS, {"SP_CPU_MEMORY": "opaque", "SP_CPU_STREAMS": "async"}, DEVICE=f"/device:{DEVICE}:0", COUNT=1000)
    if "ImportError" in process.stderr or "AttributeError" in process.stderr:
        pytest.skip("this release has no ProfilerSession in that module")
    assert process.returncode == 0, process.stderr[-3000:]
    found = json.loads(process.stdout.splitlines()[-1])
    assert found["bytes"] > 100
    # Kilobytes. The first sessions allocate what later ones use again; a session of this size has about 3 KiB of events.
    growth = found["sizes"][-1] - found["sizes"][2]
    assert growth < 1500, found["sizes"]
