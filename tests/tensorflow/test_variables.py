"""Variables on the device, with core's kernels or, in releases whose core has none, the plugin's."""

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE, RELEASE

# True if the plugin's kernel runs. 2.19 to 2.21 export no function that updates a variable; core's kernel runs there.
UPDATES = RELEASE <= (2, 18) or RELEASE >= (2, 22)
HAS_OWN_KERNEL = {"AssignVariableOp": RELEASE <= (2, 10), "AssignAddVariableOp": UPDATES, "AssignSubVariableOp": UPDATES}

pytestmark = pytest.mark.skipif(RELEASE < (2, 6), reason="2.5 exports no function that assigns a variable")


@pytest.fixture
def variable():
    with tf.device(f"/device:{DEVICE}:0"):
        return tf.Variable(tf.range(6, dtype=tf.float32))


def check(variable, expected):
    assert DEVICE in variable.device
    np.testing.assert_array_equal(variable.numpy(), np.asarray(expected, np.float32))


def test_assign_add_and_sub_change_variable(variable, calls):
    before = calls()
    with tf.device(f"/device:{DEVICE}:0"):
        variable.assign(tf.ones([6]))
        variable.assign_add(tf.range(6, dtype=tf.float32))
        check(variable, [1, 2, 3, 4, 5, 6])
        variable.assign_sub(tf.fill([6], 0.5))
    check(variable, [0.5, 1.5, 2.5, 3.5, 4.5, 5.5])
    for op, has_own_kernel in HAS_OWN_KERNEL.items():
        ran = calls().get(op, 0) - before.get(op, 0)
        assert ran == (1 if has_own_kernel else 0), op


def test_value_read_before_is_unchanged(variable):
    first = variable.read_value()
    variable.assign_add(tf.ones([6]))
    second = variable.read_value()
    variable.assign(tf.zeros([6]))
    np.testing.assert_array_equal(first.numpy(), np.arange(6))
    np.testing.assert_array_equal(second.numpy(), np.arange(6) + 1)


def test_rejects_value_of_another_shape(variable):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        variable.assign_add(tf.ones([5]))
    check(variable, range(6))


def test_assigns_integers_and_booleans():
    with tf.device(f"/device:{DEVICE}:0"):
        steps, flags = tf.Variable(np.int64(2**40)), tf.Variable([True, False, True])
        steps.assign_add(1)
        flags.assign([False, False, True])
    assert steps.numpy() == 2**40 + 1
    np.testing.assert_array_equal(flags.numpy(), [False, False, True])


@pytest.mark.skipif(RELEASE > (2, 18), reason="core exports no function for it from 2.19 on")
def test_gradient_descent_step_changes_variable(variable, calls):
    before = calls().get("ResourceApplyGradientDescent", 0)
    with tf.device(f"/device:{DEVICE}:0"):
        tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=0.5, delta=tf.ones([6]))
    check(variable, np.arange(6) - 0.5)
    assert calls()["ResourceApplyGradientDescent"] == before + 1


@pytest.mark.skipif(RELEASE < (2, 11), reason="before 2.11 not all types can be assigned")
@pytest.mark.parametrize(
    "dtype",
    ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
    + ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"],
)
def test_numbers_of_each_type_are_added_and_subtracted(dtype):
    with tf.device(f"/device:{DEVICE}:0"):
        variable = tf.Variable(tf.cast([5, 6, 7], dtype))
        variable.assign_add(tf.cast([3, 2, 1], dtype))
        variable.assign_sub(tf.cast([1, 2, 3], dtype))
    # TensorFlow has variables of int32 on the CPU.
    assert DEVICE in variable.device or dtype == "int32"
    np.testing.assert_array_equal(tf.cast(variable, tf.complex128), [7, 6, 5])
