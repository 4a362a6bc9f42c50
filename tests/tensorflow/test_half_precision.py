"""Kernels of 16-bit floats: each result is that of float32, rounded once.

TensorFlow's own kernels round after each step of a formula. Functions of one step are compared with them bit by bit, the
others with the CPU's float32 kernels.
"""

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE, RELEASE

pytestmark = pytest.mark.skipif(RELEASE < (2, 12), reason="the CPU has fewer kernels of 16-bit floats")

RAW_OPS = tf.raw_ops
TYPES = [tf.half, tf.bfloat16]
BY_TYPE = pytest.mark.parametrize("dtype", TYPES, ids=lambda it: it.name)
# The distance of neighbors, relative to the larger one.
EPSILON = {tf.half: 2.0**-10, tf.bfloat16: 2.0**-7}


def every_value(dtype):
    """Returns all values, without those of which TensorFlow's threads may flush the argument or the result to zero."""
    values = np.arange(65536, dtype=np.uint16).view(dtype.as_numpy_dtype)
    magnitude = np.abs(values.astype(np.float32))
    smallest = 2.0**-14 if dtype == tf.half else 2.0**-100
    return values[~((magnitude > 0) & (magnitude < smallest) | np.isfinite(magnitude) & (magnitude > 1 / smallest))]


def normal(dtype, *shape, seed=3):
    return np.random.default_rng(seed).normal(scale=2, size=shape).astype(dtype.as_numpy_dtype)


def order(values):
    """Returns integers in the order of the values, with a step of 1 between neighbors."""
    bits = values.view(np.uint16).astype(np.int64)
    return np.where(bits & 0x8000, -(bits & 0x7FFF), bits)


def distance(expected, found):
    """Returns the largest number of steps between values; two NaN have the distance 0."""
    assert found.shape == expected.shape and found.dtype == expected.dtype
    expected, found = (np.atleast_1d(it.numpy()) for it in (expected, found))
    is_nan = np.isnan(expected.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(found.astype(np.float32)), is_nan)
    return int(np.max(np.where(is_nan, 0, np.abs(order(expected) - order(found))), initial=0))


def rounded(function, dtype, *arguments):
    """Returns what the CPU's float32 kernel computes, rounded."""
    with tf.device("/CPU:0"):
        results = function(*[tf.constant(argument.astype(np.float32)) for argument in arguments])
        return tf.nest.map_structure(lambda it: tf.cast(it, dtype), results)


ONE_STEP = {
    "x": "Abs Ceil Floor Inv Neg Reciprocal Round Rsqrt Sign Sqrt Square Cos Sin Erf Erfc Exp Expm1 Log Log1p Tanh"
    " Acos Asin Atan Cosh Sinh Tan",
    "features": "Relu Relu6",
}
STEPS = {"x": "Sigmoid", "features": "Elu Selu Softplus Softsign"}


def cases(table):
    return [(op, name) for name, ops in table.items() for op in ops.split()]


@BY_TYPE
@pytest.mark.parametrize("op,name", cases(ONE_STEP))
def test_function_of_one_step(on_both, dtype, op, name):
    run = lambda x: getattr(RAW_OPS, op)(**{name: x})
    expected, found = on_both(op, run, every_value(dtype))
    # The CPU's float32 function may be another approximation than ours, which seldom changes the rounding.
    exact = "Abs Ceil Floor Inv Neg Reciprocal Round Sign Sqrt Square Relu Relu6".split()
    assert distance(expected, found) <= (op not in exact)


@BY_TYPE
@pytest.mark.parametrize("op,name", cases(STEPS))
def test_function_of_several_steps(calls, dtype, op, name):
    run, x = lambda x: getattr(RAW_OPS, op)(**{name: x}), normal(dtype, 20000)
    x[np.abs(x) < 0.1] = 50  # near 0 the CPU's Elu is imprecise
    assert distance(rounded(run, dtype, x), on_device(calls, op, run, x)) <= 1


def on_device(calls, op, function, *arguments):
    before = calls()[op]
    with tf.device(f"/device:{DEVICE}:0"):
        found = function(*[tf.constant(argument) for argument in arguments])
    assert calls()[op] == before + 1, f"{op} did not run in the plugin"
    return found


@BY_TYPE
@pytest.mark.parametrize("op", "AddV2 Sub Mul RealDiv DivNoNan MulNoNan Maximum Minimum Xdivy Add".split())
def test_operator_of_one_step(on_both, dtype, op):
    run = lambda x, y: getattr(RAW_OPS, op)(x=x, y=y)
    special = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 3e4], dtype.as_numpy_dtype)
    for x, y in [
        (normal(dtype, 60000), normal(dtype, 60000, seed=4)),
        (np.repeat(special, 8), np.tile(special, 8)),
        (normal(dtype, 40, 1, 70), normal(dtype, 30, 1)),
        (normal(dtype, 0, 3), normal(dtype, 3)),
        (normal(dtype, 3), normal(dtype, 3, seed=4)),
        (normal(dtype), normal(dtype, seed=4)),
    ]:
        assert distance(*on_both(op, run, x, y)) == 0


@BY_TYPE
@pytest.mark.parametrize("op", ["Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual"])
def test_comparison(on_both, dtype, op):
    special = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan], dtype.as_numpy_dtype)
    pairs = np.repeat(special, len(special)), np.tile(special, len(special))
    for x, y in [(special[:, None], special), pairs]:
        expected, found = on_both(op, lambda x, y: getattr(RAW_OPS, op)(x=x, y=y), x, y)
        assert found.numpy().tolist() == expected.numpy().tolist()


OPERATORS = {
    ("x", "y"): "Pow SquaredDifference Xlogy Xlog1py",
    ("y", "dy"): "InvGrad ReciprocalGrad RsqrtGrad SigmoidGrad SqrtGrad TanhGrad",
    ("gradients", "outputs"): "EluGrad SeluGrad",
    ("gradients", "features"): "LeakyReluGrad ReluGrad Relu6Grad SoftplusGrad SoftsignGrad",
}


@BY_TYPE
@pytest.mark.parametrize("op,names", cases(OPERATORS))
def test_operator_of_several_steps(calls, dtype, op, names):
    run = lambda x, y: getattr(RAW_OPS, op)(**dict(zip(names, (x, y))))
    x, y = np.abs(normal(dtype, 20000)), np.abs(normal(dtype, 20000, seed=4))
    assert distance(rounded(run, dtype, x, y), on_device(calls, op, run, x, y)) <= 1


@BY_TYPE
def test_leaky_relu_rounds_its_attribute(on_both, dtype):
    run = lambda x: RAW_OPS.LeakyRelu(features=x, alpha=0.2)
    assert distance(*on_both("LeakyRelu", run, every_value(dtype))) == 0


def close(expected, found, dtype, scale=1.0):
    """Compares results that are sums: their terms may be added in another order."""
    for expected, found in zip(tf.nest.flatten(expected), tf.nest.flatten(found)):
        expected, found = (tf.cast(it, tf.float32).numpy() for it in (expected, found))
        np.testing.assert_allclose(found, expected, rtol=2 * EPSILON[dtype], atol=1e-5 * scale)


def images(dtype, seed=3):
    return normal(dtype, 2, 11, 9, 6, seed=seed)


CONV = {"strides": [1, 2, 2, 1], "padding": "SAME"}
POOL = {"ksize": [1, 3, 3, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
SUMS = {
    "MatMul": (lambda x, y: RAW_OPS.MatMul(a=x, b=y, transpose_b=True), [(33, 70), (21, 70)]),
    "BatchMatMulV2": (lambda x, y: RAW_OPS.BatchMatMulV2(x=x, y=y), [(4, 1, 5, 30), (3, 30, 7)]),
    "Einsum": (lambda x, y: RAW_OPS.Einsum(inputs=[x, y], equation="bqhd,bkhd->bhqk"), [(2, 5, 3, 8), (2, 7, 3, 8)]),
    "Sum": (lambda x: RAW_OPS.Sum(input=x, axis=[0, 2]), [(30, 7, 50)]),
    "Mean": (lambda x: RAW_OPS.Mean(input=x, axis=[1], keep_dims=True), [(30, 700)]),
    "Prod": (lambda x: RAW_OPS.Prod(input=x, axis=[1]), [(30, 7, 5)]),
    "Cumsum": (lambda x: RAW_OPS.Cumsum(x=x, axis=1, reverse=True), [(3, 70, 5)]),
    "Cumprod": (lambda x: RAW_OPS.Cumprod(x=x, axis=-1, exclusive=True), [(30, 7)]),
    "UnsortedSegmentSum": (
        lambda x: RAW_OPS.UnsortedSegmentSum(data=x, segment_ids=tf.range(70) % 3, num_segments=4), [(70, 5)]),
    "AddN": (lambda *x: RAW_OPS.AddN(inputs=x), [(300, 7)] * 4),
    "BiasAdd": (lambda x, b: RAW_OPS.BiasAdd(value=x, bias=b), [(2, 3, 4, 600), (600,)]),
    "BiasAddGrad": (lambda x: RAW_OPS.BiasAddGrad(out_backprop=x), [(9, 8, 7, 6)]),
    "Softmax": (lambda x: RAW_OPS.Softmax(logits=x), [(7, 300)]),
    "LogSoftmax": (lambda x: RAW_OPS.LogSoftmax(logits=x), [(7, 300)]),
    "SparseSoftmaxCrossEntropyWithLogits": (
        lambda x: RAW_OPS.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=tf.range(7)), [(7, 30)]),
    "SoftmaxCrossEntropyWithLogits": (
        lambda x, y: RAW_OPS.SoftmaxCrossEntropyWithLogits(features=x, labels=y * y), [(7, 30), (1, 30)]),
    "Conv2D": (lambda x, f: RAW_OPS.Conv2D(input=x, filter=f, **CONV), [(2, 11, 9, 6), (3, 3, 6, 5)]),
    "Conv2DBackpropInput": (
        lambda f, dy: RAW_OPS.Conv2DBackpropInput(input_sizes=[2, 11, 9, 6], filter=f, out_backprop=dy, **CONV),
        [(3, 3, 6, 5), (2, 6, 5, 5)]),
    "Conv2DBackpropFilter": (
        lambda x, dy: RAW_OPS.Conv2DBackpropFilter(input=x, filter_sizes=[3, 3, 6, 5], out_backprop=dy, **CONV),
        [(2, 11, 9, 6), (2, 6, 5, 5)]),
    "DepthwiseConv2dNative": (
        lambda x, f: RAW_OPS.DepthwiseConv2dNative(input=x, filter=f, **CONV), [(2, 11, 9, 6), (3, 3, 6, 2)]),
    "DepthwiseConv2dNativeBackpropInput": (
        lambda f, dy: RAW_OPS.DepthwiseConv2dNativeBackpropInput(
            input_sizes=[2, 11, 9, 6], filter=f, out_backprop=dy, **CONV),
        [(3, 3, 6, 2), (2, 6, 5, 12)]),
    "DepthwiseConv2dNativeBackpropFilter": (
        lambda x, dy: RAW_OPS.DepthwiseConv2dNativeBackpropFilter(
            input=x, filter_sizes=[3, 3, 6, 2], out_backprop=dy, **CONV),
        [(2, 11, 9, 6), (2, 6, 5, 12)]),
    "MaxPool": (lambda x: RAW_OPS.MaxPool(input=x, **POOL), [(2, 11, 9, 6)]),
    "MaxPoolGrad": (
        lambda x, y, dy: RAW_OPS.MaxPoolGrad(orig_input=x, orig_output=y, grad=dy, **POOL),
        [(2, 11, 9, 6), (2, 6, 5, 6), (2, 6, 5, 6)]),
    "AvgPool": (lambda x: RAW_OPS.AvgPool(value=x, **POOL), [(2, 11, 9, 6)]),
    "AvgPoolGrad": (
        lambda dy: RAW_OPS.AvgPoolGrad(orig_input_shape=[2, 11, 9, 6], grad=dy, **POOL), [(2, 6, 5, 6)]),
}


@BY_TYPE
@pytest.mark.parametrize("op", SUMS)
def test_sums_are_computed_in_float32(calls, dtype, op):
    run, shapes = SUMS[op]
    values = [normal(dtype, *shape, seed=seed) for seed, shape in enumerate(shapes)]
    if op == "MaxPoolGrad":
        values[1] = rounded(lambda x: RAW_OPS.MaxPool(input=x, **POOL), dtype, values[0]).numpy()
    close(rounded(run, dtype, *values), on_device(calls, op, run, *values), dtype, scale=30)


@BY_TYPE
@pytest.mark.parametrize("op", ["Max", "Min"])
def test_extremes_are_elements(on_both, dtype, op):
    run = lambda axes: lambda x: getattr(RAW_OPS, op)(input=x, axis=axes)
    for axes in ([0], [1], [0, 2]):
        assert distance(*on_both(op, run(axes), normal(dtype, 30, 7, 50))) == 0
    values = normal(dtype, 3, 70)
    values[0, 0], values[1, 5], values[2, 69] = np.nan, np.inf, -np.inf
    assert distance(*on_both(op, run([1]), values)) == 0


@BY_TYPE
def test_batch_normalization(calls, dtype):
    one, names = tf.ones([6]), "y batch_mean batch_variance".split()
    normalize = lambda x: RAW_OPS.FusedBatchNormV3(
        x=x, scale=2 * one, offset=one, mean=0 * one, variance=one, is_training=True)
    expected = normalize(images(tf.float32).astype(dtype.as_numpy_dtype).astype(np.float32))
    found = on_device(calls, "FusedBatchNormV3", normalize, images(dtype))
    assert (found.y.dtype, found.batch_mean.dtype) == (dtype, tf.float32)
    for name in names:
        close(getattr(expected, name), getattr(found, name), dtype)

    def gradient(dy, x):
        saved = (expected.reserve_space_1, expected.reserve_space_2, expected.reserve_space_3)
        operands = dict(zip(["reserve_space_1", "reserve_space_2", "reserve_space_3"], saved))
        return RAW_OPS.FusedBatchNormGradV3(y_backprop=dy, x=x, scale=2 * one, is_training=True, **operands)[:3]

    with tf.device("/CPU:0"):
        exact = gradient(*[tf.constant(images(dtype, seed).astype(np.float32)) for seed in (5, 3)])
    found = on_device(calls, "FusedBatchNormGradV3", gradient, images(dtype, 5), images(dtype))
    assert [it.dtype for it in found] == [dtype, tf.float32, tf.float32]
    close(exact, found, dtype, scale=100)


needs_variables = pytest.mark.skipif((2, 19) <= RELEASE <= (2, 21), reason="TensorFlow exports no functions of variables")


def apply_gradient_descent(number, gradient, var):
    RAW_OPS.ResourceApplyGradientDescent(var=var, alpha=number(0.125), delta=gradient)


def apply_adam(number, gradient, var, m, v):
    RAW_OPS.ResourceApplyAdam(
        var=var, m=m, v=v, beta1_power=number(0.5), beta2_power=number(0.5), lr=number(0.125), beta1=number(0.5),
        beta2=number(0.75), epsilon=number(0.125), grad=gradient)


def apply_momentum(op, use_nesterov):
    return lambda number, gradient, var, accum: getattr(RAW_OPS, op)(
        var=var, accum=accum, lr=number(0.125), grad=gradient, momentum=number(0.75), use_nesterov=use_nesterov)


def assign(op):
    return lambda number, gradient, var: getattr(RAW_OPS, op)(resource=var, value=gradient)


# The number of variables, and the function that changes them.
UPDATES = [
    ("ResourceApplyGradientDescent", 1, apply_gradient_descent),
    ("ResourceApplyAdam", 3, apply_adam),
    *[(f"ResourceApply{op}", 2, apply_momentum(f"ResourceApply{op}", use_nesterov))
      for op in ("Momentum", "KerasMomentum") for use_nesterov in (False, True)],
    ("AssignAddVariableOp", 1, assign("AssignAddVariableOp")),
    ("AssignSubVariableOp", 1, assign("AssignSubVariableOp")),
]


@needs_variables
@BY_TYPE
@pytest.mark.parametrize("op,count,update", UPDATES)
def test_update_of_variables(in_plugin, dtype, op, count, update):
    start = [np.abs(normal(dtype, 1000, seed=seed)) for seed in range(count)]
    slope = normal(dtype, 1000, seed=4)

    def run(dtype):
        variables = [tf.Variable(tf.cast(value, dtype)) for value in start]
        update(lambda value: tf.constant(value, dtype), tf.cast(slope, dtype), *[it.handle for it in variables])
        return [it.numpy() for it in variables]

    with tf.device("/CPU:0"):
        expected = run(tf.float32)
    with in_plugin(op):
        found = run(dtype)
    close(expected, found, dtype)


def network(kind):
    layers = tf.keras.layers
    if kind == "mlp":
        hidden = [layers.Dense(32, activation="gelu"), layers.LayerNormalization(), layers.Dense(32, activation="relu")]
    else:
        hidden = [
            layers.Reshape([8, 8, 1]), layers.Conv2D(8, 3, activation="relu"), layers.BatchNormalization(),
            layers.MaxPooling2D(), layers.Conv2D(8, 3, padding="same"), layers.Flatten(),
        ]
    output = [layers.Dense(4), layers.Activation("softmax", dtype="float32")]
    return tf.keras.Sequential([tf.keras.Input([64]), *hidden, *output])


def losses_of_training(device, policy, kind):
    tf.keras.mixed_precision.set_global_policy(policy)
    try:
        tf.keras.utils.set_random_seed(7)
        with tf.device(device):
            model = network(kind)
            model.compile(tf.keras.optimizers.SGD(0.05), "sparse_categorical_crossentropy")
            x, labels = normal(tf.float32, 32, 64), np.arange(32) % 4
            x[np.arange(32), labels] += 4.0
            history = model.fit(x, labels, batch_size=32, epochs=5, shuffle=False, verbose=0)
        return np.array(history.history["loss"])
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")


def losses_of_cpu(policy, kind):
    """Returns the CPU's losses, in float32 on a machine where TensorFlow 2.12 normalizes nothing in bfloat16."""
    try:
        return losses_of_training("/CPU:0", policy, kind)
    except tf.errors.InvalidArgumentError as error:
        if "does not support bfloat16" not in str(error):
            raise
        return losses_of_training("/CPU:0", "float32", kind)


@pytest.mark.parametrize("kind", ["mlp", "cnn"])
@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_keras_trains_in_mixed_precision_as_on_the_cpu(calls, policy, kind):
    expected = losses_of_cpu(policy, kind)
    before = calls()["MatMul"]
    found = losses_of_training(f"/device:{DEVICE}:0", policy, kind)
    assert calls()["MatMul"] > before
    assert found[-1] < found[0] - 0.05
    tolerance = 0.02 if policy == "mixed_bfloat16" else 0.005
    np.testing.assert_allclose(found, expected, rtol=tolerance)
