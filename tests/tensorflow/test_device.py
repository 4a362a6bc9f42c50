"""TensorFlow lists the device, puts tensors on it, and gets them back whole."""

import re
import subprocess

import numpy as np
import tensorflow as tf

from conftest import RELEASE, alone


def test_is_listed():
    (device,) = tf.config.list_physical_devices("MYACCEL")
    assert device.name == "/physical_device:MYACCEL:0"


def test_is_preferred_to_the_cpu():
    assert "MYACCEL" in tf.matmul(tf.ones([2, 2]), tf.ones([2, 2])).device


def test_tensors_go_there_and_back():
    for shape in [(), (0,), (1,), (3, 0, 2), (1023,), (257, 129)]:
        value = np.random.default_rng(1).normal(size=shape).astype(np.float32)
        with tf.device("/device:MYACCEL:0"):
            there = tf.identity(tf.constant(value))
        assert "MYACCEL" in there.device
        np.testing.assert_array_equal(there.numpy(), value)


def test_many_threads_at_once():
    # 2.6 and 2.7 pass a function no argument on a plugin's device, unless its type is GPU.
    with tf.device("/CPU:0" if RELEASE in [(2, 6), (2, 7)] else "/device:MYACCEL:0"):
        x = tf.constant(np.arange(4096, dtype=np.float32))
    with tf.device("/device:MYACCEL:0"):

        @tf.function
        def many(x):
            return tf.add_n([tf.reduce_sum(x * float(i)) for i in range(32)])

        expected = float(sum(range(32))) * 4095 * 4096 / 2
        for _ in range(20):
            assert abs(float(many(x)) / expected - 1) < 1e-5


def test_needs_no_tensorflow_to_link(plugin):
    symbols = subprocess.run(
        ["nm", "--dynamic", "--undefined-only", plugin], check=True, capture_output=True, text=True
    ).stdout
    assert not re.findall(r"\b(?:TF|TSL|SE|SP|TP)_\w+", symbols)
    needed = subprocess.run(
        ["readelf", "--dynamic", plugin], check=True, capture_output=True, text=True
    ).stdout
    libraries = re.findall(r"NEEDED.*\[(.*)\]", needed)
    assert libraries and not [name for name in libraries if "tensorflow" in name], libraries


FORKED = """
import os, signal
import tensorflow as tf

with tf.device("/device:MYACCEL:0"):
    x = tf.ones([300, 300])

def add():
    # Nothing is copied: a copy of TensorFlow's waits for a thread that a child lacks. tf.add is another op in 2.5.
    with tf.device("/device:MYACCEL:0"):
        return tf.raw_ops.AddV2(x=x, y=x)

assert add().numpy().sum() == 180000.0
child = os.fork()
if child == 0:
    signal.alarm(60)
    try:
        add()
        print("computed", flush=True)
    except tf.errors.OpError as error:
        print(type(error).__name__, flush=True)
    os._exit(0)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert add().numpy().sum() == 180000.0
"""


def test_device_from_before_a_fork_is_an_error_in_the_child():
    done = alone(FORKED)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("Error"), done.stdout
