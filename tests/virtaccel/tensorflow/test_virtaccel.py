"""A plugin over virtaccel's driver in TensorFlow: memory that the host cannot access, asynchronous queues, two devices.

`tests/virtaccel/in_tensorflow PYTHON` builds the plugin and runs this file. Each program runs in a process of its own, since the
driver's settings are read once.
"""

import json
import os
import subprocess
import sys

import pytest

PLUGIN = os.environ["SP_VACCEL"]
DRIVER = os.environ["VACCEL_DRIVER"]

HEAD = f"""
import json, os, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import load_library
load_library.load_pluggable_device_library({PLUGIN!r})
def on_device(f, ordinal=0):
    with tf.device(f"/device:VACCEL:{{ordinal}}"):
        return f()
def error_of(f):
    try:
        f()
    except Exception as error:
        return type(error).__name__ + ": " + str(error)
"""


def run(program, plugin=PLUGIN, **variables):
    """Runs a program that prints one line of JSON; returns its value and the plugin's lines on stderr about devices."""
    environment = {**os.environ, **{key: str(value) for key, value in variables.items()}}
    command = [sys.executable, "-c", HEAD.replace(PLUGIN, plugin) + program]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert finished.returncode == 0, finished.stderr[-4000:]
    lines = [line for line in finished.stderr.splitlines() if line.startswith("plugin vaccel: its devices ")]
    return json.loads(finished.stdout.splitlines()[-1]), lines


@pytest.mark.parametrize("jitter", [0, 500])
def test_computes_on_opaque_memory_asynchronously(jitter):
    program = """
x = np.random.default_rng(1).normal(size=(40, 30)).astype(np.float32)
w = np.random.default_rng(2).normal(size=(30, 20)).astype(np.float32)
def forward(x, w):
    y = tf.nn.relu(tf.matmul(x, w)) + 1.0
    return tf.reduce_sum(y, axis=0), tf.matmul(y, tf.ones((20, 3)), transpose_a=False)
expected = forward(tf.constant(x), tf.constant(w))
found = []
for function in (forward, tf.function(forward)):
    for step in range(5):
        found = on_device(lambda: function(tf.constant(x), tf.constant(w)))
        assert all("VACCEL:0" in it.device for it in found), found[0].device
        for a, b in zip(expected, found):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-4)
print(json.dumps([device.name for device in tf.config.list_physical_devices("VACCEL")]))
"""
    devices, _ = run(program, VIRTACCEL_JITTER=jitter)
    assert devices == ["/physical_device:VACCEL:0", "/physical_device:VACCEL:1"]


def test_copies_between_devices():
    program = """
first = on_device(lambda: tf.nn.relu(tf.constant([[1.0, -2.0], [3.0, 4.0]])))
second = on_device(lambda: tf.matmul(first, first), 1)
print(json.dumps([first.device[-8:], second.device[-8:], second.numpy().tolist()]))
"""
    found, _ = run(program)
    assert found == ["VACCEL:0", "VACCEL:1", [[1.0, 0.0], [15.0, 16.0]]]


def test_memory_info_has_current_and_peak():
    program = """
def info():
    return tf.config.experimental.get_memory_info("/device:VACCEL:0")
kept = on_device(lambda: tf.ones((1 << 18,)))
before = info()
on_device(lambda: tf.nn.relu(tf.ones((1 << 20,)))).numpy()
print(json.dumps([before, info()]))
"""
    (before, after), _ = run(program)
    assert before["current"] >= 1 << 20
    assert after["peak"] >= after["current"] + (4 << 20), (before, after)
    assert after["current"] < before["current"] + (1 << 20), (before, after)


def test_calls_return_before_their_work_runs():
    program = """
x = on_device(lambda: tf.ones((8, 8)))
y = on_device(lambda: tf.nn.relu(x)); y.numpy()
start = time.monotonic()
for _ in range(5):
    y = on_device(lambda: tf.nn.relu(y))
enqueued = time.monotonic() - start
y.numpy()
print(json.dumps([enqueued, time.monotonic() - start]))
"""
    # Each operation starts up to 200 ms late; six of them with this seed need more than a quarter of a second.
    (enqueued, done), _ = run(program, VIRTACCEL_JITTER=200000)
    assert enqueued < done / 2, (enqueued, done)


def test_copy_to_the_host_does_not_delay_later_kernels():
    # A kernel that fails while the copy is in progress has run: the next op returns its error.
    program = f"""
import ctypes, threading
driver = ctypes.CDLL({DRIVER!r})
driver.va_inject.argtypes = [ctypes.c_int, ctypes.c_uint64]
LAUNCH, SLOW_COPY = 2, 4
x = on_device(lambda: tf.constant([1.0, 2.0]))
on_device(lambda: tf.nn.relu(x)).numpy()
times = {{}}
def copy():
    error_of(lambda: x.numpy())
    times["copied"] = time.monotonic() - start
driver.va_inject(SLOW_COPY, 4000000)
start = time.monotonic()
thread = threading.Thread(target=copy)
thread.start()
time.sleep(0.5)  # the copy has begun
driver.va_inject(LAUNCH, 1)
message = None
while message is None:
    message = error_of(lambda: on_device(lambda: tf.nn.relu(x)))
    time.sleep(0.05)
times["computed"] = time.monotonic() - start
thread.join()
print(json.dumps([message, times]))
"""
    (message, times), _ = run(program)
    assert "VA_ERROR_LAUNCH_FAILED" in message, message
    assert times["computed"] < times["copied"] and times["copied"] >= 4, times


def test_failed_launch_is_an_error_of_a_later_call_and_the_process_continues():
    program = """
x = on_device(lambda: tf.constant([1.0, -1.0]))
y = on_device(lambda: tf.nn.relu(x))
time.sleep(0.5)  # the launch has failed
message = error_of(lambda: on_device(lambda: tf.nn.relu(y)).numpy())
with tf.device("/CPU:0"):
    alive = (tf.constant([1.0]) + 1.0).numpy().tolist()
print(json.dumps([message, alive]))
"""
    (message, alive), _ = run(program, VIRTACCEL_FAIL_LAUNCH=1)
    assert message and "relu" in message.lower() and "VA_ERROR_LAUNCH_FAILED" in message, message
    assert alive == [2.0]


def test_out_of_memory_is_an_error_in_python():
    program = """
message = error_of(lambda: on_device(lambda: tf.nn.relu(tf.ones((1 << 22,)))).numpy())
small = on_device(lambda: tf.nn.relu(tf.constant([-1.0, 2.0]))).numpy().tolist()
print(json.dumps([message, small]))
"""
    (message, small), _ = run(program, VIRTACCEL_MEMORY=8 << 20)
    assert message and message.startswith(("ResourceExhausted", "Internal")), message
    assert small == [0.0, 2.0]


WITHOUT_DEVICE = """
with tf.device("/CPU:0"):
    value = tf.nn.relu(tf.constant([-1.0, 2.0])).numpy().tolist()
print(json.dumps([[device.name for device in tf.config.list_physical_devices("VACCEL")], value]))
"""


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"VACCEL_DRIVER": "libno_driver_here.so"}, "libno_driver_here.so: cannot open shared object file"),
        ({"VACCEL_DRIVER": "libc.so.6"}, "the driver libc.so.6 is too old: it lacks va_driver_version"),
        ({"VIRTACCEL_VERSION": "1.0"}, "the driver's version is 1.0, expected 1.1 or later"),
        ({"VIRTACCEL_DEVICES": "0"}, None),
    ],
)
def test_missing_or_old_driver_is_no_device_and_one_line(variables, reason):
    (devices, value), lines = run(WITHOUT_DEVICE, **variables)
    assert devices == [] and value == [0.0, 2.0]
    assert len(lines) == (reason is not None), lines
    assert all(reason in line for line in lines), lines
