"""A plugin over OpenCL on several devices: each has a context of its own, whose events and memory the others cannot use.

pocl lists the processor twice if `POCL_DEVICES` does. Its name there is `pthread` up to pocl 3, and `cpu` later.
"""

import os
import pathlib
import subprocess
import sys

import pytest
from test_opencl import run

HAS_DEVICE = pathlib.Path(__file__).parents[1] / "has_device.py"


@pytest.fixture(scope="module")
def several():
    """The variables with which OpenCL has several devices."""
    for variables in ({}, {"POCL_DEVICES": "pthread pthread"}, {"POCL_DEVICES": "cpu cpu"}):
        command, environment = [sys.executable, HAS_DEVICE, "2"], {**os.environ, **variables}
        if subprocess.run(command, env=environment, timeout=60).returncode == 0:
            return variables
    pytest.skip("OpenCL has one device, and POCL_DEVICES adds none")


def test_devices_are_listed_and_used_by_name(several):
    program = """
names = [device.name for device in tf.config.list_physical_devices("CLPLUGIN")]
found = []
for name in ("/device:CLPLUGIN:1", "CLPLUGIN:1", "/device:CLPLUGIN:0"):
    with tf.device(name):
        y = tf.matmul(tf.ones((4, 3)), tf.ones((3, 5)))
        found.append([y.device[-10:], y.numpy().sum().item()])
print(json.dumps([names, found]))
"""
    (names, found), _ = run(program, **several)
    assert names[:2] == ["/physical_device:CLPLUGIN:0", "/physical_device:CLPLUGIN:1"]
    assert found == [["CLPLUGIN:1", 60.0], ["CLPLUGIN:1", 60.0], ["CLPLUGIN:0", 60.0]]


COPIES = """
SIZES = [(2, 2), (300, 300), (700, 700)]
def chain(first, second, x):
    with tf.device(first):
        a = tf.nn.relu(x) + 1.0
    with tf.device(second):
        b = tf.matmul(a, a) * 0.01
    with tf.device(first):
        return tf.reduce_sum(b * a, axis=0)
OWN = ["/device:CLPLUGIN:0", "/device:CLPLUGIN:1"]
function = tf.function(chain)
for size in SIZES:
    x = tf.constant(normal(*size))
    expected = chain("/CPU:0", "/CPU:0", x).numpy()
    for round in range(5):
        for execute in (chain, function):
            # Both directions are in progress at once.
            found = [execute(*devices, x) for devices in (OWN, OWN[::-1], OWN, OWN[::-1])]
            for it in found:
                assert "CLPLUGIN" in it.device, it.device
                np.testing.assert_allclose(it.numpy(), expected, rtol=1e-4, atol=1e-3)
print(json.dumps(None))
"""


def test_copies_between_devices_give_the_results_of_the_cpu(several):
    _, lines = run(COPIES, **several)
    assert not [line for line in lines if "failed" in line], lines


def test_variable_of_one_device_is_trained_with_gradients_of_another_one(several):
    program = """
def train(first, second):
    random = np.random.default_rng(3)
    x, y = random.normal(size=(32, 8)).astype("f"), random.normal(size=(32, 1)).astype("f")
    with tf.device(first):
        weight = tf.Variable(tf.zeros([8, 1]))
    losses = []
    for _ in range(10):
        with tf.device(second), tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.matmul(x, weight) - y) ** 2)
        slope = tape.gradient(loss, weight)
        with tf.device(first):
            weight.assign(weight - 0.1 * slope)
        losses.append(loss.numpy().item())
    return losses
print(json.dumps([train("/CPU:0", "/CPU:0"), train("/device:CLPLUGIN:0", "/device:CLPLUGIN:1")]))
"""
    (expected, found), _ = run(program, **several)
    assert found == pytest.approx(expected, rel=1e-4) and found[-1] < found[0]
