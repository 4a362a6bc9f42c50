"""Each kernel compared with TensorFlow's on the CPU: shapes, empty tensors, NaN and infinity."""

import numpy as np
import pytest
import tensorflow as tf

from conftest import RELEASE

RAW_OPS = tf.raw_ops
SHAPES = [(), (1,), (0,), (7,), (33, 5), (4, 1, 6), (2, 0, 3), (2, 3, 1, 2, 2), (70000,)]
PAIRS = [
    ((), ()), ((5,), ()), ((), (5,)), ((4, 3), (3,)), ((4, 1), (1, 3)), ((0, 3), (3,)),
    ((2, 1, 4), (3, 1)), ((2, 3, 4, 1, 2), (3, 1, 5, 1)), ((512, 129), (512, 129)), ((1,), (0,)),
]
# No subnormals: some threads of TensorFlow flush them to zero, others do not.
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, 2e-38, 3e38, -3e38, 2.0, -2.5]


def normal(shape, dtype=np.float32, seed=3):
    values = np.random.default_rng(seed).normal(scale=3, size=shape)
    return np.asarray(values).astype(dtype)


def special_grid():
    values = np.array(SPECIAL, np.float32)
    return np.repeat(values, len(values)), np.tile(values, len(values))


def assert_same(pair, rtol=0.0, atol=0.0):
    expected, found = (np.asarray(value) for value in pair)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


BINARY = {"AddV2": 0, "Sub": 0, "Mul": 0, "RealDiv": 0, "DivNoNan": 0, "Pow": 3e-6}


@pytest.mark.parametrize("op", BINARY)
def test_binary(on_both, op):
    run = lambda x, y: getattr(RAW_OPS, op)(x=x, y=y)
    for x, y in PAIRS:
        assert_same(on_both(op, run, normal(x), normal(y, seed=4)), rtol=BINARY[op])
    expected, found = on_both(op, run, *special_grid())
    if op == "Pow" and RELEASE < (2, 11):
        # The CPU's Pow lost infinities; C's does not. Subnormals may be flushed.
        with np.errstate(all="ignore"):
            expected = np.power(*special_grid())
    assert_same((expected, found), rtol=BINARY[op], atol=0.0 if op != "Pow" else 1.2e-38)


@pytest.mark.parametrize("op", ["AddV2", "Sub", "Mul", "Pow"])
def test_binary_int64(on_both, op):
    x = np.array([0, 1, -1, 7, -9, 2**62, -(2**63)], np.int64)
    y = np.array([3, 2, 5, 0, 4, 2, 1], np.int64)
    assert_same(on_both(op, lambda x, y: getattr(RAW_OPS, op)(x=x, y=y), x, y))


def test_pow_rejects_negative_integer_exponent():
    with tf.device("/device:MYACCEL:0"), pytest.raises(tf.errors.InvalidArgumentError, match="negative"):
        RAW_OPS.Pow(x=np.array([2], np.int64), y=np.array([-1], np.int64))


def test_shapes_that_do_not_broadcast_are_refused():
    with tf.device("/device:MYACCEL:0"), pytest.raises(tf.errors.InvalidArgumentError):
        RAW_OPS.AddV2(x=tf.zeros([2, 3]), y=tf.zeros([4]))


@pytest.mark.parametrize("op", ["Sqrt", "Square", "Neg"])
def test_unary(on_both, op):
    for value in [*map(normal, SHAPES), np.array(SPECIAL, np.float32)]:
        expected, found = on_both(op, lambda x: getattr(RAW_OPS, op)(x=x), value)
        if op == "Sqrt" and RELEASE < (2, 9):
            # The CPU's Sqrt was an estimate, and NaN of infinity; C's is neither.
            with np.errstate(invalid="ignore"):
                expected = np.sqrt(value)
        assert_same((expected, found))


def test_relu(on_both):
    for value in [*map(normal, SHAPES), np.array(SPECIAL, np.float32)]:
        assert_same(on_both("Relu", lambda x: RAW_OPS.Relu(features=x), value))


def test_relu_grad(on_both):
    run = lambda g, x: RAW_OPS.ReluGrad(gradients=g, features=x)
    for shape in SHAPES:
        assert_same(on_both("ReluGrad", run, normal(shape), normal(shape, seed=5)))
    assert_same(on_both("ReluGrad", run, *special_grid()))


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mat_mul(on_both, transpose_a, transpose_b, dtype):
    for m, k, n in [(1, 1, 1), (3, 5, 7), (32, 784, 128), (65, 129, 33), (1, 300, 1), (0, 3, 2), (2, 0, 3), (2, 3, 0), (200, 1, 200), (300, 300, 300)]:
        a = normal((k, m) if transpose_a else (m, k), dtype)
        b = normal((n, k) if transpose_b else (k, n), dtype, seed=6)
        run = lambda a, b: RAW_OPS.MatMul(a=a, b=b, transpose_a=transpose_a, transpose_b=transpose_b)
        scale = 1e-5 if dtype == np.float32 else 1e-13
        assert_same(on_both("MatMul", run, a, b), rtol=scale, atol=scale * 30 * max(k, 1) ** 0.5)


def test_mat_mul_rejects_incompatible_shapes():
    with tf.device("/device:MYACCEL:0"), pytest.raises(tf.errors.InvalidArgumentError):
        RAW_OPS.MatMul(a=tf.zeros([2, 3]), b=tf.zeros([4, 5]))


def test_bias_add(on_both):
    for shape in [(4, 3), (0, 3), (2, 3, 5), (2, 4, 4, 3)]:
        assert_same(on_both("BiasAdd", lambda v, b: RAW_OPS.BiasAdd(value=v, bias=b), normal(shape), normal(shape[-1:])))
        assert_same(on_both("BiasAddGrad", lambda g: RAW_OPS.BiasAddGrad(out_backprop=g), normal(shape)), rtol=1e-5, atol=1e-5)


def test_bias_add_channels_first(on_both):
    run = lambda v, b: RAW_OPS.BiasAdd(value=v, bias=b, data_format="NCHW")
    assert_same(on_both("BiasAdd", run, normal((2, 3, 4, 5)), normal((3,))))


def test_sparse_softmax_cross_entropy(on_both):
    for rows, classes in [(1, 1), (5, 3), (64, 1000), (0, 4)]:
        for kind in (np.int32, np.int64):
            labels = (np.arange(rows) % classes).astype(kind)
            run = lambda x, y: RAW_OPS.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=y)
            expected, found = on_both("SparseSoftmaxCrossEntropyWithLogits", run, normal((rows, classes)), labels)
            assert_same((expected.loss, found.loss), rtol=2e-6, atol=2e-6)
            assert_same((expected.backprop, found.backprop), rtol=2e-6, atol=1e-6)


def test_cross_entropy_rejects_label_out_of_range():
    with tf.device("/device:MYACCEL:0"), pytest.raises(tf.errors.InvalidArgumentError, match="9"):
        RAW_OPS.SparseSoftmaxCrossEntropyWithLogits(features=tf.zeros([2, 3]), labels=np.array([0, 9], np.int64))


@pytest.mark.parametrize("op", ["Sum", "Mean"])
def test_reductions(on_both, op):
    for shape, axes in [
        ((), []), ((5,), [0]), ((5,), []), ((4, 6), [0]), ((4, 6), [1]), ((4, 6), [0, 1]), ((4, 6), [-1]),
        ((3, 4, 5), [1]), ((3, 4, 5), [0, 2]), ((0, 3), [0]), ((3, 0), [0]), ((100003,), [0]), ((2, 3, 4, 5, 6), [0, 2, 4]),
    ]:
        for keep in (False, True):
            run = lambda x: getattr(RAW_OPS, op)(input=x, axis=np.array(axes, np.int32), keep_dims=keep)
            assert_same(on_both(op, run, normal(shape)), rtol=1e-5, atol=1e-4)
    assert_same(on_both(op, lambda x: getattr(RAW_OPS, op)(input=x, axis=np.int64(0)), np.array([1, np.inf], np.float32)))
    assert_same(on_both(op, lambda x: getattr(RAW_OPS, op)(input=x, axis=np.int64(0)), np.array([np.inf, -np.inf], np.float32)))


def test_reduction_rejects_axis_out_of_range():
    with tf.device("/device:MYACCEL:0"), pytest.raises(tf.errors.InvalidArgumentError):
        RAW_OPS.Sum(input=tf.zeros([2, 3]), axis=[5])


CASTS = [tf.bool, tf.uint8, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint16, tf.uint32, tf.uint64, tf.float32, tf.float64]


@pytest.mark.parametrize("source", CASTS)
def test_cast(on_both, source):
    if source == tf.bool:
        value = np.array([True, False, True])
    else:
        value = np.array([0, 1, 2, 3, 100, 127] + ([-1, -100] if not source.is_unsigned else []), source.as_numpy_dtype)
    for target in CASTS:
        if target is not source:
            if source.is_floating and target.is_integer and target.is_unsigned:
                value = np.abs(value)  # C does not define the conversion of a negative float to an unsigned type
            assert_same(on_both("Cast", lambda x: RAW_OPS.Cast(x=x, DstT=target), value))


def test_cast_reads_any_nonzero_boolean_as_true():
    with tf.device("/CPU:0"):
        mask = tf.io.decode_raw(bytes([0, 1, 2, 128, 255]), tf.bool)
    with tf.device("/device:MYACCEL:0"):
        for target in CASTS[1:]:
            # TensorFlow's CPU kernel returns 2, 128 and 255.
            assert RAW_OPS.Cast(x=mask, DstT=target).numpy().tolist() == [0, 1, 1, 1, 1], target
