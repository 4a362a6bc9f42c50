"""Batch normalization and its gradient compared with TensorFlow's on the CPU: random shapes and attributes, and wrong ones."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context, execute
from tensorflow.python.framework import op_def_registry

from conftest import DEVICE, RELEASE
from outcomes import assert_close, assert_same_outcome, R, seeds, tensors
from sweep_kernels import call_in_graph

pytestmark = pytest.mark.usefixtures("hard_placement")

LAYOUTS = ["NHWC", "NCHW", "NDHWC", "NCDHW"]


def batch_norm_case(seed):
    random = np.random.default_rng(seed)
    layout = LAYOUTS[random.integers(0, 4 if RELEASE >= (2, 13) else 2)]
    spatial = list(random.integers(1, 7, size=len(layout) - 2))
    channels = int(random.integers(1, 9))
    dims = [int(random.integers(1, 4)), *spatial, channels] if layout[-1] == "C" else [int(random.integers(1, 4)), channels, *spatial]
    vector = lambda: random.normal(size=channels).astype(np.float32)
    parameters = dict(scale=vector(), offset=vector(), mean=vector(), variance=np.abs(vector()))
    factor = [1.0, 0.25][random.integers(0, 2)]
    attributes = dict(epsilon=1e-3, exponential_avg_factor=factor, data_format=layout, is_training=bool(random.integers(0, 2)))
    return random.normal(size=dims).astype(np.float32) + 1, parameters, attributes


@pytest.mark.parametrize("graph", [False, True])
def test_batch_norm_and_gradient(calls, graph):
    for seed in seeds():
        x, parameters, attributes = batch_norm_case(seed)
        about = f"seed {seed}: {x.shape} {attributes}"
        # The last output, which nobody reads, has another shape with oneDNN. Without it core writes no moments in inference.
        count = 5 if attributes["is_training"] else 3
        run = lambda **data: list(R.FusedBatchNormV3(**data, **attributes))[:count]
        assert_same_outcome("FusedBatchNormV3", calls, run, 2e-5, about, graph, x=x, **parameters)
        if attributes["data_format"][1] == "C" and not attributes["is_training"]:
            continue  # without oneDNN the CPU has no kernel for it
        dy = np.random.default_rng(seed).normal(size=x.shape).astype(np.float32)
        moments = dict(reserve_space_1=parameters["mean"], reserve_space_2=parameters["variance"], reserve_space_3=np.float32(0))
        keep = {name: attributes[name] for name in ("epsilon", "data_format", "is_training")}
        run = lambda **data: list(R.FusedBatchNormGradV3(**data, **moments, **keep))[:3]
        assert_same_outcome("FusedBatchNormGradV3", calls, run, 1e-4, about, graph, y_backprop=dy, x=x, scale=parameters["scale"])


def fused(x, side, activation, attributes, **parameters):
    """Calls the op that TensorFlow's optimizer of graphs writes; Python has no function for it."""
    inputs = [tf.constant(it) for it in (x, *parameters.values(), *side)]
    types = dict(T=inputs[0].dtype.as_datatype_enum, U=tf.float32.as_datatype_enum)
    values = {**types, **attributes, "num_side_inputs": len(side), "activation_mode": activation}
    flat = [it for pair in values.items() for it in pair]
    return execute.execute(b"_FusedBatchNormEx", 6, inputs, tuple(flat), context.context())[:5]


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-5), (np.float16, 2e-3)])
@pytest.mark.parametrize("activation", ["Identity", "Relu"])
@pytest.mark.parametrize("sides", [0, 1])
@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_with_activation(in_plugin, dtype, tolerance, activation, sides, training):
    random = np.random.default_rng(5)
    x, *side = [random.normal(size=(3, 5, 4, 6)).astype(dtype) for _ in range(1 + sides)]
    parameters = {name: np.abs(random.normal(size=6)).astype(np.float32) for name in ("scale", "offset", "mean", "variance")}
    attributes = dict(epsilon=1e-3, exponential_avg_factor=0.5, data_format="NHWC", is_training=training)
    with tf.device("/CPU:0"):
        y, *moments = list(R.FusedBatchNormV3(x=x.astype(np.float32), **parameters, **attributes))[:5]
        y = y + sum(it.astype(np.float32) for it in side)
        expected = [tf.nn.relu(y) if activation == "Relu" else y, *moments]
    with in_plugin("_FusedBatchNormEx"):
        found = fused(x, side, activation, attributes, **parameters)
    # Without oneDNN core writes no moments in inference.
    count = 5 if training else 3
    for found, expected in zip(found[:count], expected[:count]):
        np.testing.assert_allclose(found.numpy().astype(np.float32), expected.numpy(), rtol=tolerance, atol=tolerance)


def test_side_input_of_another_shape():
    ones, vector = np.ones([2, 3, 3, 2], np.float32), np.ones(2, np.float32)
    parameters = dict(scale=vector, offset=vector, mean=vector, variance=vector)
    with tf.device(f"/device:{DEVICE}:0"), pytest.raises(tf.errors.InvalidArgumentError, match="side_input"):
        attributes = dict(epsilon=1e-3, exponential_avg_factor=1.0, data_format="NHWC", is_training=True)
        fused(ones, [ones[1:]], "Relu", attributes, **parameters)


@pytest.mark.parametrize("forward", ["/CPU:0", f"/device:{DEVICE}:0"])
def test_gradient_of_batch_norm_of_the_other_device(forward):
    """The outputs that are reserved for the gradient are the same on both devices."""
    x, parameters, _ = batch_norm_case(3)
    backward = {"/CPU:0": f"/device:{DEVICE}:0"}.get(forward, "/CPU:0")
    x = np.random.default_rng(4).normal(size=(2, 3, 4, len(parameters["scale"]))).astype(np.float32)
    with tf.device(forward):
        y = R.FusedBatchNormV3(x=x, **parameters)
    results = []
    for device in (forward, backward):
        with tf.device(device):
            reserved = {f"reserve_space_{i}": tf.identity(y[2 + i]) for i in (1, 2, 3)}
            results.append(tensors(list(R.FusedBatchNormGradV3(y_backprop=x[::-1], x=x, scale=parameters["scale"], **reserved))[:3]))
    assert_close(results[1], results[0], 1e-4)


def batch_norm(x=(2, 3, 3, 2), scale=(2,), offset=(2,), mean=(2,), variance=(2,), **attributes):
    ones = lambda shape: np.ones(shape, np.float32)
    return lambda: list(R.FusedBatchNormV3(x=ones(x), scale=ones(scale), offset=ones(offset), mean=ones(mean), variance=ones(variance), **attributes))[:3]


def batch_norm_gradient(dy=(2, 3, 3, 2), x=(2, 3, 3, 2), scale=(2,), mean=(2,), variance=(2,), **attributes):
    ones = lambda shape: np.ones(shape, np.float32)
    moments = dict(reserve_space_1=ones(mean), reserve_space_2=ones(variance), reserve_space_3=ones(()))
    return lambda: list(R.FusedBatchNormGradV3(y_backprop=ones(dy), x=ones(x), scale=ones(scale), **moments, **attributes))[:3]


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("shapes", [
    dict(), dict(x=(0, 3, 3, 2)), dict(x=(2, 0, 3, 2)), dict(x=(2, 3, 3, 0), scale=(0,), offset=(0,), mean=(0,), variance=(0,)), dict(x=(1, 1, 1, 2)),
    dict(x=(3, 3, 2)), dict(scale=(1, 2)), dict(scale=(1,)), dict(offset=(3,)), dict(offset=()), dict(mean=(1, 2)), dict(variance=(2, 1)), dict(mean=(0,), variance=(0,)), dict(mean=(1,)),
    dict(mean=(0,), variance=(0,), exponential_avg_factor=0.5), dict(data_format="NCHW"), dict(x=(2, 2, 3, 3), data_format="NCHW"),
], ids=str)
def test_batch_norm_of_odd_shapes(calls, shapes, training):
    assert_same_outcome("FusedBatchNormV3", calls, batch_norm(is_training=training, **shapes), 1e-5)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("shapes", [
    dict(), dict(dy=(0, 3, 3, 2), x=(0, 3, 3, 2)), dict(dy=(2, 3, 3, 0), x=(2, 3, 3, 0), scale=(0,), mean=(0,), variance=(0,)), dict(dy=(1, 3, 3, 2)), dict(dy=(3, 3, 2)),
    dict(dy=(3, 3, 2), x=(3, 3, 2)), dict(scale=(1,)), dict(scale=(1, 2)), dict(mean=(1,)), dict(variance=(1, 2)),
], ids=str)
def test_gradient_of_batch_norm_of_odd_shapes(calls, shapes, training):
    assert_same_outcome("FusedBatchNormGradV3", calls, batch_norm_gradient(is_training=training, **shapes), 1e-5)


# The ops that have one result, and their attributes in a call that states no other.
WRITTEN = {
    "_MklFusedInstanceNorm": dict(fused_ops=[], epsilon=0.01, leakyrelu_alpha=0.25, reduction_axes=[1, 2]),
    "_MklLayerNorm": dict(epsilon=0.01),
}


def call(op, arrays, dtype, **attributes):
    """Calls an op that TensorFlow's optimizer of graphs writes."""
    inputs = [tf.cast(tf.constant(it), dtype) for it in arrays]
    return call_in_graph(op_def_registry.get(op), inputs, {**WRITTEN[op], **attributes})


def normalized(x, scale, offset, axes, epsilon):
    """Returns the normalization of an array; scale and offset have the array's rank."""
    x = x.astype(np.float64)
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon) * scale + offset


PRECISIONS = [(tf.float32, 1e-5), (tf.bfloat16, 3e-2), *([(tf.float16, 5e-3)] if RELEASE >= (2, 16) else [])]


@pytest.mark.skipif(RELEASE < (2, 14), reason="the op is in 2.14 and later")
@pytest.mark.parametrize("dtype, tolerance", PRECISIONS)
@pytest.mark.parametrize("functions, slope", [([], 1.0), (["Relu"], 0.0), (["LeakyRelu"], 0.25)])
@pytest.mark.parametrize("dims, axes", [((2, 5, 7, 3), (1, 2)), ((2, 3, 5, 40), (2, 3)), ((3, 2, 3, 4, 70), (1, 2, 3)), ((2, 33, 2, 3, 4), (2, 3, 4))])
def test_instance_normalization_that_the_optimizer_writes(in_plugin, dims, axes, functions, slope, dtype, tolerance):
    random, channel = np.random.default_rng(1), (set(range(1, len(dims))) - set(axes)).pop()
    x = random.normal(size=dims).astype(np.float32) + 1
    gamma, beta = (random.normal(size=dims[channel]).astype(np.float32) for _ in range(2))
    shape = [-1 if axis == channel else 1 for axis in range(len(dims))]
    y = normalized(x, gamma.reshape(shape), beta.reshape(shape), axes, 0.01)
    with in_plugin("_MklFusedInstanceNorm"):
        found = call("_MklFusedInstanceNorm", [x, gamma, beta], dtype, fused_ops=functions, reduction_axes=list(axes))
    np.testing.assert_allclose(tf.cast(found, tf.float32), np.where(y < 0, slope * y, y), tolerance, tolerance)


@pytest.mark.skipif(RELEASE < (2, 8), reason="the op is in 2.8 and later")
@pytest.mark.parametrize("dtype, tolerance", PRECISIONS)
@pytest.mark.parametrize("dims", [(5, 7), (2, 3, 64), (4, 1), (0, 3), (3, 0), (1, 2, 3, 33)])
def test_layer_normalization_that_the_optimizer_writes(in_plugin, dims, dtype, tolerance):
    random = np.random.default_rng(1)
    x, scale, offset = (random.normal(size=it).astype(np.float32) for it in (dims, dims[-1:], dims[-1:]))
    with in_plugin("_MklLayerNorm"):
        found = call("_MklLayerNorm", [x, scale, offset], dtype)
    np.testing.assert_allclose(tf.cast(found, tf.float32), normalized(x, scale, offset, -1, 0.01), tolerance, tolerance)


@pytest.mark.skipif(RELEASE < (2, 14), reason="the op is in 2.14 and later")
@pytest.mark.parametrize("op, arrays, attributes, reason", [
    ("_MklLayerNorm", [(), (1,), (1,)], {}, "scalar"),
    ("_MklLayerNorm", [(2, 3), (2,), (3,)], {}, "scale"),
    ("_MklFusedInstanceNorm", [(2, 3, 4, 5), (5,), (4,)], dict(reduction_axes=[1, 2]), "beta"),
    ("_MklFusedInstanceNorm", [(2, 3, 4, 5), (5,), (5,)], dict(reduction_axes=[1]), "reduction_axes"),
    ("_MklFusedInstanceNorm", [(2, 3, 4, 5), (5,), (5,)], dict(reduction_axes=[1, 2], fused_ops=["Elu"]), "fused_ops"),
])  # fmt: skip
def test_normalization_rejects_other_shapes(op, arrays, attributes, reason):
    with tf.device(f"/device:{DEVICE}:0"), pytest.raises(tf.errors.OpError, match=reason):
        call(op, [np.ones(it, np.float32) for it in arrays], tf.float32, **attributes)
