"""The SDK's fusions: nodes of traced functions that one node of a fused op replaces, with the bits of the single ones."""

import collections
import contextlib

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context, execute

from conftest import DEVICE, RELEASE

ON_DEVICE = f"/device:{DEVICE}:0"
ACTIVATIONS = {
    "Relu": tf.nn.relu,
    "Relu6": tf.nn.relu6,
    "Elu": tf.nn.elu,
    "LeakyRelu": lambda x: tf.nn.leaky_relu(x, 0.3),
    "Tanh": tf.tanh,
    "Sigmoid": tf.sigmoid,
}
# Until 2.10 the op has other inputs, and no kernel.
needs_fused_convolution = pytest.mark.skipif(RELEASE < (2, 11), reason="_FusedConv2D has no kernel")
pytestmark = pytest.mark.skipif(RELEASE < (2, 8), reason="functions return no tensors of the device")


@contextlib.contextmanager
def without_option(name):
    """Switches an option of the optimization of graphs off."""
    tf.config.optimizer.set_experimental_options({name: False})
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options({name: True})


def without_fusion():
    """Switches off the plugin's optimizer, and nothing else."""
    return without_option("use_plugin_optimizers")


def numbers(*shape, dtype=np.float32, seed=1):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def run_with_nodes(function, *values):
    """Traces and runs a function on the device; returns its results and its nodes on the device."""
    traced = tf.function(function)
    context.context().enable_graph_collection()
    try:
        with tf.device(ON_DEVICE):
            results = traced(*[tf.constant(value) for value in values])
        metadata = context.context().export_run_metadata()
    finally:
        context.context().disable_graph_collection()
    partitions = [partition for graph in metadata.function_graphs for partition in graph.partition_graphs]
    nodes = [node for partition in partitions for node in partition.node if DEVICE in node.device]
    return [np.asarray(it) for it in tf.nest.flatten(results)], nodes


def run(function, *values):
    """Traces and runs a function on the device; returns its results, and its nodes on the device by their ops."""
    results, nodes = run_with_nodes(function, *values)
    return results, collections.Counter(node.op for node in nodes)


def is_own(name, dtype):
    """Returns True if the scaffold's example is a kernel of this op and type. No fusion takes a node away from it."""
    return name == "Relu" and dtype == "float32"


def compare(function, *values):
    """Runs a function with and without fusions, compares the bits of its results, and returns the fused graph's ops."""
    with without_fusion():
        expected, single = run(function, *values)
    found, fused = run(function, *values)
    assert not any(op.startswith("_Fused") for op in single), single
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return fused


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", [*ACTIVATIONS, "none"])
def test_dense_layer(name, dtype):
    if dtype == "float16" and RELEASE < (2, 10):
        pytest.skip("_FusedMatMul has no half")
    activation = ACTIVATIONS.get(name, tf.identity)
    own, dtype = is_own(name, dtype), tf.as_dtype(dtype).as_numpy_dtype
    layer = lambda x, w, b: activation(tf.nn.bias_add(tf.matmul(x, w), b)) * 2
    ops = compare(layer, numbers(32, 70, dtype=dtype), numbers(70, 50, dtype=dtype, seed=2), numbers(50, dtype=dtype, seed=3))
    assert ops["_FusedMatMul"] == 1
    assert not ops["MatMul"] and not ops["BiasAdd"] and ops[name] == own


@pytest.mark.parametrize("transposed", [(True, False), (False, True), (True, True)])
def test_transposed_product(transposed):
    left, right = transposed
    layer = lambda x, w, b: tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w, transpose_a=left, transpose_b=right), b)) * 2
    x, w = numbers(9, 20), numbers(20, 33, seed=2)
    ops = compare(layer, x.T if left else x, w.T if right else w, numbers(33, seed=3))
    assert ops["_FusedMatMul"] == 1


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("inner", [0, 40, 700])
@pytest.mark.parametrize("is_first", [False, True])
def test_sum_with_product(inner, dtype, is_first):
    if dtype == "float16" and RELEASE < (2, 10):
        pytest.skip("_FusedMatMul has no half")

    def sums(x, w, addend):
        product = tf.matmul(x, w, transpose_b=True)
        return tf.nn.softmax(tf.raw_ops.AddN(inputs=[product, addend] if is_first else [addend, product])) * 2

    dtype = tf.as_dtype(dtype).as_numpy_dtype
    ops = compare(sums, numbers(9, inner, dtype=dtype), numbers(50, inner, dtype=dtype, seed=2), numbers(9, 50, dtype=dtype, seed=3))
    assert (ops["_FusedMatMul"], ops["MatMul"], ops["AddN"]) == (1, 0, 0)


def test_broadcasting_sum_with_product_remains():
    for shape in ((50,), (1, 50), (9, 50), (2, 9, 50)):
        ops = compare(lambda x, w, addend: tf.nn.softmax(tf.matmul(x, w) + addend) * 2, numbers(9, 20), numbers(20, 50, seed=2), numbers(*shape))
        assert (ops["_FusedMatMul"], ops["MatMul"]) == (0, 1)


def test_gradients_of_weights_of_a_loop(calls):
    @tf.function
    def gradient(x, w):
        with tf.GradientTape() as tape:
            tape.watch(w)
            for _ in tf.range(4):
                x = tf.tanh(tf.matmul(x, w))
            y = tf.reduce_sum(x)
        return tape.gradient(y, w)

    before = calls()["_FusedMatMul"]
    compare(lambda x, w: gradient(x, w), numbers(6, 6), numbers(6, 6, seed=2))
    assert calls()["_FusedMatMul"] > before


@pytest.mark.parametrize("batch", [4, None])
def test_dense_layer_of_sequences(batch):
    """A product of the elements of all sequences, between two reshapes, as in Keras' dense layers."""

    @tf.function(input_signature=[tf.TensorSpec(shape) for shape in ([batch, 5, 16], [16, 24], [24])])
    def layer(x, w, b):
        return tf.nn.relu6(tf.nn.bias_add(tf.tensordot(x, w, 1), b)) * 2

    ops = compare(lambda *values: layer(*values), numbers(4, 5, 16), numbers(16, 24, seed=2), numbers(24, seed=3))
    assert (ops["_FusedMatMul"], ops["MatMul"], ops["BiasAdd"], ops["Relu6"]) == (1, 0, 0, 0)


def test_reshape_of_last_dimension_remains():
    layer = lambda x, w, b: tf.nn.relu(tf.nn.bias_add(tf.reshape(tf.matmul(x, w), [8, 12]), b)) * 2
    ops = compare(layer, numbers(4, 5), numbers(5, 24, seed=2), numbers(12, seed=3))
    assert (ops["_FusedMatMul"], ops["MatMul"]) == (0, 1)


def test_body_of_loop(calls):
    def loop(x, w, b):
        for _ in tf.range(5):
            x = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), b)) * 0.5
        return x

    before = calls()["_FusedMatMul"]
    compare(loop, numbers(4, 6), numbers(6, 6, seed=2), numbers(6, seed=3))
    assert calls()["_FusedMatMul"] == before + 5


def test_control_dependencies():
    def layer(x, w, b):
        with tf.device("/CPU:0"):
            printed = tf.print("a line", output_stream="file:///dev/null")
        with tf.control_dependencies([printed]):
            product = tf.matmul(x, w)
        total = tf.nn.bias_add(product, b)
        with tf.control_dependencies([total]):
            w = w + 1
        return tf.nn.relu(total) * 2, w

    compare(layer, numbers(4, 5), numbers(5, 6, seed=2), numbers(6, seed=3))


@needs_fused_convolution
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", [*ACTIVATIONS, "none"])
def test_convolution(name, dtype):
    activation = ACTIVATIONS.get(name, tf.identity)
    layer = lambda x, f, b: activation(tf.nn.bias_add(tf.nn.conv2d(x, f, 1, "SAME"), b)) * 2
    values = numbers(2, 9, 9, 3), numbers(3, 3, 3, 17, seed=2), numbers(17, seed=3)
    ops = compare(layer, *[it.astype(dtype) for it in values])
    assert ops["_FusedConv2D"] == 1
    assert not ops["Conv2D"] and not ops["BiasAdd"] and ops[name] == is_own(name, dtype)


@needs_fused_convolution
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("attributes", [
    dict(strides=2, padding="VALID"),
    dict(strides=1, padding="SAME", dilations=2),
    dict(strides=1, padding=[[1, 0], [2, 1]]),
], ids=str)
def test_attributes_of_convolution(layout, attributes):
    if isinstance(padding := attributes["padding"], list):
        none = [0, 0]
        padding = [none, *padding, none] if layout == "NHWC" else [none, none, *padding]
    attributes = {**attributes, "padding": padding, "data_format": layout}
    layer = lambda x, f, b: tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, f, **attributes), b, data_format=layout)) * 2
    x = numbers(2, 9, 8, 3)
    x = x if layout == "NHWC" else np.moveaxis(x, 3, 1)
    assert compare(layer, x, numbers(3, 2, 3, 5, seed=2), numbers(5, seed=3))["_FusedConv2D"] == 1


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("training", [True, False])
def test_batch_normalization(training, dtype):
    def layer(x, scale, offset, mean, variance):
        y, *moments = tf.compat.v1.nn.fused_batch_norm(x, scale, offset, mean, variance, is_training=training)
        return tf.nn.relu(y) * 2, [it + 1 for it in moments]

    vectors = [np.abs(numbers(6, seed=seed)) for seed in range(4)]
    # With oneDNN TensorFlow's own pass fuses both.
    with without_option("remapping"):
        ops = compare(layer, numbers(3, 5, 4, 6).astype(dtype), *vectors)
    own = is_own("Relu", dtype)
    assert (ops["_FusedBatchNormEx"], ops["FusedBatchNormV3"], ops["Relu"]) == (not own, own, own)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("size, stride, padding", [(2, 2, "VALID"), (3, 2, "SAME")])
def test_gradient_of_relu_before_pool(size, stride, padding, dtype):
    def function(x, weights):
        with tf.GradientTape() as tape:
            tape.watch(x)
            pooled = tf.nn.max_pool2d(tf.nn.relu(x), size, stride, padding)
            loss = tf.reduce_sum(pooled * weights)
        return tape.gradient(loss, x)

    values = numbers(2, 9, 8, 3, dtype=dtype) - 1, numbers(1, 1, 1, 3, dtype=dtype, seed=2)
    with without_fusion():
        (expected,), _ = run_with_nodes(function, *values)
    (found,), nodes = run_with_nodes(function, *values)
    # The signs of zeros differ.
    np.testing.assert_array_equal(found, expected)
    assert np.any(expected > 0) and np.any(expected < 0)
    (moved,) = [node for node in nodes if node.op == "ReluGrad"]
    (gradient,) = [node for node in nodes if node.op == "MaxPoolGrad"]
    assert moved.input[1] == gradient.input[1]
    assert gradient.input[2] == moved.name == f"{gradient.name}/before_pool"


def test_result_with_another_use_is_computed():
    def layer(x, w, b):
        product = tf.matmul(x, w)
        total = tf.nn.bias_add(product, b)
        return product * 2, tf.nn.relu(total) * 2

    ops = compare(layer, numbers(4, 5), numbers(5, 6), numbers(6))
    assert (ops["MatMul"], ops["BiasAdd"], ops["_FusedMatMul"]) == (1, 1, 0)


def test_activation_is_single_if_sum_has_another_use():
    def layer(x, w, b):
        total = tf.nn.bias_add(tf.matmul(x, w), b)
        return total * 2, tf.nn.relu(total) * 2

    ops = compare(layer, numbers(4, 5), numbers(5, 6), numbers(6))
    assert (ops["_FusedMatMul"], ops["Relu"], ops["BiasAdd"]) == (1, 1, 0)


def test_fetched_results_remain():
    """All results of the graph are fetched, so that their nodes are preserved with their names."""
    with tf.Graph().as_default() as graph, tf.device(ON_DEVICE):
        x, w, b = [tf.compat.v1.placeholder(tf.float32, shape) for shape in ([4, 5], [5, 6], [6])]
        product = tf.matmul(x, w, name="product")
        total = tf.nn.bias_add(product, b, name="total")
        result = tf.nn.relu6(total, name="result")
    values = {x: numbers(4, 5), w: numbers(5, 6), b: numbers(6)}
    options, metadata = tf.compat.v1.RunOptions(output_partition_graphs=True), tf.compat.v1.RunMetadata()
    with tf.compat.v1.Session(graph=graph) as session:
        everything = session.run([product, total, result], values, options, metadata)
        ops = {node.name: node.op for it in metadata.partition_graphs for node in it.node}
        assert [ops[name] for name in ("product", "total", "result")] == ["MatMul", "BiasAdd", "Relu6"]
        last = session.run(result, values, options, metadata)
        ops = {node.name: node.op for it in metadata.partition_graphs for node in it.node}
        assert ops["result"] == "_FusedMatMul"
    np.testing.assert_array_equal(last, everything[2])


def test_colocated_gradients():
    """Nodes of gradients may name the nodes of the products as those with which they are placed."""
    with tf.Graph().as_default() as graph, tf.device(ON_DEVICE):
        x, w, b = [tf.compat.v1.placeholder(tf.float32, shape) for shape in ([4, 5], [5, 6], [6])]
        result = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), b))
        gradients = tf.compat.v1.gradients(result, [w, b], colocate_gradients_with_ops=True)
    values = {x: numbers(4, 5), w: numbers(5, 6), b: numbers(6)}
    options, metadata = tf.compat.v1.RunOptions(output_partition_graphs=True), tf.compat.v1.RunMetadata()
    with tf.compat.v1.Session(graph=graph) as session:
        found = session.run([result, *gradients], values, options, metadata)
    ops = [node.op for it in metadata.partition_graphs for node in it.node]
    assert "_FusedMatMul" in ops
    assert found[0].shape == (4, 6) and found[2].tolist() == (found[0] > 0).sum(0).tolist()


def test_eager_ops_are_single(calls):
    before = calls()["_FusedMatMul"]
    with tf.device(ON_DEVICE):
        tf.nn.relu(tf.nn.bias_add(tf.matmul(numbers(4, 5), numbers(5, 6)), numbers(6)))
    assert calls()["_FusedMatMul"] == before


def losses(filters):
    """Returns the losses of a network with convolutions, if it has filters, and dense layers."""
    with tf.device(ON_DEVICE):
        shapes = [(3, 3, 1, filters), (filters,)] if filters else []
        shapes += [(64 * max(filters, 1), 32), (32,), (32, 16), (16,), (16, 4), (4,)]
        variables = [tf.Variable(0.2 * numbers(*shape, seed=seed)) for seed, shape in enumerate(shapes)]

    def step(x, labels):
        with tf.GradientTape() as tape:
            weights = list(variables)
            if filters:
                x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, weights.pop(0), 1, "SAME"), weights.pop(0)))
            x = tf.reshape(x, [len(x), -1])
            for activation in (tf.nn.relu, tf.tanh, tf.identity):
                x = activation(tf.nn.bias_add(tf.matmul(x, weights.pop(0)), weights.pop(0)))
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x))
        return loss, tape.gradient(loss, variables)

    traced, found = tf.function(step), []
    with tf.device(ON_DEVICE):
        batch = tf.constant(numbers(8, 8, 8, 1)), tf.constant(np.arange(8) % 4)
        for _ in range(10):
            loss, gradients = traced(*batch)
            for variable, gradient in zip(variables, gradients):
                variable.assign(variable - 0.1 * gradient)
            found.append(float(loss))
    return found


@pytest.mark.parametrize("filters", [0, 8])
def test_losses_are_those_without_fusion(calls, filters):
    with without_fusion():
        expected = losses(filters)
    before = calls()
    assert losses(filters) == expected
    after = calls()
    assert expected[-1] < expected[0]
    assert after["_FusedMatMul"] - before["_FusedMatMul"] == 30
    if RELEASE >= (2, 11):
        assert after["_FusedConv2D"] - before["_FusedConv2D"] == (10 if filters else 0)


def fused_product(*args, ops=("BiasAdd", "Relu"), left=(2, 3), right=(3, 4)):
    """Calls the op, which has no function in Python, in eager mode."""
    inputs = [tf.ones(shape) for shape in (left, right, *args)]
    attributes = dict(
        num_args=len(args), T=tf.float32.as_datatype_enum, fused_ops=list(ops), transpose_a=False, transpose_b=False,
        epsilon=0.0, leakyrelu_alpha=0.2,
    )
    flat = [it for pair in attributes.items() for it in pair]
    return execute.execute(b"_FusedMatMul", 1, inputs, tuple(flat), context.context())[0]


def test_wrong_inputs_are_errors(in_plugin, hard_placement):
    invalid, unimplemented = tf.errors.InvalidArgumentError, tf.errors.UnimplementedError
    with tf.device(ON_DEVICE):
        for args, error, message in [
            (dict(right=(4, 4)), invalid, "Matrix size-incompatible"),
            (dict(left=(2,)), invalid, "is not a matrix"),
            (dict(ops=["BiasAdd", "Softmax"]), unimplemented, "Softmax"),
            (dict(ops=["Relu"]), unimplemented, "BiasAdd"),
            (dict(ops=[]), unimplemented, "BiasAdd"),
        ]:
            with pytest.raises(error, match=message):
                fused_product((4,), **args)
        for args in ([], [(3,)], [(1, 4)], [()], [(4,), (4,)]):
            with pytest.raises(invalid, match="vector of 4 biases"):
                fused_product(*args)
        for args in ([], [(4,)], [(4, 2)], [(1, 4)], [(2, 4), (2, 4)]):
            with pytest.raises(invalid, match="matrix of shape .2, 4."):
                fused_product(*args, ops=["Add"])
    with in_plugin("_FusedMatMul"):
        np.testing.assert_array_equal(fused_product((4,)), np.full([2, 4], 4, np.float32))


@pytest.mark.parametrize("shapes", [((0, 3), (3, 4)), ((2, 0), (0, 4)), ((2, 3), (3, 0)), ((1, 3), (3, 4)), ((2, 3), (3, 1))], ids=str)
def test_empty_products_and_vectors(in_plugin, shapes):
    left, right = shapes
    with in_plugin("_FusedMatMul"):
        found = fused_product((right[1],), left=left, right=right)
    np.testing.assert_array_equal(found, np.full([left[0], right[1]], left[1] + 1, np.float32))
