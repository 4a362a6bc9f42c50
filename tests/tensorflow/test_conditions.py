"""Conditions of loops and branches: logical ops that the host reads run in its memory."""

import numpy as np
import pytest
import tensorflow as tf

from conftest import RELEASE
from test_fusion import run_with_nodes

pytestmark = pytest.mark.skipif(RELEASE < (2, 11), reason="kernels have no labels")


def labels(function, *values):
    """Traces and runs a function on the device; returns its result and the label of each logical node on the device."""
    (result,), nodes = run_with_nodes(function, *values)
    logical = [node for node in nodes if node.op.startswith("Logical")]
    return result, sorted(node.attr["_kernel"].s.decode() for node in logical)


def test_condition_of_loop(calls):
    def double_while_small(x):
        def goes_on(i, x):
            return tf.logical_and(i < 5, tf.logical_or(i < 2, tf.logical_not(tf.logical_and(i > 3, i < 7))))

        return tf.while_loop(goes_on, lambda i, x: (i + 1, x + x), (0, x))[1]

    before = calls()["LogicalAnd"]
    result, found = labels(double_while_small, np.float32([1, 2]))
    assert found == ["host"] * len(found) and len(found) >= 3
    assert calls()["LogicalAnd"] > before
    np.testing.assert_array_equal(result, [16, 32])


def test_condition_that_reads_a_tensor_of_the_device():
    def double_until_large(x):
        def goes_on(i, x):
            return tf.logical_and(i < 9, tf.reduce_all(x < 10.0))

        return tf.while_loop(goes_on, lambda i, x: (i + 1, x + x), (0, x))[1]

    result, found = labels(double_until_large, np.float32([1, 2]))
    assert found == ["host"]
    np.testing.assert_array_equal(result, [8, 16])


def choose(condition):
    """Returns a function that adds 1 if a condition of two positions holds, and else subtracts 1."""

    def chosen(i, x):
        both = tf.logical_and(*condition(i, x))
        return tf.cond(both, lambda: x + 1.0, lambda: x - 1.0)

    return chosen


def test_condition_of_branch():
    by_positions = choose(lambda i, x: (i > 1, i < 4))
    for i, expected in ((0, [0, 1]), (2, [2, 3])):
        result, found = labels(by_positions, np.int32(i), np.float32([1, 2]))
        assert found == ["host"]
        np.testing.assert_array_equal(result, expected)


def test_condition_of_two_tensors_of_the_device_is_copied_once():
    by_values = choose(lambda i, x: (tf.reduce_sum(x) > 1.0, tf.reduce_max(x) < 4.0))
    result, found = labels(by_values, np.int32(0), np.float32([1, 2]))
    assert found == [""]
    np.testing.assert_array_equal(result, [2, 3])


def test_values_are_on_the_device():
    def mask(x):
        return tf.cast(tf.logical_and(x > 1.0, tf.logical_or(x < 2.0, x > 3.0)), tf.float32)

    result, found = labels(mask, np.float32([1, 1.5, 2.5, 4]))
    assert found == [""] * 2
    np.testing.assert_array_equal(result, [0, 1, 0, 1])
