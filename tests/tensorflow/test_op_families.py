"""Relations, truth values, divisions, folds, segments and running totals, compared with TensorFlow's kernels on the CPU."""

import numpy as np
import pytest
import tensorflow as tf

RAW_OPS = tf.raw_ops
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 5.5, -7.0, 7.0, np.inf, -np.inf, np.nan], np.float32)
PAIRS = [((), ()), ((5,), ()), ((4, 1), (1, 3)), ((0, 3), (3,)), ((2, 3, 4, 1, 2), (3, 1, 5, 1)), ((512, 129), (512, 129))]


def normal(shape, dtype=np.float32, seed=3):
    return np.asarray(np.random.default_rng(seed).normal(scale=3, size=shape)).astype(dtype)


def assert_same(pair, rtol=0.0):
    expected, found = (np.asarray(it) for it in pair)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    if found.dtype.kind in "fV":
        np.testing.assert_allclose(found.astype(np.float64), expected.astype(np.float64), rtol=rtol)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("op", ["Equal", "NotEqual", "Greater", "LessEqual"])
def test_comparison(on_both, op):
    run = lambda x, y: getattr(RAW_OPS, op)(x=x, y=y)
    for x, y in PAIRS:
        assert_same(on_both(op, run, normal(x).round(), normal(y, seed=4).round()))
    assert_same(on_both(op, run, SPECIAL[:, None], SPECIAL))
    assert_same(on_both(op, run, SPECIAL[:, None].astype(np.float16), SPECIAL.astype(np.float16)))
    assert_same(on_both(op, run, np.array([1, 2**40], np.int64), np.array([1, 2**40 + 1], np.int64)))


@pytest.mark.parametrize("op,expected", [("Equal", False), ("NotEqual", True)])
def test_equality_of_shapes_that_do_not_broadcast(in_plugin, op, expected):
    run = lambda **kwargs: getattr(RAW_OPS, op)(x=tf.zeros([2]), y=tf.zeros([3]), **kwargs)
    with in_plugin(op):
        found = run(incompatible_shape_error=False)
    assert (found.shape, found.numpy()) == ((), expected)
    with in_plugin(op), pytest.raises(tf.errors.InvalidArgumentError):
        run()


@pytest.mark.parametrize("op", ["Equal", "NotEqual", "LogicalAnd", "LogicalOr"])
def test_operator_of_truth_values(on_both, op):
    x, y = np.array([True, False])[:, None], np.array([True, False, True])
    assert_same(on_both(op, lambda x, y: getattr(RAW_OPS, op)(x=x, y=y), x, y))


def test_logical_not(on_both):
    assert_same(on_both("LogicalNot", lambda x: RAW_OPS.LogicalNot(x=x), np.array([[True, False]] * 70)))


@pytest.mark.parametrize("op", ["IsFinite", "IsInf", "IsNan"])
def test_property(on_both, op):
    for dtype in (np.float32, np.float64, np.float16, tf.bfloat16.as_numpy_dtype):
        assert_same(on_both(op, lambda x: getattr(RAW_OPS, op)(x=x), np.tile(SPECIAL, 20).astype(dtype)))


DIVISIONS = ["Div", "FloorDiv", "FloorMod", "Mod", "TruncateMod", "TruncateDiv"]


@pytest.mark.parametrize("op", DIVISIONS)
def test_division(on_both, op):
    run = lambda x, y: getattr(RAW_OPS, op)(x=x, y=y)
    for x, y in PAIRS:
        assert_same(on_both(op, run, normal(x), normal(y, seed=4)))
    assert_same(on_both(op, run, SPECIAL[:, None], SPECIAL))
    x = np.array([7, -7, 7, -7, -(2**63), 0], np.int64)
    assert_same(on_both(op, run, x, np.array([2, 2, -2, -2, -1, 5], np.int64)))


@pytest.mark.parametrize("op", DIVISIONS)
def test_integer_division_by_zero_is_an_error(in_plugin, op):
    with in_plugin(op), pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
        getattr(RAW_OPS, op)(x=np.array([1, 2], np.int64), y=np.array([1, 0], np.int64))


@pytest.mark.parametrize("op,y", [(op, 0) for op in DIVISIONS] + [("Pow", -1)])
def test_shapes_are_compared_before_the_values_are_checked(on_both, in_plugin, op, y):
    run = lambda x, y: getattr(RAW_OPS, op)(x=x, y=y)
    with in_plugin(op), pytest.raises(tf.errors.InvalidArgumentError, match="do not broadcast"):
        run(np.array([1, 2], np.int64), np.array([1, y, 1], np.int64))
    assert_same(on_both(op, run, np.zeros([0, 1], np.int64), np.array([1, y], np.int64)))


@pytest.mark.parametrize("op", ["Max", "Min", "Prod"])
def test_fold(on_both, op):
    for shape, axes in [((7,), [0]), ((3, 40, 5), [1]), ((3, 40, 5), [0, -1]), ((0, 3), [0]), ((2, 3), []), ((300, 700), [0])]:
        for dtype in (np.float32, np.float64, np.int64):
            x = normal(shape, dtype) if op != "Prod" or dtype == np.int64 else 1 + normal(shape, dtype) / 100
            run = lambda x: getattr(RAW_OPS, op)(input=x, axis=axes, keep_dims=True)
            assert_same(on_both(op, run, x), rtol=2e-5 if op == "Prod" else 0)
    for values in (SPECIAL, SPECIAL[:-1], np.full([90], np.nan, np.float32)):
        assert_same(on_both(op, lambda x: getattr(RAW_OPS, op)(input=x, axis=[0]), values))


def test_product_of_int32(on_both):
    x = np.array([[2, 3, 4], [5, 6, -(2**30)]], np.int32)
    assert_same(on_both("Prod", lambda x: RAW_OPS.Prod(input=x, axis=[1]), x))


@pytest.mark.parametrize("op", ["All", "Any"])
def test_truth_of_axes(on_both, op):
    x = np.random.default_rng(0).integers(0, 5, (4, 3, 70)) > 0
    for axes in ([0], [1], [0, 2], []):
        assert_same(on_both(op, lambda x: getattr(RAW_OPS, op)(input=x, axis=axes), x))
    assert_same(on_both(op, lambda x: getattr(RAW_OPS, op)(input=x, axis=[0]), np.zeros([0, 2], bool)))


@pytest.mark.parametrize("op", ["Acos", "Asin", "Atan", "Cosh", "Sinh", "Tan"])
def test_trigonometric_function(on_both, op):
    x = np.linspace(-1, 1, 1001).astype(np.float32)
    for values in (x, x.astype(np.float64), SPECIAL):
        assert_same(on_both(op, lambda x: getattr(RAW_OPS, op)(x=x), values), rtol=1e-6)


def test_bitwise_and(on_both):
    for dtype in (np.int32, np.int64):
        x, y = np.arange(-40, 40, dtype=dtype)[:, None], np.array([0, -1, 12345], dtype)
        assert_same(on_both("BitwiseAnd", lambda x, y: RAW_OPS.BitwiseAnd(x=x, y=y), x, y))


def test_unsorted_segment_sum(on_both, in_plugin):
    run = lambda x, ids: RAW_OPS.UnsortedSegmentSum(data=x, segment_ids=ids, num_segments=5)
    for dtype in (np.float32, np.float64, np.int64):
        for ids in (np.array([3, -1, 0, 3], np.int32), np.array([[1, 4], [4, 1], [-7, 2], [0, 0]], np.int64)):
            assert_same(on_both("UnsortedSegmentSum", run, normal((4, 2, 6), dtype), ids), rtol=1e-6)
    assert_same(on_both("UnsortedSegmentSum", run, normal((0, 3)), np.zeros([0], np.int32)))
    with in_plugin("UnsortedSegmentSum"), pytest.raises(tf.errors.InvalidArgumentError, match=r"= 5 is out of range \[0, 5\)"):
        run(tf.ones([2, 3]), tf.constant([0, 5]))


@pytest.mark.parametrize("op", ["Cumsum", "Cumprod"])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_totals(on_both, op, exclusive, reverse):
    run = lambda axis: lambda x: getattr(RAW_OPS, op)(x=x, axis=axis, exclusive=exclusive, reverse=reverse)
    for axis in (0, -1):
        assert_same(on_both(op, run(axis), normal((5, 4, 30)) / 2), rtol=1e-4)
        assert_same(on_both(op, run(axis), normal((5, 0, 3), np.int64)))
    assert_same(on_both(op, run(1), normal((3, 40), np.int64)))


@pytest.mark.parametrize("op,y", [("SqrtGrad", 0.0), ("RsqrtGrad", np.inf), ("ReciprocalGrad", np.inf), ("InvGrad", np.nan)])
def test_gradient_of_zero_is_zero_for_infinite_slopes(on_both, op, y):
    for count in (1, 17):
        dy = np.array([0.0, -0.0] * count, np.float32)
        assert_same(on_both(op, lambda y, dy: getattr(RAW_OPS, op)(y=y, dy=dy), np.full(dy.shape, y, np.float32), dy))
