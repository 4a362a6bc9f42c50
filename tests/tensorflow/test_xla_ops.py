"""Ops of XLA in graphs that are not compiled."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

from conftest import DEVICE

pytestmark = pytest.mark.usefixtures("hard_placement")
TENSOR, UPDATE = np.arange(20.0).reshape(4, 5), -np.ones((2, 3))


def clamped(begin, size):
    return [int(np.clip(it, 0, dim - of_slice)) for it, dim, of_slice in zip(begin, TENSOR.shape, size, strict=True)]


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64, np.bool_, np.complex64, np.float16])
@pytest.mark.parametrize("begin", [[1, 2], [-7, 3], [3, 4], [0, 0]])
def test_slice_is_moved_into_the_tensor(calls, begin, dtype):
    before = calls().get("XlaDynamicUpdateSlice", 0)
    with tf.device(f"{DEVICE}:0"):
        found = gen_xla_ops.xla_dynamic_update_slice(input=TENSOR.astype(dtype), update=UPDATE.astype(dtype), indices=begin)
        read = gen_xla_ops.xla_dynamic_slice(input=TENSOR.astype(dtype), start_indices=begin, size_indices=[2, 3])
    row, column = clamped(begin, UPDATE.shape)
    expected = TENSOR.astype(dtype)
    np.testing.assert_array_equal(read, expected[row : row + 2, column : column + 3])
    expected[row : row + 2, column : column + 3] = UPDATE.astype(dtype)
    np.testing.assert_array_equal(found, expected)
    assert calls()["XlaDynamicUpdateSlice"] == before + 1


@pytest.mark.parametrize("update, begin", [(UPDATE, [0]), (np.ones((5, 1)), [0, 0]), (np.ones(3), [0, 0]), (UPDATE, 1)])
def test_wrong_slices_are_errors(update, begin):
    with tf.device(f"{DEVICE}:0"), pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        gen_xla_ops.xla_dynamic_update_slice(input=TENSOR, update=update, indices=begin)


def test_gradient_of_slice_in_a_function_for_xla(calls):
    @tf.function(jit_compile=True)
    def gradient(x, begin):
        return tf.gradients(tf.slice(x, begin, [2, 2]) ** 2, x)[0]

    before = calls().get("XlaDynamicUpdateSlice", 0)
    with tf.device(f"{DEVICE}:0"):
        found = gradient(tf.constant(TENSOR), tf.constant([1, 2]))
    expected = np.zeros_like(TENSOR)
    expected[1:3, 2:4] = 2 * TENSOR[1:3, 2:4]
    np.testing.assert_array_equal(found, expected)
    assert calls()["XlaDynamicUpdateSlice"] == before + 1


def test_sharding_is_the_tensor():
    with tf.device(f"{DEVICE}:0"):
        np.testing.assert_array_equal(gen_xla_ops.xla_sharding(input=TENSOR), TENSOR)
