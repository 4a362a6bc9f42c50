"""Kernels that move and select data, compared with TensorFlow's on the CPU: a seeded sweep over shapes, attributes and
wrong inputs, in eager mode and in tf.function, and gradients.

`SP_SWEEP=2000` sets the number of cases of each op, `SP_SWEEP_SEED=7` the seed.
"""

import os

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework import kernels, op_def_registry

import index_cases
import shape_cases
from conftest import DEVICE
from shape_cases import Random

pytestmark = pytest.mark.usefixtures("hard_placement")

R = tf.raw_ops
OPS = {**shape_cases.OPS, **index_cases.OPS}
CASES = int(os.environ.get("SP_SWEEP", "24"))
SEED = int(os.environ.get("SP_SWEEP_SEED", "13"))


def outcome(function, arguments, device):
    """Returns the results as arrays, or the class of the error and its message."""
    try:
        with tf.device(device):
            results = function(*[tf.constant(it) for it in arguments])
        results = results if isinstance(results, (list, tuple)) else [results]
        return [it.numpy() for it in results]
    except (tf.errors.OpError, ValueError) as error:
        return type(error), str(error)


def is_error(result):
    return isinstance(result, tuple)


def assert_same(expected, found, case):
    if is_error(expected) and expected[0] is tf.errors.UnimplementedError:
        return  # a type that the CPU device lacks, such as uint16 of Tile in 2.12
    if is_error(expected) and "Invalid input first dimension" in expected[1]:
        return  # the CPU's Reverse rejects empty vectors, as kernel_sweep/ops.py states
    if is_error(expected) or is_error(found):
        both = is_error(expected) and is_error(found)
        assert both and expected[0] is found[0], f"{case}: expected {expected}, found {found}"
        return
    assert len(expected) == len(found), case
    for left, right in zip(expected, found):
        assert left.dtype == right.dtype and left.shape == right.shape, f"{case}: {left.shape} {right.shape}"
        np.testing.assert_array_equal(right, left, err_msg=case)


def in_graph(function, arguments):
    """Returns a tf.function that does not know the shapes, so that its kernels find what is wrong."""
    signature = [tf.TensorSpec(None, tf.as_dtype(np.asarray(it).dtype)) for it in arguments]
    return tf.function(function, input_signature=signature, autograph=False)


def describe(op, number, arguments):
    shapes = [(np.asarray(it).dtype.name, np.shape(it)) for it in arguments]
    small = [np.asarray(it).tolist() for it in arguments if np.size(it) < 12]
    return f"{op} case {number} (SP_SWEEP_SEED={SEED}): {shapes} {small}"


def exchange_scalar_and_vector(random, arguments):
    """Returns the arguments, of which some integers that are scalars are vectors of one element, and vectors scalars.

    Some kernels of core accept both, since old programs mix them.
    """
    def exchange(value):
        array = np.asarray(value)
        is_one = array.dtype.kind == "i" and array.shape in [(), (1,)]
        return array.reshape(() if array.ndim else (1,)) if is_one and random.chance(0.2) else value

    return [exchange(it) for it in arguments]


@pytest.mark.parametrize("op", OPS)
def test_sweep_matches_cpu(op, calls):
    before, computed = calls().get(op, 0), 0
    for number in range(CASES):
        function, arguments = OPS[op](random := Random([SEED, number, *op.encode()]))
        arguments = exchange_scalar_and_vector(random, arguments)
        case = describe(op, number, arguments)
        expected = outcome(function, arguments, "/CPU:0")
        assert_same(expected, outcome(function, arguments, f"/device:{DEVICE}:0"), case)
        computed += not is_error(expected)
        if number % 4 == 0:
            expected = outcome(in_graph(function, arguments), arguments, "/CPU:0")
            found = outcome(in_graph(function, arguments), arguments, f"/device:{DEVICE}:0")
            assert_same(expected, found, f"tf.function {case}")
    assert computed > CASES // 3, f"{computed} of {CASES} cases of {op} are valid"
    assert calls()[op] >= before + computed, f"{op} did not run in the plugin"


def gradient(function, x, device, in_function):
    """Returns the sum of the squares of the last result, and its gradient with respect to `x`."""

    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            # Square, Mul and Sum are kernels of the plugin too.
            total = tf.reduce_sum(tf.square(tf.nest.flatten(function(x))[-1]))
        return total, tape.gradient(total, x)

    run = tf.function(run, autograph=False) if in_function else run
    with tf.device(device):
        return [it.numpy() for it in run(tf.constant(x))]


X = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)
MASK = X % 3 == 0
GRADIENTS = {
    "StridedSlice": (lambda x: x[:, ::-2, 1:3], "StridedSliceGrad"),
    "StridedSlice index": (lambda x: x[..., tf.newaxis, 1], "StridedSliceGrad"),
    "Slice": (lambda x: tf.slice(x, [0, 1, 2], [2, 2, -1]), "Pad"),
    "Transpose": (lambda x: tf.transpose(x, [2, 0, 1]), "Transpose"),
    "ConcatV2": (lambda x: tf.concat([X, x, X], 1), "Slice Split SplitV"),
    "Pack": (lambda x: tf.stack([x, X], 1), "Unpack"),
    "Unpack": (lambda x: tf.unstack(x, axis=1), "Pack"),
    "Split": (lambda x: tf.split(x, 2, axis=2), "ConcatV2"),
    "SplitV": (lambda x: tf.split(x, [1, 3], axis=2), "ConcatV2"),
    "Pad": (lambda x: tf.pad(x, [[0, 1], [2, 0], [1, 1]]), "Slice"),
    "MirrorPad": (lambda x: tf.pad(x, [[0, 1], [2, 0], [1, 1]], "REFLECT"), "MirrorPadGrad"),
    "Reshape": (lambda x: tf.reshape(x, [4, -1]), "Reshape"),
    "ExpandDims": (lambda x: tf.expand_dims(x, 1), "Reshape"),
    "Squeeze": (lambda x: tf.squeeze(x[:, :, :1], -1), "Reshape"),
    "ReverseV2": (lambda x: tf.reverse(x, [0, 2]), "ReverseV2"),
    "Tile": (lambda x: tf.tile(x, [1, 2, 3]), "Sum"),
    "BroadcastTo": (lambda x: tf.broadcast_to(x, [5, 2, 3, 4]), "Sum"),
    "SelectV2": (lambda x: tf.where(MASK, x, X), "SelectV2"),
}


@pytest.mark.parametrize("in_function", [False, True])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradient_matches_cpu(name, in_function, calls):
    function, ops_of_gradient = GRADIENTS[name]
    before = calls()
    found = gradient(function, X, f"/device:{DEVICE}:0", in_function)
    after = calls()
    # TensorFlow chooses another op in a graph, where it does not know the shapes.
    for ops in (name.split()[:1], ops_of_gradient.split()):
        assert any(after[op] > before.get(op, 0) for op in ops), f"{ops} did not run in the plugin"
    for left, right in zip(gradient(function, X, "/CPU:0", in_function), found):
        np.testing.assert_array_equal(right, left)


def on_device(function, *arguments):
    with tf.device(f"/device:{DEVICE}:0"):
        return function(*arguments)


def test_reshape_shares_the_buffer_of_its_input():
    x = on_device(tf.identity, tf.ones([1000, 1000]))
    reshaped = on_device(lambda: R.Reshape(tensor=x, shape=[-1]))
    assert reshaped.shape == [1000000]
    changed = on_device(lambda: reshaped + 1.0)
    assert x.numpy().sum() == 1e6 and changed.numpy().sum() == 2e6


@pytest.mark.parametrize("op, arguments", [
    ("StridedSlice", {"input", "output"}), ("StridedSliceGrad", {"dy", "output"}), ("Slice", {"input", "output"}),
    ("ConcatV2", {"values", "output"}), ("Pack", {"values", "output"}), ("Unpack", {"value", "output"}),
    ("Fill", {"value", "output"}), ("Pad", {"input", "output"}), ("ReverseV2", {"tensor", "output"}),
    ("BroadcastTo", {"input", "output"}), ("Reshape", {"tensor", "output"}), ("OnesLike", {"y"}), ("Shape", {"input"}),
    ("Roll", {"input", "output"}),
])
def test_int32_is_in_host_memory_and_other_types_are_not(op, arguments):
    registered = [it for it in kernels.get_registered_kernels_for_op(op).kernel if it.device_type == DEVICE]
    assert len(registered) >= 15
    for kernel in registered:
        types = {it.name: tf.as_dtype(it.allowed_values.list.type[0]) for it in kernel.constraint}
        in_host_memory = arguments & set(kernel.host_memory_arg)
        assert in_host_memory == (arguments if types["T"] == tf.int32 else set()), types


def int32_arguments(kernel, arguments):
    """Returns the arguments of the op that are int32 in this kernel."""
    types = {it.name: set(it.allowed_values.list.type) for it in kernel.constraint}
    return {it.name for it in arguments if tf.int32.as_datatype_enum in ({it.type} | types.get(it.type_attr or it.type_list_attr, set()))}


def test_kernels_with_int32_output_in_host_memory_have_their_int32_inputs_there():
    """Eagerly, TensorFlow takes the address of another int32 input on the device for one in host memory."""
    found = [it for it in kernels.get_all_registered_kernels().kernel if it.device_type == DEVICE]
    assert len(found) > 1000
    for kernel in found:
        definition, host = op_def_registry.get(kernel.op), set(kernel.host_memory_arg)
        if definition and host & int32_arguments(kernel, definition.output_arg):
            assert int32_arguments(kernel, definition.input_arg) <= host, kernel


def test_unique_and_where_of_special_floats():
    x = np.array([0.0, -0.0, np.nan, np.nan, np.inf, 1.0, np.inf], np.float32)
    for op, run in [("Unique", lambda: R.Unique(x=x)), ("Where", lambda: [R.Where(condition=x)])]:
        with tf.device("/CPU:0"):
            expected = run()
        for left, right in zip(expected, on_device(run)):
            np.testing.assert_array_equal(right.numpy(), left.numpy(), err_msg=op)


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
def test_extreme_ignores_nan(op):
    x = np.array([[np.nan, 1, 3, 2], [np.nan] * 4, [-np.inf] * 4, [np.inf, np.nan, np.inf, 1]], np.float32)
    run = lambda x: getattr(R, op)(input=x, dimension=1)
    with tf.device("/CPU:0"):
        expected = run(x)
    np.testing.assert_array_equal(on_device(run, x).numpy(), expected.numpy())


def test_top_k_orders_nan_below_all_numbers():
    x = np.array([1, np.nan, -np.inf, 3, np.nan, 3], np.float32)
    values, indices = on_device(lambda: R.TopKV2(input=x, k=6))
    assert indices.numpy().tolist() == [3, 5, 0, 2, 1, 4]
    assert np.isnan(values.numpy()[4:]).all()


@pytest.mark.parametrize("perm", [[-1, 0, 1], [1, -1, -3], [-3, -2, -1]])
def test_transpose_counts_negative_axes_from_the_end(calls, perm):
    # The CPU accepts them in 2.21 and 2.22, and rejects them in 2.12.
    before = calls().get("Transpose", 0)
    found = on_device(lambda: R.Transpose(x=X, perm=perm))
    np.testing.assert_array_equal(found.numpy(), np.transpose(X, perm))
    assert calls()["Transpose"] == before + 1
    with pytest.raises(tf.errors.InvalidArgumentError):
        on_device(lambda: R.Transpose(x=X, perm=[1, -2, 0]))


def test_large_tensors_match_cpu():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(300, 411, 7)).astype(np.float32)
    picks = rng.integers(0, 300, size=5000)
    runs = [
        lambda: R.Transpose(x=x, perm=[2, 1, 0]),
        lambda: R.Transpose(x=x, perm=[0, 2, 1]),
        lambda: R.ConcatV2(values=[x, x], axis=2),
        lambda: R.GatherV2(params=x, indices=picks, axis=0),
        lambda: R.Pad(input=x, paddings=[[1, 2], [3, 4], [5, 6]]),
        lambda: R.StridedSlice(input=x, begin=[0, 0, 0], end=[300, 411, 7], strides=[2, 3, 2]),
        lambda: R.SelectV2(condition=x > 0, t=x, e=np.float32(0)),
        lambda: R.TopKV2(input=x.reshape(300, -1), k=50).values,
        lambda: R.ArgMax(input=x, dimension=1),
        lambda: R.Unique(x=(x * 100).astype(np.int32).reshape(-1)).idx,
        lambda: R.Where(condition=x > 1),
    ]
    for run in runs:
        with tf.device("/CPU:0"):
            expected = run()
        found = on_device(run)
        np.testing.assert_array_equal(found.numpy(), expected.numpy())


@pytest.mark.parametrize("op", ["Fill", "Tile", "BroadcastTo", "Pad"])
def test_results_larger_than_memory_are_errors(op):
    x = np.float32([1])
    # raw_ops convert an array of int64 to int32, the attribute's default.
    large = lambda values: tf.constant(values, tf.int64)
    runs = {
        "Fill": lambda: R.Fill(dims=large([2**40, 2**40]), value=x[0]),
        "Tile": lambda: R.Tile(input=x, multiples=large([2**62])),
        "BroadcastTo": lambda: R.BroadcastTo(input=x, shape=large([2**40, 2**40])),
        "Pad": lambda: R.Pad(input=x, paddings=large([[2**62, 2**62]])),
    }
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)):
        on_device(runs[op])
