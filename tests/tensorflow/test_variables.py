"""Variables on the device: core's kernels where it has them, the plugin's on releases before."""

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE, RELEASE

# The last release whose core lacks a kernel that serves a plugin.
OWN_UNTIL = {"AssignVariableOp": (2, 10), "AssignAddVariableOp": (2, 14), "AssignSubVariableOp": (2, 14)}

pytestmark = pytest.mark.skipif(RELEASE < (2, 6), reason="2.5 gives a plugin no way to assign a variable")


@pytest.fixture
def variable():
    with tf.device(f"/device:{DEVICE}:0"):
        return tf.Variable(tf.range(6, dtype=tf.float32))


def check(variable, expected):
    assert DEVICE in variable.device
    np.testing.assert_array_equal(variable.numpy(), np.asarray(expected, np.float32))


def test_it_is_assigned_and_changed(variable, calls):
    before = calls()
    with tf.device(f"/device:{DEVICE}:0"):
        variable.assign(tf.ones([6]))
        variable.assign_add(tf.range(6, dtype=tf.float32))
        check(variable, [1, 2, 3, 4, 5, 6])
        variable.assign_sub(tf.fill([6], 0.5))
    check(variable, [0.5, 1.5, 2.5, 3.5, 4.5, 5.5])
    for op, last in OWN_UNTIL.items():
        ran = calls().get(op, 0) - before.get(op, 0)
        assert ran == (1 if RELEASE <= last else 0), op


def test_what_was_read_stays_as_it_was(variable):
    read = variable.read_value()
    variable.assign_add(tf.ones([6]))
    again = variable.read_value()
    variable.assign(tf.zeros([6]))
    np.testing.assert_array_equal(read.numpy(), np.arange(6))
    np.testing.assert_array_equal(again.numpy(), np.arange(6) + 1)


def test_other_shapes_are_refused(variable):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        variable.assign_add(tf.ones([5]))
    check(variable, range(6))


def test_integers_and_booleans():
    with tf.device(f"/device:{DEVICE}:0"):
        steps, flags = tf.Variable(np.int64(2**40)), tf.Variable([True, False, True])
        steps.assign_add(1)
        flags.assign([False, False, True])
    assert steps.numpy() == 2**40 + 1
    np.testing.assert_array_equal(flags.numpy(), [False, False, True])


@pytest.mark.skipif(RELEASE > (2, 18), reason="core exports no means for it from 2.19 on")
def test_a_step_of_gradient_descent(variable, calls):
    before = calls().get("ResourceApplyGradientDescent", 0)
    with tf.device(f"/device:{DEVICE}:0"):
        tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=0.5, delta=tf.ones([6]))
    check(variable, np.arange(6) - 0.5)
    assert calls()["ResourceApplyGradientDescent"] == before + 1
