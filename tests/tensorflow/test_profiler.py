"""The profiler: what a session writes has a plane of the device's own, with the kernels that ran."""

import gzip
import importlib
import os
import time

import pytest
import tensorflow as tf

from conftest import DEVICE, RELEASE

pytestmark = pytest.mark.skipif(RELEASE < (2, 7), reason="TensorFlow looks for no profiler before 2.7")

PLANE = f"/device:CUSTOM:{DEVICE}:0"


def fields(message):
    """The fields of a protocol buffer, by number: lists of numbers and of bytes."""
    found, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return value

    while at < len(message):
        tag = varint()
        if tag & 7 == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}.get(tag & 7) or varint()
            value, at = message[at : at + size], at + size
        found.setdefault(tag >> 3, []).append(value)
    return found


def events(plane):
    """Each event of a plane: name, nanoseconds since the session's start, nanoseconds it took."""
    entries = [fields(fields(entry)[2][0]) for entry in plane.get(4, [])]
    names = {entry[1][0]: entry[2][0].decode() for entry in entries}
    for line in map(fields, plane.get(3, [])):
        start = line.get(3, [0])[0]
        for event in map(fields, line.get(4, [])):
            offset, length = event.get(2, [0])[0], event.get(3, [0])[0]
            yield names[event[1][0]], start + offset / 1000, length / 1000


def session(folder, work):
    """Profiles `work`: the file that the session wrote, its planes by name, and how long it took."""
    begun = time.monotonic()
    tf.profiler.experimental.start(str(folder))
    work()
    tf.profiler.experimental.stop()
    (path,) = folder.glob("**/*.xplane.pb")
    planes = map(fields, fields(path.read_bytes())[1])
    return path, {plane[2][0].decode(): plane for plane in planes}, time.monotonic() - begun


def on_device(function):
    def work():
        with tf.device(f"/device:{DEVICE}:0"):
            function(tf.constant([[-1.0, 2.0]])).numpy()

    return work


def test_each_session_has_what_ran_in_it(tmp_path):
    for op, function in [("Relu", tf.nn.relu), ("Neg", tf.negative), ("Relu", tf.nn.relu)]:
        folder = tmp_path / f"{op}{len(os.listdir(tmp_path))}"
        on_device(function)()  # before the session, so not in it
        _, planes, seconds = session(folder, on_device(function))
        assert "/host:CPU" in planes
        found = list(events(planes[PLANE]))
        assert [name.split()[0] for name, _, _ in found] == [op]
        (_, start, length) = found[0]
        # From the session's start on, as TensorFlow tells its own events' times.
        assert 0 <= start and 0 < length and start + length < seconds * 1e9


def test_a_session_without_work_has_no_plane(tmp_path):
    on_device(tf.nn.relu)()
    _, planes, _ = session(tmp_path, lambda: None)
    assert PLANE not in planes


def test_it_is_a_device_in_the_trace(tmp_path):
    """As TensorBoard draws it: with TensorFlow's own converter, where a release has one."""
    path, _, _ = session(tmp_path, on_device(tf.nn.relu))
    trace = converted(path)
    assert PLANE.encode() in trace and b"Relu" in trace


def converted(path):
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
