"""Bits of integers, special functions, limits and norms, beside TensorFlow's kernels on the CPU."""

import numpy as np
import pytest
import tensorflow as tf

from conftest import RELEASE
from outcomes import assert_same_outcome, FLOATS, R

pytestmark = pytest.mark.usefixtures("hard_placement")

INTEGERS = [np.uint8, np.int8, np.int32, np.int64]
GRAPH = pytest.mark.parametrize("graph", [False, True])


@GRAPH
@pytest.mark.parametrize("op", ["BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_functions_of_bits(calls, op, dtype, graph):
    x = np.random.default_rng(0).integers(0, 250, (70, 1)).astype(dtype)
    y = np.array([0, 1, 3, 7, 31, 63, 100], np.int64).astype(dtype)
    if dtype != np.uint8:
        x, y = x - 100, np.append(y, dtype(-1))
    assert_same_outcome(op, calls, lambda **data: getattr(R, op)(**data), 0, op, graph, x=x, y=y)


@GRAPH
def test_inverted_bits(calls, graph):
    for dtype in INTEGERS:
        x = np.array([0, 1, 200, 7]).astype(dtype)
        assert_same_outcome("Invert", calls, lambda x: R.Invert(x=x), 0, str(dtype), graph, x=x)


RANGES = {
    "Acosh": (1, 1e4, 1e-6), "Asinh": (-1e4, 1e4, 1e-6), "Atanh": (-0.999, 0.999, 1e-6), "Digamma": (-9.7, 30, 3e-5),
    "Erfinv": (-0.999, 0.999, 1e-5), "Lgamma": (-9.7, 90, 3e-6), "Ndtri": (0.0005, 0.9995, 1e-5),
}  # fmt: skip


@GRAPH
@pytest.mark.parametrize("op", sorted(RANGES))
def test_special_function(calls, op, graph):
    low, high, tolerance = RANGES[op]
    for dtype in FLOATS:
        # No element is a pole of the gamma function.
        x = np.linspace(low, high, 1013).astype(dtype)
        tolerance = tolerance if dtype == np.float32 else 1e-9
        assert_same_outcome(op, calls, lambda x: getattr(R, op)(x=x), tolerance, f"{op} {dtype}", graph, x=x)


# The CPU's digamma of 0 is NaN, and from 2.22 on negative infinity; the plugin's is NaN. Up to 2.12 the CPU's inverse functions have
# infinity outside of their domain, and the plugin's NaN.
NAN_AT_0 = [0] if RELEASE < (2, 22) else []
OUTSIDE = RELEASE >= (2, 13)


@pytest.mark.parametrize("op, x", [
    ("Acosh", [1, np.inf, np.nan, 0.5]), ("Asinh", [0, np.inf, -np.inf, np.nan]), ("Atanh", [1, -1, 2, np.nan]), ("Digamma", [-1, -5, np.inf, -np.inf, np.nan, *NAN_AT_0]),
    ("Lgamma", [0, -1, 1, 2, np.inf, -np.inf, np.nan]), ("Erfinv", [1, -1, 0, np.nan, *[1.5] * OUTSIDE]), ("Ndtri", [0, 1, 0.5, np.nan, *[-1, 2] * OUTSIDE]),
])  # fmt: skip
def test_special_function_of_special_values(calls, op, x):
    assert_same_outcome(op, calls, lambda x: getattr(R, op)(x=x), 1e-6, op, x=np.array(x, np.float32))


@GRAPH
def test_angle_and_next_number(calls, graph):
    special = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 3.5])
    for dtype in FLOATS:
        x, y = special.astype(dtype)[:, None], special.astype(dtype)
        assert_same_outcome("Atan2", calls, lambda **data: R.Atan2(**data), 1e-6, str(dtype), graph, y=x, x=y)
        assert_same_outcome("NextAfter", calls, lambda **data: R.NextAfter(**data), 0, str(dtype), graph, x1=x, x2=y)


@GRAPH
def test_limits(calls, graph):
    for dtype in [*FLOATS, np.int64, tf.half.as_numpy_dtype]:
        x = np.random.default_rng(0).normal(scale=5, size=(40, 7)).astype(dtype)
        for low, high in [(-2, 3), (3, -2), (np.sort(x, 0), 3), (-2, np.sort(x, 1)), (np.sort(x, 0), np.sort(x, 1)), ([-2], 3), (np.zeros(7), 3)]:
            data = dict(clip_value_min=np.array(low, dtype), clip_value_max=np.array(high, dtype))
            assert_same_outcome("ClipByValue", calls, lambda **data: R.ClipByValue(**data), 0, f"{dtype}", graph, t=x, **data)
    x = np.array([1, 2, 3, np.nan], np.float32)
    for low, high in [(np.nan, 2), (0, np.nan)]:
        data = dict(clip_value_min=np.float32(low), clip_value_max=np.float32(high))
        assert_same_outcome("ClipByValue", calls, lambda **data: R.ClipByValue(**data), 0, "nan", graph, t=x, **data)


@GRAPH
def test_cross_products(calls, graph):
    run = lambda a, b: R.Cross(a=a, b=b)
    for dtype in [*FLOATS, np.int64]:
        a, b = (np.random.default_rng(seed).normal(scale=9, size=(5, 4, 3)).astype(dtype) for seed in (1, 2))
        assert_same_outcome("Cross", calls, run, 1e-6, str(dtype), graph, a=a, b=b)
    for a, b in [((2, 4), (2, 4)), ((2, 3), (3,)), ((), ()), ((0, 3), (0, 3)), ((0,), (0,))]:
        assert_same_outcome("Cross", calls, run, 0, f"{a} {b}", graph and a == (0, 3), a=np.ones(a), b=np.ones(b))


@GRAPH
def test_half_the_sum_of_squares(calls, graph):
    for shape in [(), (0,), (7,), (300, 301)]:
        for dtype in FLOATS:
            x = np.random.default_rng(0).normal(size=shape).astype(dtype)
            assert_same_outcome("L2Loss", calls, lambda t: R.L2Loss(t=t), 1e-5, str(shape), graph, t=x)


@pytest.mark.parametrize("dtype", [tf.half, tf.bfloat16], ids=lambda it: it.name)
def test_16_bit_floats_are_computed_in_float32(calls, dtype):
    x = np.random.default_rng(0).uniform(0.1, 0.9, 50).astype(dtype.as_numpy_dtype)
    for op in sorted(RANGES):
        before, wide = calls()[op], (x.astype(np.float32) + (1 if op == "Acosh" else 0)).astype(dtype.as_numpy_dtype)
        with tf.device("/CPU:0"):
            expected = tf.cast(getattr(R, op)(x=wide.astype(np.float32)), dtype).numpy().astype(np.float32)
        with tf.device("/device:MYACCEL:0"):
            found = getattr(R, op)(x=tf.constant(wide)).numpy().astype(np.float32)
        np.testing.assert_allclose(found, expected, rtol=2e-2, atol=1e-2)
        assert calls()[op] == before + 1
