"""No graph ends in an op that nobody has: what TensorFlow's optimizers write on the device has a kernel there."""

import collections

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.framework import op_def_pb2, types_pb2
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.eager import context, execute
from tensorflow.python.framework import kernels, op_def_registry

from conftest import DEVICE, RELEASE
from optimizer_ops import NEVER, WRITTEN

ON_DEVICE = f"/device:{DEVICE}:0"
pytestmark = pytest.mark.skipif(RELEASE < (2, 8), reason="functions return no tensors of the device")


@pytest.fixture(scope="module", autouse=True)
def opened_device():
    """Opens the device: the SDK registers its errors for ops of core then."""
    with tf.device(ON_DEVICE):
        tf.constant(1.0).numpy()


def kernels_of(op, devices):
    return [it for it in kernels.get_registered_kernels_for_op(op).kernel if it.device_type in devices]


def accepts(kernel, attribute, dtype):
    """Returns true if the kernel has no constraint that excludes the type."""
    number = types_pb2.DataType.Value(f"DT_{dtype.upper()}")
    constraints = [it for it in kernel.constraint if it.name == attribute]
    return all(number in it.allowed_values.list.type for it in constraints)


def lacking(op, written):
    """Returns the types of which the op has no kernel on the device."""
    own, any_device = kernels_of(op, [DEVICE]), kernels_of(op, [DEVICE, "DEFAULT"])
    if written.by == "core":
        return [] if any_device else ["any"]
    if not written.types:
        return [] if any_device else ["any"]
    return [it for it in written.types if not any(accepts(kernel, written.attribute, it) for kernel in own or any_device)]


@pytest.mark.parametrize("op", sorted(op for op, it in WRITTEN.items() if it.by in ("core", "plugin")))
def test_op_that_an_optimizer_writes_has_kernel(op):
    if op_def_registry.get(op) is None:
        pytest.skip(f"{op} is not in this release")
    if RELEASE < (2, 12) and WRITTEN[op].by == "core":
        pytest.skip("core has fewer kernels for every device up to 2.11")
    assert lacking(op, WRITTEN[op]) == [], f"{op}, which {WRITTEN[op].passes} writes"


def test_fusion_without_kernel_has_one_on_the_cpu():
    """The SDK's optimizer moves it there."""
    for op, it in WRITTEN.items():
        if it.by == "host" and op_def_registry.get(op) is not None:
            assert kernels_of(op, ["CPU"]), op


def test_every_internal_op_is_in_the_list():
    """A new release's op that only its passes write is found here."""
    if not hasattr(pywrap_tf_session, "TF_GetAllOpList"):
        pytest.skip("this release has no list of ops in Python")
    ops = op_def_pb2.OpList()
    ops.ParseFromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    internal = [it.name for it in ops.op if it.name.startswith("_")]
    assert len(internal) > 100
    unknown = [op for op in internal if op not in WRITTEN and not op.startswith(tuple(NEVER))]
    assert not unknown, "state in optimizer_ops.py which pass writes these, and what computes them"


def test_entry_without_kernel_states_a_reason():
    for op, it in WRITTEN.items():
        assert it.by in ("core", "plugin", "host", "restored") or it.by == "never" and it.reason, op
    assert all(NEVER.values())


def run_with_nodes(function, *values):
    """Traces and runs a function on the device; returns its result, and the devices of its nodes by their ops."""
    traced = tf.function(function)
    context.context().enable_graph_collection()
    try:
        with tf.device(ON_DEVICE):
            result = traced(*[tf.constant(value) for value in values]).numpy()
        metadata = context.context().export_run_metadata()
    finally:
        context.context().disable_graph_collection()
    devices = collections.defaultdict(set)
    for graph in metadata.function_graphs:
        for partition in graph.partition_graphs:
            for node in partition.node:
                devices[node.op].add(node.device.split(":")[-2])
    return result, devices


def hashed(dtype):
    numbers = np.array([0, 7, -7, 123, -100, np.iinfo(dtype).min, np.iinfo(dtype).max]).astype(dtype)
    function = lambda x: tf.strings.to_hash_bucket_fast(tf.as_string(x), 1_000_003) + tf.constant(1, tf.int64)
    return function, numbers


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("with_optimizer", [True, False])
def test_hash_of_number_on_the_device_is_that_of_its_text(dtype, with_optimizer):
    function, numbers = hashed(dtype)
    tf.config.optimizer.set_experimental_options({"use_plugin_optimizers": with_optimizer})
    try:
        found, devices = run_with_nodes(function, numbers)
    finally:
        tf.config.optimizer.set_experimental_options({"use_plugin_optimizers": True})
    expected = [int(tf.strings.to_hash_bucket_fast(str(it), 1_000_003)) + 1 for it in numbers]
    np.testing.assert_array_equal(found, expected)
    assert "_TensorToHashBucketFast" in devices


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32, np.int64])
def test_hash_kernel_has_buckets_of_the_cpu(in_plugin, dtype):
    numbers = np.array([*range(120), np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
    attributes = ("T", tf.as_dtype(dtype).as_datatype_enum, "num_buckets", 977)
    with in_plugin("_TensorToHashBucketFast"):
        (found,) = execute.execute(b"_TensorToHashBucketFast", 1, [tf.constant(numbers)], attributes, context.context())
    np.testing.assert_array_equal(found.numpy(), [int(tf.strings.to_hash_bucket_fast(str(it), 977)) for it in numbers])


def normalized(x, activation):
    """An instance normalization with constant parameters, which the remapper knows."""
    gamma, beta = tf.constant(np.float32([0.5, 1, 2, 3])), tf.constant(np.float32([0, 1, -1, 2]))
    mean = tf.reduce_mean(x, [1, 2], keepdims=True)
    variance = tf.reduce_mean(tf.math.squared_difference(x, mean), [1, 2], keepdims=True)
    scale = tf.math.rsqrt(variance + 1e-3) * gamma
    return activation(x * scale + (beta - scale * mean))


IMAGE = np.random.default_rng(0).normal(size=(2, 6, 6, 4)).astype(np.float32)
FILTER = np.random.default_rng(1).normal(size=(3, 3, 4, 4)).astype(np.float32)
BIAS = np.float32([0, 1, -1, 2])


def convolved(x, activation):
    return activation(tf.nn.bias_add(tf.nn.conv2d(x, FILTER, 1, "SAME"), BIAS))


def batch_normalized(x, is_training):
    moments = {} if is_training else dict(mean=BIAS, variance=BIAS + 2)
    return tf.nn.relu(tf.compat.v1.nn.fused_batch_norm(x, BIAS, BIAS, is_training=is_training, **moments)[0])


# The patterns that the remapper and the arithmetic optimizer replace.
PATTERNS = {
    "swish": lambda x: x * tf.sigmoid(x),
    "mish": lambda x: x * tf.tanh(tf.nn.softplus(x)),
    "hard swish": lambda x: x * tf.nn.relu6(x + 3) * 0.16666667,
    "leaky relu": lambda x: tf.maximum(x, x * 0.2),
    "powers": lambda x: tf.pow(x, 2.0) + tf.pow(x, 3.0) + tf.pow(x * x, 0.5) + tf.pow(x * x + 1, -0.5) + tf.pow(x * x + 1, -1.0),
    "logarithms": lambda x: tf.math.log(x * x + 1) + (tf.exp(x) - 1) + tf.math.log(tf.nn.softmax(x)),
    "sum": lambda x: x + tf.exp(x) + tf.sin(x) + tf.cos(x),
    "accumulate_n": lambda x: tf.math.accumulate_n([x, tf.exp(x), x]),
    "stack of equal": lambda x: tf.stack([x, x, x]),
    "quotient": lambda x: x / 3.0 + (x - 0.0) * 1.0,
    "instance normalization": lambda x: normalized(x, tf.identity),
    "instance normalization and relu": lambda x: normalized(x, tf.nn.relu),
    "batch normalization, training": lambda x: batch_normalized(x, True),
    "batch normalization, inference": lambda x: batch_normalized(x, False),
    "convolution and batch normalization": lambda x: batch_normalized(tf.nn.conv2d(x, FILTER, 1, "SAME"), False),
    "convolution and swish": lambda x: convolved(x, tf.nn.silu),
    "convolution and gelu": lambda x: convolved(x, tf.nn.gelu),
    "convolution, sum and relu": lambda x: tf.nn.relu(convolved(x, tf.identity) + x),
    "depthwise convolution": lambda x: tf.nn.relu(tf.nn.bias_add(tf.nn.depthwise_conv2d(x, FILTER[..., :1], [1, 1, 1, 1], "SAME"), BIAS)),
    "dilated convolution": lambda x: tf.nn.conv2d(x, FILTER, 1, "SAME", dilations=2),
    "padded volume": lambda x: tf.nn.conv3d(tf.pad(x[:, None], [[0, 0], [1, 1], [1, 1], [1, 1], [0, 0]]), FILTER[None], [1] * 5, "VALID"),
    "product, scale and sum": lambda x: tf.matmul(x, x, transpose_b=True) * 0.5 + tf.reduce_sum(x, -1, keepdims=True),
    "transposed product": lambda x: tf.matmul(tf.transpose(x, [0, 1, 3, 2]), x),
    "comparison as number": lambda x: tf.cast(x > 0.5, tf.float32),
}  # fmt: skip


@pytest.mark.parametrize("with_optimizer", [True, False])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_pattern_of_optimizer_runs_on_the_device(pattern, with_optimizer):
    function = lambda x: tf.identity(PATTERNS[pattern](x) + 1.0)
    with tf.device("/CPU:0"):
        expected = function(tf.constant(IMAGE)).numpy()
    tf.config.optimizer.set_experimental_options({"use_plugin_optimizers": with_optimizer})
    try:
        found, devices = run_with_nodes(function, IMAGE)
    finally:
        tf.config.optimizer.set_experimental_options({"use_plugin_optimizers": True})
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    written = {op for op in devices if op.startswith("_")}
    known = {op for op in WRITTEN} | {"_FusedConv2D", "_FusedMatMul"}
    assert written <= known, "an op that is not in optimizer_ops.py"
