"""Asynchronous kernels, variables in device memory and reference variables of tests/examples/variables.rs."""

import json

import pytest

from conftest import RELEASE, example, run_program

HAS_VARIABLES = RELEASE <= (2, 18) or RELEASE >= (2, 22)

PREFACE = """
import json, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import load_library
load_library.load_pluggable_device_library(LIBRARY)
tf.config.set_soft_device_placement(False)
DEVICE = "/device:VARIABLES:0"

def error_of(function):
    try:
        function()
    except tf.errors.OpError as error:
        return f"{type(error).__name__}: {error.message}"
"""

ASYNCHRONOUS = PREFACE + """
x = tf.constant([1.0, 2.0])
answers = {}
for mode, wrap in ("eager", lambda it: it), ("function", tf.function):
    with tf.device(DEVICE):
        one = wrap(lambda: tf.raw_ops.Sigmoid(x=x))
        # The second half waits for the first: a kernel that never ends would hang.
        chain = wrap(lambda: [tf.raw_ops.Sigmoid(x=tf.raw_ops.Sigmoid(x=x)) for _ in range(8)])
        answers[mode] = {
            "one": one().numpy().tolist(),
            "chain": [it.numpy().tolist() for it in chain()],
            "panic": error_of(wrap(lambda: tf.raw_ops.Tanh(x=x))),
            "error": error_of(wrap(lambda: tf.raw_ops.Sin(x=x))),
            "unset": error_of(wrap(lambda: tf.raw_ops.Cos(x=x))),
            "after": one().numpy().tolist(),
        }
print(json.dumps(answers))
"""

DEVICE_VARIABLES = PREFACE + """
with tf.device(DEVICE):
    var, accum = tf.Variable([1.0, 2.0]), tf.Variable([10.0, 20.0])
    readers = [var.read_value(), accum.read_value()]
    step = lambda: tf.raw_ops.ResourceApplyAdagrad(
        var=var.handle, accum=accum.handle, lr=0.0, grad=tf.constant([1.0, 2.0])) and None
    step()
    tf.function(step)()
print(json.dumps([it.numpy().tolist() for it in [var, accum] + readers]))
"""

REFERENCES = PREFACE + """
tf.compat.v1.disable_eager_execution()
with tf.device(DEVICE):
    variable = tf.raw_ops.VariableV2(shape=[2], dtype=tf.float32)
    value = tf.compat.v1.placeholder(tf.float32, [2])
    assign = tf.raw_ops.Assign(ref=variable, value=value)
    add = tf.raw_ops.AssignAdd(ref=variable, value=value)
config = tf.compat.v1.ConfigProto(allow_soft_placement=False)
with tf.compat.v1.Session(config=config) as session:
    values = [session.run(op, {value: [3.0, 4.0]}).tolist() for op in (assign, add, add)]
    values.append(session.run(variable).tolist())
print(json.dumps(values))
"""


def answer(program):
    run = run_program(program, LIBRARY=example("variables"))
    if "visible_device_list" in run.stderr:
        pytest.skip("this release supports one plugin only, and another is installed")
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


def test_asynchronous_kernels_end_once_on_every_path():
    # From 2.22 on the kernel runs on a thread of the SDK, before on TensorFlow's.
    expected = [1.0, 1.0] if RELEASE >= (2, 22) else [0.0, 0.0]
    for mode, found in answer(ASYNCHRONOUS).items():
        assert found["one"] == found["after"] == expected, mode
        assert found["chain"] == [expected] * 8, mode
        assert found["panic"].startswith("InternalError") and "panic" in found["panic"], mode
        assert found["error"].startswith("UnimplementedError") and "expected" in found["error"], mode
        assert "has not set output 0" in found["unset"], mode


@pytest.mark.skipif(not HAS_VARIABLES, reason="core exports no function of variables from 2.19 to 2.21")
def test_variables_in_device_memory_are_copied_for_readers():
    assert answer(DEVICE_VARIABLES) == [[24.0, 48.0], [12.0, 24.0], [1.0, 2.0], [10.0, 20.0]]


@pytest.mark.skipif(not HAS_VARIABLES or RELEASE < (2, 10), reason="core exports TF_AssignRefVariable from 2.10 to 2.18 and from 2.22")
def test_reference_variables_are_assigned_and_changed_in_place():
    assert answer(REFERENCES) == [[3.0, 4.0], [6.0, 8.0], [9.0, 12.0], [9.0, 12.0]]
