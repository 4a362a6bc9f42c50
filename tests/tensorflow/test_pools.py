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
def test_average_pool_and_gradient(calls, graph):
    for seed in seeds():
        x, attributes = pool_case(seed, False)
        about = f"seed {seed}: {x.dtype} {x.shape} {attributes}"
        assert_same_outcome("AvgPool", calls, lambda **data: R.AvgPool(**data, **attributes), 1e-6, about, graph, value=x)
        with tf.device("/CPU:0"):
            y = R.AvgPool(value=x, **attributes).numpy()
        run = lambda **data: R.AvgPoolGrad(**data, **attributes)
        assert_same_outcome("AvgPoolGrad", calls, run, 1e-6, about, graph, orig_input_shape=np.array(x.shape, np.int32), grad=np.flip(y))


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
