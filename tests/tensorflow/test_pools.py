"""Pools and their gradients compared with TensorFlow's on the CPU: random shapes and attributes, and wrong ones."""

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE
from outcomes import assert_same_outcome, FLOATS, INVALID, outcome, R, seeds, UNIMPLEMENTED

pytestmark = pytest.mark.usefixtures("hard_placement")


def pool_case(seed, with_explicit):
    random = np.random.default_rng(seed)
    size, strides = [int(it) for it in random.integers(1, 4, size=2)], [int(it) for it in random.integers(1, 4, size=2)]
    dims = [int(random.integers(1, 3)), size[0] + int(random.integers(0, 7)), size[1] + int(random.integers(0, 7)), int(random.integers(1, 40))]
    attributes = dict(ksize=[1, *size, 1], strides=[1, *strides, 1], padding=["SAME", "VALID"][random.integers(0, 2)])
    return random.normal(size=dims).astype(FLOATS[random.integers(0, 2)]), attributes


@pytest.mark.parametrize("graph", [False, True])
def test_max_pool_and_gradient(calls, graph):
    for seed in seeds():
        x, attributes = pool_case(seed, True)
        about = f"seed {seed}: {x.dtype} {x.shape} {attributes}"
        assert_same_outcome("MaxPool", calls, lambda **data: R.MaxPool(**data, **attributes), 0, about, graph, input=x)
        with tf.device("/CPU:0"):
            y = R.MaxPool(input=tf.constant(x), **attributes).numpy()
        run = lambda **data: R.MaxPoolGrad(**data, **attributes)
        assert_same_outcome("MaxPoolGrad", calls, run, 1e-6, about, graph, orig_input=x, orig_output=y, grad=np.flip(y))


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32, np.uint8])
@pytest.mark.parametrize("shape, size", [((2, 3, 4, 6), 2), ((2, 3, 4, 6), 6), ((1, 1, 1, 15), 3), ((0, 2, 2, 4), 2), ((2, 2, 2, 0), 2)])
def test_max_pool_over_channels(calls, shape, size, dtype, graph):
    x = np.random.default_rng(0).integers(0, 100, shape).astype(dtype)
    # As on the CPU, the strides of rows and columns have no effect.
    attributes = dict(ksize=[1, 1, 1, size], strides=[1, 2, 1, size], padding="VALID")
    assert_same_outcome("MaxPool", calls, lambda **data: R.MaxPool(**data, **attributes), 0, str(shape), graph, input=x)
    if dtype != np.uint8 and dtype != np.int32:
        assert_same_outcome("MaxPoolV2", calls, lambda **data: R.MaxPoolV2(**data, **attributes), 0, str(shape), graph, input=x)


def test_max_pool_over_channels_that_are_first(in_plugin):
    """The CPU has no kernel of it."""
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 6)).astype(np.float32)
    with in_plugin("MaxPool"):
        first = np.moveaxis(x, 3, 1)
        found = R.MaxPool(input=first, ksize=[1, 2, 1, 1], strides=[1, 2, 1, 1], padding="VALID", data_format="NCHW")
    np.testing.assert_array_equal(np.moveaxis(found.numpy(), 1, 3), x.reshape(2, 3, 4, 3, 2).max(-1))


OVER_CHANNELS = [
    (dict(ksize=[1, 1, 1, 2], strides=[1, 1, 1, 1]), "depth window to equal the depth stride"),
    (dict(ksize=[1, 1, 1, 4], strides=[1, 1, 1, 4]), "evenly divide the input depth"),
    (dict(ksize=[1, 2, 1, 2], strides=[1, 1, 1, 2]), "exactly one of pooling across depth or pooling across width/height"),
    (dict(ksize=[2, 1, 1, 1], strides=[2, 1, 1, 1]), "not yet supported on the batch dimension"),
]


@pytest.mark.parametrize("attributes, message", OVER_CHANNELS)
@pytest.mark.parametrize("device", ["/CPU:0", DEVICE])
def test_windows_over_channels_that_no_device_has_are_errors(device, attributes, message):
    x = tf.zeros([2, 3, 4, 6])
    with tf.device(device), pytest.raises(UNIMPLEMENTED, match=message):
        R.MaxPool(input=x, padding="VALID", **attributes)


@pytest.mark.parametrize("device", ["/CPU:0", DEVICE])
def test_gradient_of_windows_over_channels_is_an_error(device):
    x = tf.zeros([2, 3, 4, 6])
    with tf.device(device), pytest.raises(UNIMPLEMENTED, match="MaxPoolingGrad is not yet supported on the depth dimension"):
        R.MaxPoolGrad(orig_input=x, orig_output=x[..., :3], grad=x[..., :3], ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding="VALID")


@pytest.mark.parametrize("graph", [False, True])
def test_average_pool_and_gradient(calls, graph):
    for seed in seeds():
        x, attributes = pool_case(seed, False)
        about = f"seed {seed}: {x.dtype} {x.shape} {attributes}"
        assert_same_outcome("AvgPool", calls, lambda **data: R.AvgPool(**data, **attributes), 1e-6, about, graph, value=x)
        with tf.device("/CPU:0"):
            y = R.AvgPool(value=x, **attributes).numpy()
        run = lambda **data: R.AvgPoolGrad(**data, **attributes)
        assert_same_outcome("AvgPoolGrad", calls, run, 1e-6, about, graph, orig_input_shape=np.array(x.shape, np.int32), grad=np.flip(y))


@pytest.mark.parametrize("op,argument", [("AvgPool", "value"), ("MaxPool", "input")])
def test_stride_of_channels_has_no_effect(on_both, op, argument):
    attributes = dict(ksize=[1, 2, 2, 1], strides=[1, 1, 2, 3], padding="VALID")
    x = np.random.default_rng(6).normal(size=[2, 5, 6, 4]).astype("float32")
    expected, found = on_both(op, lambda x: getattr(R, op)(**{argument: x}, **attributes), x)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("op,argument", [("AvgPool", "value"), ("MaxPool", "input")])
def test_negative_window_of_channels_is_invalid(op, argument):
    with tf.device(f"/device:{DEVICE}:0"), pytest.raises(tf.errors.InvalidArgumentError, match="must be above 0"):
        getattr(R, op)(**{argument: tf.ones([1, 4, 4, 2])}, ksize=[1, 2, 2, -1], strides=[1, 1, 1, 1], padding="SAME")


def test_first_of_equal_elements_has_the_gradient(calls):
    x, attributes = np.ones((1, 4, 4, 2), np.float32), dict(ksize=[1, 3, 3, 1], strides=[1, 1, 1, 1], padding="SAME")
    run = lambda: R.MaxPoolGrad(orig_input=x, orig_output=x, grad=x, **attributes)
    assert_same_outcome("MaxPoolGrad", calls, run, 0)


POOLS = [
    (dict(x=(1, 4, 4)), INVALID), (dict(ksize=[1, 2, 2]), INVALID), (dict(ksize=[2, 2, 2, 1]), UNIMPLEMENTED), (dict(ksize=[1, 0, 2, 1]), INVALID), (dict(ksize=[1, -1, 2, 1]), INVALID),
    (dict(strides=[1, 0, 1, 1]), INVALID), (dict(strides=[1, 1, 1]), INVALID), (dict(strides=[2, 1, 1, 1]), UNIMPLEMENTED), (dict(x=(1, 1, 1, 2), ksize=[1, 3, 3, 1]), INVALID),
    (dict(x=(0, 4, 4, 2)), (0, 3, 3, 2)), (dict(x=(1, 4, 4, 0)), (1, 3, 3, 0)), (dict(x=(1, 0, 4, 2), padding="SAME"), (1, 0, 4, 2)),
]


@pytest.mark.parametrize("op", ["MaxPool", "AvgPool"])
@pytest.mark.parametrize("case", range(len(POOLS)))
def test_pools_of_odd_shapes(op, case):
    wrong, expected = POOLS[case]
    attributes = {**dict(ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="VALID"), **wrong}
    x = np.ones(attributes.pop("x", (1, 4, 4, 2)), np.float32)
    found = outcome(lambda: getattr(R, op)(**{"input" if op == "MaxPool" else "value": x}, **attributes), f"/device:{DEVICE}:0")
    if isinstance(expected, tuple):
        assert found[0].shape == expected
    else:
        assert type(found) is expected, repr(found)
