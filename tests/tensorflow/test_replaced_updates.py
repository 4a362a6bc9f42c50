"""Rows of variables in graphs of the releases in which no kernel of a plugin can use a variable: the plugin's optimizer reads the
variable, computes with ops of tensors, and assigns the result. Elsewhere the ops return errors that state what to use instead."""

import re

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE, RELEASE

pytestmark = [
    pytest.mark.skipif(not (2, 19) <= RELEASE <= (2, 21), reason="core exports the functions of variables"),
    pytest.mark.usefixtures("hard_placement"),
]

ON_DEVICE = f"/device:{DEVICE}:0"
# The op of tensors that changes rows or slices.
CHANGED = {op: f"TensorScatter{op}" for op in ("Add", "Sub", "Min", "Max", "Update")}
TABLES = [np.float32, np.float64, tf.half.as_numpy_dtype, tf.bfloat16.as_numpy_dtype, np.int64]


def values(*shape, seed=0, dtype=np.float32):
    """Returns small integers, whose sums are exact in each type."""
    return np.random.default_rng(seed).integers(1, 9, shape).astype(dtype)


def constant(array):
    """Returns a tensor of float32. `tf.ones` would run Fill, for which the plugin has no kernel."""
    return tf.constant(np.asarray(array, np.float32))


def in_graph(function, variable, *arguments):
    """Calls `function(variable, *arguments)` in a graph that is large enough for the plugin's optimizer."""

    @tf.function
    def step(*arguments):
        result = function(variable, *arguments)
        return [result, variable.read_value()]

    return step(*arguments)


def replaced_on_both(calls, op, table, function, *arguments):
    """Returns the results of a graph on both devices. On ours the graph calls the plugin's kernel of `op`."""
    results = []
    for device in "/CPU:0", ON_DEVICE:
        before = calls().get(op, 0)
        with tf.device(device):
            variable = tf.Variable(table)
            tensors = [tf.constant(it) for it in arguments]
            results.append([it.numpy() for it in in_graph(function, variable, *tensors) if it is not None] + [variable.numpy()])
        assert calls().get(op, 0) - before == (1 if device == ON_DEVICE else 0), op
    for expected, found in zip(*results, strict=True):
        assert expected.dtype == found.dtype
        np.testing.assert_allclose(found.astype(np.float64), expected.astype(np.float64), rtol=1e-6)


@pytest.mark.parametrize("op", sorted(CHANGED))
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("row", [(), (4,), (2, 3)])
def test_graph_changes_rows_by_op_of_tensors(calls, op, index, row):
    # Repeated indices, several dims of indices, and none.
    for indices in ([3, 0, 3], [[4, 0], [4, 2]], np.zeros([0])):
        indices = np.array(indices, index)
        for dtype in TABLES + ([np.bool_] if op == "Update" else []):
            table, updates = (values(*shape, *row, seed=1, dtype=dtype) for shape in [(5,), indices.shape])

            def scatter(variable, indices, updates):
                getattr(tf.raw_ops, f"ResourceScatter{op}")(resource=variable.handle, indices=indices, updates=updates)

            replaced_on_both(calls, CHANGED[op], table, scatter, indices, updates)


@pytest.mark.parametrize("op", sorted(CHANGED))
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_graph_changes_slices_by_op_of_tensors(calls, op, depth):
    limits = (5, 3, 4)
    items = [np.random.default_rng(axis).integers(0, limits[axis], (2, 3)) for axis in range(depth)]
    for dtype in TABLES:
        table, updates = (values(*shape, seed=1, dtype=dtype) for shape in [limits, (2, 3, *limits[depth:])])

        def scatter(variable, indices, updates):
            getattr(tf.raw_ops, f"ResourceScatterNd{op}")(ref=variable.handle, indices=indices, updates=updates)

        replaced_on_both(calls, CHANGED[op], table, scatter, np.stack(items, -1), updates)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("batch_dims", [0, 1, 2])
def test_graph_reads_rows_by_op_of_tensors(calls, index, batch_dims):
    for dtype in TABLES + [np.bool_]:
        table = values(3, 2, 5, 4, dtype=dtype)
        indices = np.random.default_rng(1).integers(0, 2, (3, 2, 3)).astype(index)
        gather = lambda variable, indices: tf.raw_ops.ResourceGather(
            resource=variable.handle, indices=indices, dtype=table.dtype, batch_dims=batch_dims)
        replaced_on_both(calls, "GatherV2", table, gather, indices)


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_graph_reads_slices_by_op_of_tensors(calls, depth):
    for dtype in TABLES + [np.bool_]:
        table = values(3, 4, 5, dtype=dtype)
        indices = np.random.default_rng(1).integers(0, 3, (2, 2, depth))
        gather = lambda variable, indices: tf.raw_ops.ResourceGatherNd(resource=variable.handle, indices=indices, dtype=table.dtype)
        replaced_on_both(calls, "GatherNd", table, gather, indices)


def test_graph_reads_and_changes_rows_in_order():
    def step(variable, indices, updates):
        total = tf.zeros([2, 2])
        for _ in range(3):
            total += tf.gather(variable, indices)
            variable.scatter_add(tf.IndexedSlices(updates, indices))
            variable.scatter_nd_update(tf.expand_dims(indices[:1], 1), tf.gather(variable, indices[:1]) * 2.0)
        return total

    results = []
    for device in "/CPU:0", ON_DEVICE:
        with tf.device(device):
            variable = tf.Variable(values(5, 2))
            indices, updates = tf.constant([3, 1]), constant(values(2, 2, seed=1))
            results.append([it.numpy() for it in in_graph(step, variable, indices, updates)])
    for expected, found in zip(*results, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("is_taken", [False, True])
def test_loop_and_branch_change_rows(is_taken):
    """The constants of a replaced op are in the loop's frame, and belong to the branch."""

    def step(variable, indices, updates):
        for count in tf.range(3):
            if tf.logical_and(is_taken_there, count > 0):
                variable.scatter_sub(tf.IndexedSlices(updates, indices))
                updates = updates + tf.gather(variable, indices)
        return updates

    results = []
    for device in "/CPU:0", ON_DEVICE:
        with tf.device(device):
            variable, is_taken_there = tf.Variable(values(5, 2)), tf.constant(is_taken)
            indices, updates = tf.constant([3, 1]), constant(values(2, 2, seed=1))
            results.append([it.numpy() for it in in_graph(step, variable, indices, updates)])
    for expected, found in zip(*results, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("indices", "updates"), [([[5]], [[[1, 1]]]), ([-1], [[1, 1]]), ([1], [1, 1, 1]), (1, [1, 1]), ([1, 2], 1)],
    ids=["past the end", "negative", "other shape", "one index without dims", "one update for all rows"],
)
def test_replaced_change_of_rows_rejects_indices_and_shapes(indices, updates):
    """The last two are right for the op of variables; no op of tensors has them."""

    def scatter(variable, indices, updates):
        tf.raw_ops.ResourceScatterAdd(resource=variable.handle, indices=indices, updates=updates)

    with tf.device(ON_DEVICE):
        variable = tf.Variable(values(5, 2))
        # TensorFlow rejects the other shape when it traces the function.
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match="TensorScatterAdd|indices|updates|Shapes"):
            in_graph(scatter, variable, tf.constant(indices), constant(updates))
    np.testing.assert_array_equal(variable.numpy(), values(5, 2))


@pytest.mark.parametrize("op", ["Mul", "Div"])
def test_products_of_rows_have_results_of_cpu(op):
    def scatter(variable, indices, updates):
        getattr(tf.raw_ops, f"ResourceScatter{op}")(resource=variable.handle, indices=indices, updates=updates)

    results = []
    for device in "/CPU:0", ON_DEVICE:
        with tf.device(device):
            variable = tf.Variable(values(5, 2))
            in_graph(scatter, variable, tf.constant([1, 3, 1]), constant([[2, 4], [5, 3], [8, 2]]))
            results.append(variable.numpy())
    np.testing.assert_allclose(results[1], results[0], rtol=1e-6)


SLICES = {
    "row": (lambda v: v[1], [4, 3]), "rows": (lambda v: v[1:4:2], [2, 4, 3]), "broadcast": (lambda v: v[..., 2], [1]), "element": (lambda v: v[2, 1, 0], []),
    "backward": (lambda v: v[::-1, tf.newaxis, 1:], [5, 1, 3, 3]), "empty": (lambda v: v[4:1], [0, 4, 3]),
}  # fmt: skip


@pytest.mark.parametrize("name", SLICES)
def test_graph_assigns_strided_slice_by_op_of_tensors(calls, name):
    part, shape = SLICES[name]
    for dtype in TABLES + [np.bool_]:
        table, value = values(5, 4, 3, dtype=dtype), values(*shape, seed=1, dtype=dtype)

        def assign(variable, value):
            part(variable).assign(value)

        replaced_on_both(calls, "TensorStridedSliceUpdate", table, assign, value)


def remedied(call, variable, **names):
    """Returns the value of the expression that the error of `call` states; its names are those of the op's arguments."""
    with pytest.raises(tf.errors.UnimplementedError) as error:
        call(variable)
    (remedy,) = re.findall(r"; use (.*) \[Op:", str(error.value))
    return eval(remedy, {"tf": tf, "variable": variable, **names})


def expect_remedy(call, table, **arguments):
    """Checks that the stated remedy has the result of the CPU's kernel, and the same effect on the variable."""
    with tf.device("/CPU:0"):
        on_cpu = tf.Variable(table)
        expected = call(on_cpu)
    with tf.device(ON_DEVICE):
        variable = tf.Variable(table)
        found = remedied(call, variable, **arguments)
    np.testing.assert_array_equal(variable.numpy(), on_cpu.numpy())
    if isinstance(expected, tf.Tensor):
        np.testing.assert_array_equal(found.numpy(), expected.numpy())


@pytest.mark.parametrize("op", sorted(CHANGED))
def test_change_of_rows_outside_of_a_graph_has_the_stated_remedy(op):
    indices, updates = np.array([3, 0, 3]), values(3, 2, seed=1)

    def scatter(variable):
        getattr(tf.raw_ops, f"ResourceScatter{op}")(resource=variable.handle, indices=indices, updates=updates)

    expect_remedy(scatter, values(5, 2), indices=indices, updates=updates)


@pytest.mark.parametrize("op", sorted(CHANGED))
def test_change_of_slices_outside_of_a_graph_has_the_stated_remedy(op):
    indices, updates = np.array([[3, 0], [0, 1], [3, 0]]), values(3, seed=1)

    def scatter(variable):
        getattr(tf.raw_ops, f"ResourceScatterNd{op}")(ref=variable.handle, indices=indices, updates=updates)

    expect_remedy(scatter, values(5, 2), indices=indices, updates=updates)


def test_selection_outside_of_a_graph_has_the_stated_remedy():
    indices = np.array([[3, 0], [0, 1]])
    for op in tf.raw_ops.ResourceGather, tf.raw_ops.ResourceGatherNd:
        gather = lambda variable: op(resource=variable.handle, indices=indices, dtype=tf.float32)
        expect_remedy(gather, values(5, 2), indices=indices)
