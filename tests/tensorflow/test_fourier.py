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


@pytest.mark.parametrize("shape", [(3, 0), (0, 4), (0,), (0, 0)])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
@pytest.mark.parametrize("graph", [False, True])
def test_transforms_of_empty_signals_have_shape_of_cpu(name, shape, graph):
    """The length of a dimension of 0 is 0, and so is the number of its frequencies."""
    dtype = tf.float32 if name == "rfft" else tf.complex64
    shapes = []
    for device in "/CPU:0", DEVICE:
        with tf.device(device):
            function = getattr(tf.signal, name)
            shapes.append((tf.function(function) if graph else function)(tf.zeros(shape, dtype)).numpy().shape)
    assert shapes[0] == shapes[1]


def test_length_of_0_of_signal_with_elements_has_empty_result():
    """TensorFlow's kernel on the CPU ends the process."""
    with tf.device(DEVICE):
        assert tf.raw_ops.RFFT(input=tf.zeros([3, 4]), fft_length=[0]).shape == (3, 0)
        assert tf.raw_ops.IRFFT(input=tf.zeros([3, 4], tf.complex64), fft_length=[0]).shape == (3, 0)
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be >= 0"):
            tf.raw_ops.RFFT(input=tf.zeros([3, 4]), fft_length=[-1])
