"""Fourier transforms of empty tensors and of lengths that the input is too short for, compared with TensorFlow's on the CPU."""

import pytest
import tensorflow as tf

from conftest import DEVICE

pytestmark = pytest.mark.usefixtures("hard_placement")

SHAPES = [(0, 1, 1), (2, 0, 1), (1, 0, 0), (2, 1, 0), (0, 2, 1), (1, 2, 1), (1, 1, 1)]


def outcome(op, dtype, shape, device):
    """Returns the result, or the class of the error."""
    try:
        with tf.device(device):
            return op(input=tf.zeros(shape, dtype), fft_length=[2, 1]).numpy()
    except tf.errors.OpError as error:
        return type(error)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("op, dtype", [(tf.raw_ops.RFFT2D, tf.float32), (tf.raw_ops.IRFFT2D, tf.complex64)])
def test_empty_tensors_and_short_axes_have_result_or_error_of_cpu(op, dtype, shape):
    expected, found = [outcome(op, dtype, shape, device) for device in ("/CPU:0", DEVICE)]
    if isinstance(expected, type) or isinstance(found, type):
        assert found is expected
    else:
        # The CPU's result of an empty tensor is uninitialized memory.
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert not found.any()
