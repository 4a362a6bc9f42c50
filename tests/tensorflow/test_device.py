"""The device: listed, holds tensors, copies them unchanged, and rejects calls in a forked child."""

import re
import subprocess

import numpy as np
import tensorflow as tf

from conftest import RELEASE, run_program


def test_tensorflow_lists_device():
    (device,) = tf.config.list_physical_devices("MYACCEL")
    assert device.name == "/physical_device:MYACCEL:0"


def test_device_is_preferred_to_cpu():
    assert "MYACCEL" in tf.matmul(tf.ones([2, 2]), tf.ones([2, 2])).device


def test_tensors_are_unchanged_after_copy_to_device_and_back():
    for shape in [(), (0,), (1,), (3, 0, 2), (1023,), (257, 129)]:
        value = np.random.default_rng(1).normal(size=shape).astype(np.float32)
        with tf.device("/device:MYACCEL:0"):
            copy = tf.identity(tf.constant(value))
        assert "MYACCEL" in copy.device
        np.testing.assert_array_equal(copy.numpy(), value)


def test_function_with_parallel_ops_gives_right_sum():
    # In 2.6 and 2.7 a function accepts no argument on a plugin's device, unless its type is GPU.
    with tf.device("/CPU:0" if RELEASE in [(2, 6), (2, 7)] else "/device:MYACCEL:0"):
        x = tf.constant(np.arange(4096, dtype=np.float32))
    with tf.device("/device:MYACCEL:0"):

        @tf.function
        def sum_of_products(x):
            return tf.add_n([tf.reduce_sum(x * float(i)) for i in range(32)])

        expected = float(sum(range(32))) * 4095 * 4096 / 2
        for _ in range(20):
            assert abs(float(sum_of_products(x)) / expected - 1) < 1e-5


def test_library_has_no_undefined_symbols_of_tensorflow(plugin):
    symbols = subprocess.run(
        ["nm", "--dynamic", "--undefined-only", plugin], check=True, capture_output=True, text=True
    ).stdout
    assert not re.findall(r"\b(?:TF|TSL|SE|SP|TP)_\w+", symbols)
    needed = subprocess.run(
        ["readelf", "--dynamic", plugin], check=True, capture_output=True, text=True
    ).stdout
    libraries = re.findall(r"NEEDED.*\[(.*)\]", needed)
    assert libraries and not [name for name in libraries if "tensorflow" in name], libraries


FORK_PROGRAM = """
import os, signal
import tensorflow as tf

with tf.device("/device:MYACCEL:0"):
    x = tf.ones([300, 300])

def add():
    # The raw op copies no tensor: TensorFlow's copy waits for a thread that the child lacks. tf.add is another op in 2.5.
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


def test_op_in_forked_child_raises_error():
    process = run_program(FORK_PROGRAM)
    assert process.returncode == 0, process.stderr
    assert process.stdout.strip().endswith("Error"), process.stdout
