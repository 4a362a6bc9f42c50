"""Kernels of slices, blocks, segments and running totals, beside the sweep of `test_shape_ops.py`: special values, options
that the CPU's kernels lack, and results that are rounded in another order."""

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE, RELEASE
from test_op_families import assert_same, normal

RAW_OPS = tf.raw_ops
BF16 = tf.bfloat16.as_numpy_dtype


@pytest.mark.parametrize("op", ["SpaceToDepth", "DepthToSpace"])
@pytest.mark.parametrize("size", [2, 3])
def test_blocks_of_channels_first_match_those_of_channels_last(in_plugin, op, size):
    x = np.arange(2 * 6 * 6 * 36, dtype=np.float32).reshape(2, 6, 6, 36)
    with tf.device("/CPU:0"):
        expected = getattr(RAW_OPS, op)(input=x, block_size=size).numpy().transpose(0, 3, 1, 2)
    with in_plugin(op):
        found = getattr(RAW_OPS, op)(input=x.transpose(0, 3, 1, 2), block_size=size, data_format="NCHW")
    np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize("op,names", [("ScatterNd", ()), ("TensorScatterAdd", ("tensor",)), ("ScatterNdNonAliasingAdd", ("input",))])
@pytest.mark.skipif(RELEASE < (2, 18), reason="the ops have the attribute since 2.18")
def test_ignored_indices_are_left_out(in_plugin, op, names):
    arguments = {"indices": np.array([[7], [1], [-1]]), "updates": np.float32([1, 2, 3])}
    arguments |= {name: np.zeros([4], np.float32) for name in names} or {"shape": np.array([4])}
    run = lambda policy: getattr(RAW_OPS, op)(**arguments, bad_indices_policy=policy)
    with in_plugin(op):
        found = run("IGNORE")
    assert found.numpy().tolist() == [0, 2, 0, 0]
    for policy in ("", "DEFAULT", "ERROR"):
        with in_plugin(op), pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = \[7\] does not index"):
            run(policy)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unknown bad indices handling attribute: ignore"):
        run("ignore")


@pytest.mark.skipif(RELEASE < (2, 18), reason="the op has the attribute since 2.18")
def test_gathered_slice_of_ignored_indices_is_zero(in_plugin):
    arguments = {"params": np.float32([[5, 6], [7, 8]]), "indices": [[1], [2], [0]]}
    with in_plugin("GatherNd"):
        found = RAW_OPS.GatherNd(**arguments, bad_indices_policy="IGNORE")
    assert found.numpy().tolist() == [[7, 8], [0, 0], [5, 6]]
    with in_plugin("GatherNd"), pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = \[2\] does not index"):
        RAW_OPS.GatherNd(**arguments)


def test_scatter_changes_a_copy_if_the_input_is_used_again():
    with tf.device(f"/device:{DEVICE}:0"):
        x = tf.zeros([3])
        changed = RAW_OPS.TensorScatterUpdate(tensor=x, indices=[[1]], updates=[5.0])
    assert (x.numpy().tolist(), changed.numpy().tolist()) == ([0, 0, 0], [0, 5, 0])


@pytest.mark.parametrize("op", ["SegmentMin", "SegmentMax", "UnsortedSegmentMin", "UnsortedSegmentMax"])
@pytest.mark.skipif(RELEASE >= (2, 22), reason="the CPU's result is NaN from 2.22 on")
def test_extremes_of_segments_with_nan(on_both, op):
    data = np.array([np.nan, 1, 2, np.nan, 7], np.float32)
    options = {"num_segments": 6} if op.startswith("Unsorted") else {}
    run = lambda data, ids: getattr(RAW_OPS, op)(data=data, segment_ids=ids, **options)
    assert_same(on_both(op, run, data, np.array([0, 0, 1, 1, 4])))


@pytest.mark.parametrize("op", ["SparseSegmentMean", "SparseSegmentSqrtN"])
def test_quotients_of_sparse_segments(on_both, in_plugin, op):
    run = lambda data, indices, ids: getattr(RAW_OPS, op)(data=data, indices=indices, segment_ids=ids)
    indices, ids = np.array([4, 0, 0, 2, 3], np.int32), np.array([0, 0, 0, 2, 2], np.int32)
    for dtype, rtol in ((np.float32, 1e-6), (np.float64, 1e-12), (BF16, 2e-2)):
        assert_same(on_both(op, run, normal((5, 7), dtype), indices, ids), rtol=rtol)
    for bad in ([5, 0, 0, 0, 0], [-1, 0, 0, 0, 0]):
        with in_plugin(op), pytest.raises(tf.errors.InvalidArgumentError):
            run(normal((5, 7)), np.array(bad, np.int32), ids)


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_logarithm_of_sums(on_both, exclusive, reverse):
    op = "CumulativeLogsumexp"
    run = lambda axis: lambda x: getattr(RAW_OPS, op)(x=x, axis=axis, exclusive=exclusive, reverse=reverse)
    for dtype, rtol in ((np.float32, 1e-5), (np.float64, 1e-10), (np.float16, 1e-2)):
        for axis in (0, -1):
            assert_same(on_both(op, run(axis), 10 * normal((5, 4, 30), dtype)), rtol=rtol)
    special = np.array([-np.inf, -np.inf, 3, np.inf, 1], np.float32)
    assert_same(on_both(op, run(0), special), rtol=1e-6)


def test_ranks_of_ties_and_special_values(on_both):
    predictions = np.float32([[1, 2, 2], [np.inf, 1, 0], [3, 2, 1], [1, 1, 1], [np.nan, 1, 1]])
    targets = np.array([1, 1, 7, 0, 1], np.int32)
    for k in (-1, 0, 1, 2, 5):
        assert_same(on_both("InTopKV2", lambda p, t: RAW_OPS.InTopKV2(predictions=p, targets=t, k=k), predictions, targets))


@pytest.mark.parametrize("op", ["LowerBound", "UpperBound"])
def test_bounds_of_special_values(on_both, op):
    rows = np.float32([[-np.inf, 0, 1, np.inf]])
    values = np.float32([[np.nan, -np.inf, np.inf, -0.0, 0.5]])
    assert_same(on_both(op, lambda s, v: getattr(RAW_OPS, op)(sorted_inputs=s, values=v), rows, values))


def test_models_that_use_blocks_and_slices_match_cpu():
    """A dilated convolution, whose gradient has the other movement of blocks, and the gradient of a gather."""
    x, kernel = normal((2, 9, 8, 3)), normal((3, 3, 3, 4), seed=4)
    results = []
    for device in ("/CPU:0", f"/device:{DEVICE}:0"):
        with tf.device(device):
            inputs = tf.constant(x)
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                blocks = tf.space_to_batch(inputs, [2, 2], [[1, 2], [0, 2]])
                y = tf.batch_to_space(tf.nn.conv2d(blocks, kernel, 1, "SAME"), [2, 2], [[1, 2], [0, 2]])
                picked = tf.gather_nd(tf.roll(y, 3, 2), [[0, 1], [1, 7], [0, 1]])
                total = tf.reduce_sum(tf.square(picked)) + tf.reduce_sum(tf.linalg.band_part(y, 2, 1))
            results.append((y.numpy(), tape.gradient(total, inputs).numpy()))
    for expected, found in zip(*results):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
