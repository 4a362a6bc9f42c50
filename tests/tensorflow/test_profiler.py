"""The profiler: a session's trace has a plane of the device, with the kernels that ran."""

import gzip
import importlib
import os
import time

import pytest
import tensorflow as tf

from conftest import DEVICE, RELEASE

pytestmark = pytest.mark.skipif(RELEASE < (2, 7), reason="plugins have profilers from TensorFlow 2.7 on")

PLANE = f"/device:CUSTOM:{DEVICE}:0"


def fields(message):
    """Parses a protocol buffer: lists of numbers and bytes by field number."""
    parsed, position = {}, 0

    def varint():
        nonlocal position
        value = shift = 0
        while True:
            byte = message[position]
            value |= (byte & 0x7F) << shift
            position, shift = position + 1, shift + 7
            if byte < 0x80:
                return value

    while position < len(message):
        tag = varint()
        if tag & 7 == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}.get(tag & 7) or varint()
            value, position = message[position : position + size], position + size
        parsed.setdefault(tag >> 3, []).append(value)
    return parsed


def events(plane):
    """Yields each event of a plane: name, nanoseconds since the session's start, duration in nanoseconds."""
    entries = [fields(fields(entry)[2][0]) for entry in plane.get(4, [])]
    names = {entry[1][0]: entry[2][0].decode() for entry in entries}
    for line in map(fields, plane.get(3, [])):
        start = line.get(3, [0])[0]
        for event in map(fields, line.get(4, [])):
            offset, length = event.get(2, [0])[0], event.get(3, [0])[0]
            yield names[event[1][0]], start + offset / 1000, length / 1000


def profile(folder, operation):
    """Profiles `operation`; returns the trace's path, its planes by name, and the session's duration."""
    start = time.monotonic()
    tf.profiler.experimental.start(str(folder))
    operation()
    tf.profiler.experimental.stop()
    (path,) = folder.glob("**/*.xplane.pb")
    planes = map(fields, fields(path.read_bytes())[1])
    return path, {plane[2][0].decode(): plane for plane in planes}, time.monotonic() - start


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
        recorded = list(events(planes[PLANE]))
        assert [name.split()[0] for name, _, _ in recorded] == [op]
        (_, start, length) = recorded[0]
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
