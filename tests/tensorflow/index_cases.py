"""Seeded cases of the ops on slices, blocks, diagonals, segments and sorted rows: some of the arguments are wrong."""

import numpy as np
import tensorflow as tf

from shape_cases import BAD_SIZES, NUMBERS, TYPES

R = tf.raw_ops
INTEGERS = [np.int32, np.int64]
# The sums of a few small numbers are exact in every type.
SUMMED = [it for it in TYPES if it is not np.bool_]


def wrong_shape(r, shape):
    """Returns the shape, or rarely another one."""
    if not r.chance(0.06):
        return tuple(shape)
    return r.choice([(*shape, 2), tuple(shape)[1:], tuple(d + 1 for d in shape), ()])


def slices(r, types):
    """Returns a tensor, indices of its slices and updates."""
    dims = r.shape(0 if r.chance(0.03) else 1, 4)
    depth = r.between(min(1, len(dims)), len(dims) + (1 if r.chance(0.03) else 0))
    rows = r.shape(0 if r.chance(0.03) else 1, 2)
    limits = [*dims, 2][:depth]
    items = [r.rng.integers(0, max(d, 1), size=rows) for d in limits]
    indices = np.stack(items, -1) if items else np.zeros((*rows, 0))
    if indices.size and r.chance(0.1):
        indices[tuple(r.below(d) for d in indices.shape)] = r.choice([-1, 99, 17, -(2**31)])
    dtype = r.dtype(types)
    shape = (*rows, *dims[depth:])
    if r.chance(0.06):  # TensorFlow's kernels abort the process if updates have too few dimensions
        shape = r.choice([(*shape, 2), tuple(d + 1 for d in shape)])
    updates = r.tensor(shape, dtype, few=True)
    return r.tensor(dims, dtype, few=True), indices.astype(r.choice(INTEGERS)), updates


def scatter_nd(r):
    tensor, indices, updates = slices(r, TYPES)
    shape = np.array(tensor.shape, indices.dtype)
    if shape.size and r.chance(0.05):
        shape[r.below(shape.size)] = r.choice(BAD_SIZES)
    return lambda i, u, s: R.ScatterNd(indices=i, updates=u, shape=s), [indices, updates, shape]


def tensor_scatter(op, types, name="tensor"):
    def make(r):
        run = lambda t, i, u: getattr(R, op)(**{name: t}, indices=i, updates=u)
        return run, list(slices(r, types))

    return make


def bitcast(r):
    numbers = [it for it in TYPES if it is not np.bool_]
    source, target = r.dtype(numbers), tf.as_dtype(r.choice(numbers))
    x = r.tensor(dtype=source)
    ratio = target.size // np.dtype(source).itemsize
    if ratio > 1 and not r.chance(0.1):
        x = r.tensor((*r.shape(most=4), ratio), source)
    return lambda x: R.Bitcast(input=x, type=target), [x]


def blocks(r, count):
    """Returns the size of blocks and two numbers of elements for each axis, and the axes' number of blocks."""
    sizes = [r.choice([1, 2, 2, 3]) for _ in range(count)]
    borders = [[r.below(4), r.below(4)] if r.chance(0.6) else [0, 0] for _ in range(count)]
    return sizes, np.array(borders).reshape(count, 2), [r.between(1, 4) for _ in range(count)]


def arrays(r, sizes, borders):
    borders = borders.astype(r.choice(INTEGERS))
    if borders.size and r.chance(0.08):
        borders[r.below(len(borders)), r.below(2)] = r.choice([-1, 99, 1])
    borders = borders.reshape(-1) if r.chance(0.03) else borders
    sizes = np.array(sizes, r.choice(INTEGERS))
    if sizes.size and r.chance(0.06):
        sizes[r.below(sizes.size)] = r.choice([0, -1, 5])
    return sizes, borders


def space_to_batch_nd(r):
    count = r.choice([0, 1, 1, 2, 2, 3])
    sizes, borders, counts = blocks(r, count)
    space = [max(n * s + s * 8 - int(sum(b)), 0) % (8 * s) if r.chance(0.9) else r.between(0, 5) for n, s, b in zip(counts, sizes, borders)]
    x = r.tensor((r.between(0, 3), *space, *r.shape(0, 2)), r.dtype(NUMBERS))
    sizes, borders = arrays(r, sizes, borders)
    return lambda x, b, p: R.SpaceToBatchND(input=x, block_shape=b, paddings=p), [x, sizes, borders]


def batch_to_space_nd(r):
    count = r.choice([0, 1, 1, 2, 2, 3])
    sizes, borders, counts = blocks(r, count)
    batch = int(np.prod(sizes)) * r.between(0, 2) + (1 if r.chance(0.05) else 0)
    x = r.tensor((batch, *counts, *r.shape(0, 2)), r.dtype(NUMBERS))
    room = [n * s - 1 for n, s in zip(counts, sizes)]
    borders = np.minimum(borders, np.array([[d // 2, (d + 1) // 2] for d in room]).reshape(count, 2))
    sizes, borders = arrays(r, sizes, borders)
    return lambda x, b, c: R.BatchToSpaceND(input=x, block_shape=b, crops=c), [x, sizes, borders]


def space_to_batch(r):
    size = r.choice([2, 2, 3])
    borders = np.array([[r.below(3), r.below(3)] for _ in range(2)])
    space = [max(r.between(1, 3) * size * 2 - int(sum(b)), 0) if r.chance(0.9) else 5 for b in borders]
    x = r.tensor(wrong_shape(r, (r.between(1, 3), *space, r.between(1, 3))), r.dtype(NUMBERS))
    _, borders = arrays(r, [], borders)
    return lambda x, p: R.SpaceToBatch(input=x, paddings=p, block_size=size), [x, borders]


def batch_to_space(r):
    size = r.choice([2, 2, 3])
    x = r.tensor(wrong_shape(r, (size * size * r.between(1, 2), 2, 3, 2)), r.dtype(NUMBERS))
    _, borders = arrays(r, [], np.array([[r.below(2), r.below(2)] for _ in range(2)]))
    return lambda x, c: R.BatchToSpace(input=x, crops=c, block_size=size), [x, borders]


def space_to_depth(r):
    size = r.choice([2, 2, 3])
    x = r.tensor(wrong_shape(r, (r.between(1, 3), size * r.between(1, 3), size * r.between(1, 3), r.between(1, 3))))
    return lambda x: R.SpaceToDepth(input=x, block_size=size), [x]


def depth_to_space(r):
    size = r.choice([2, 2, 3])
    x = r.tensor(wrong_shape(r, (r.between(1, 3), r.between(1, 3), r.between(1, 3), size * size * r.between(1, 3))))
    return lambda x: R.DepthToSpace(input=x, block_size=size), [x]


def reverse_sequence(r):
    x = r.tensor(r.shape(2, 5))
    axes = [int(it) for it in r.rng.permutation(x.ndim)[:2]]
    if r.chance(0.06):
        axes[r.below(2)] = r.choice([9, axes[0]])
    batch, seq = axes
    inside = batch < x.ndim and seq < x.ndim
    lengths = r.rng.integers(0, x.shape[seq] + 1, size=x.shape[batch]) if inside else np.zeros(2)
    lengths = r.integers(lengths, [-1, 99])
    return lambda x, l: R.ReverseSequence(input=x, seq_lengths=l, seq_dim=seq, batch_dim=batch), [x, lengths]


def roll(r):
    x = r.tensor(r.shape(0 if r.chance(0.03) else 1, 5))
    count = r.below(4)
    shift, axis = [r.between(-9, 9) for _ in range(count)], [int(r.axis(x.ndim)) for _ in range(count)]
    shift, axis = np.array(shift, r.choice(INTEGERS)), np.array(axis, r.choice(INTEGERS))
    if count and r.chance(0.3):
        shift, axis = shift[0], axis[0]
    elif r.chance(0.05):
        axis = axis[:-1]
    return lambda x, s, a: R.Roll(input=x, shift=s, axis=a), [x, shift, axis]


def reverse(r):
    x = r.tensor(r.shape(0, 6))
    dims = r.rng.random(wrong_shape(r, (x.ndim,))) < 0.5
    return lambda x, d: R.Reverse(tensor=x, dims=d), [x, np.asarray(dims)]


def matrix(r):
    return r.tensor((*r.shape(0, 2), *(r.choice([0, 1, 2, 3, 3, 5]) if r.chance(0.3) else r.between(1, 5) for _ in range(2))))


def band_part(r):
    x = matrix(r) if not r.chance(0.03) else r.tensor((3,))
    dtype = r.choice(INTEGERS)
    limit = lambda d: np.array(r.between(-1, d) if not r.chance(0.05) else d + 1, dtype)
    rows, columns = x.shape[-2:] if x.ndim > 1 else (1, 1)
    return lambda x, l, u: R.MatrixBandPart(input=x, num_lower=l, num_upper=u), [x, limit(rows), limit(columns)]


ALIGNS = ["LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"]


def diagonals(r, rows, columns):
    """Returns an argument for the range of diagonals, and the range."""
    low, high = sorted(r.between(1 - rows, max(columns - 1, 1 - rows)) for _ in range(2))
    if r.chance(0.3):
        low = high = r.choice([0, low])
    k = np.array(low if low == high and r.chance(0.5) else [low, high], np.int32)
    if r.chance(0.06):
        k = np.array(r.choice([[high + 1, low], [9, 9], [-9, 0], [0, 1, 2], [], 7, [[0, 0]]]), np.int32)
    return k, low, high


def longest(rows, columns, low, high):
    return max(min(rows + min(high, 0), columns - max(low, 0)), 0)


def options(r, version):
    return {"align": r.choice(ALIGNS)} if version == 3 else {}


def diag_part(version):
    def make(r):
        x = matrix(r) if not r.chance(0.03) else r.tensor((3,))
        k, _, _ = diagonals(r, *x.shape[-2:]) if x.ndim > 1 else (np.zeros([], np.int32), 0, 0)
        if version == 1:
            return lambda x: R.MatrixDiagPart(input=x), [x]
        padding = r.tensor((), x.dtype.type)
        align, run = options(r, version), getattr(R, f"MatrixDiagPartV{version}")
        return lambda x, k, p: run(input=x, k=k, padding_value=p, **align), [x, k, padding]

    return make


def diag(version):
    def make(r):
        batch = r.shape(0, 2)
        if version == 1:
            return lambda d: R.MatrixDiag(diagonal=d), [r.tensor((*batch, r.between(0, 5)) if not r.chance(0.03) else ())]
        rows, columns = r.between(1, 5), r.between(1, 5)
        k, low, high = diagonals(r, rows, columns)
        count = (high - low + 1,) if low != high else ()
        x = r.tensor(wrong_shape(r, (*batch, *count, longest(rows, columns, low, high))))
        stated = lambda size: np.array(r.choice([-1, -1, size, size, size, size - 1, size + 1]), np.int32)
        align, run = options(r, version), getattr(R, f"MatrixDiagV{version}")
        function = lambda x, k, m, n, p: run(diagonal=x, k=k, num_rows=m, num_cols=n, padding_value=p, **align)
        return function, [x, k, stated(rows), stated(columns), r.tensor((), x.dtype.type)]

    return make


def set_diag(version):
    def make(r):
        x = matrix(r)
        k, low, high = diagonals(r, *x.shape[-2:])
        if version == 1:
            low = high = 0
        count = (high - low + 1,) if low != high else ()
        shape = (*x.shape[:-2], *count, longest(*x.shape[-2:], low, high))
        diagonal = r.tensor(wrong_shape(r, shape), x.dtype.type)
        if version == 1:
            return lambda x, d: R.MatrixSetDiag(input=x, diagonal=d), [x, diagonal]
        align, run = options(r, version), getattr(R, f"MatrixSetDiagV{version}")
        return lambda x, d, k: run(input=x, diagonal=d, k=k, **align), [x, diagonal, k]

    return make


TENSOR_DIAG = [np.float32, np.float64, np.float16, np.int32, np.int64, np.complex64]


def tensor_diag(r):
    return lambda d: R.Diag(diagonal=d), [r.tensor(r.shape(0 if r.chance(0.05) else 1, 3), r.dtype(TENSOR_DIAG))]


def tensor_diag_part(r):
    dims = r.shape(0 if r.chance(0.05) else 1, 3)
    shape = wrong_shape(r, (*dims, *dims))
    return lambda x: R.DiagPart(input=x), [r.tensor(shape, r.dtype(TENSOR_DIAG))]


def dynamic_partition(r):
    count, data = r.between(1, 4), r.tensor(r.shape(0, 4))
    shape = data.shape[: r.between(0, data.ndim)]
    partitions = r.rng.integers(0, count, size=wrong_shape(r, shape)).astype(np.int32)
    if partitions.size and r.chance(0.08):
        partitions[tuple(r.below(d) for d in partitions.shape)] = r.choice([-1, count])
    run = lambda d, p: list(R.DynamicPartition(data=d, partitions=p, num_partitions=count))
    return run, [data, partitions]


def dynamic_stitch(op):
    def make(r):
        count, row, dtype = r.between(1, 4), r.shape(0, 2), r.dtype(TYPES)
        shapes = [r.shape(0, 2) for _ in range(count)]
        sizes = [int(np.prod(shape)) for shape in shapes]
        # Each row once: TensorFlow leaves the others uninitialized, or orders repeated ones freely.
        order = r.rng.permutation(sum(sizes)).astype(np.int32)
        parts = np.split(order, np.cumsum(sizes)[:-1])
        indices = [part.reshape(shape) for part, shape in zip(parts, shapes)]
        if r.chance(0.06) and sizes[0]:
            indices[0] = indices[0] - 99
        data = [r.tensor(wrong_shape(r, (*shape, *row)), dtype) for shape in shapes]
        run = lambda *x: getattr(R, op)(indices=list(x[:count]), data=list(x[count:]))
        return run, [*indices, *data]

    return make


def segment(op, types):
    def make(r):
        data = r.tensor(r.shape(1, 3), r.dtype(types), few=True)
        ids = np.sort(r.rng.integers(0, 4, size=data.shape[0]))
        if r.chance(0.08):
            ids = r.choice([ids[::-1], ids - 2, ids[:-1], ids.reshape(1, -1)])
        return lambda d, i: getattr(R, op)(data=d, segment_ids=i), [data, ids.astype(r.choice(INTEGERS))]

    return make


def unsorted_segment(op, types):
    def make(r):
        data = r.tensor(r.shape(1, 3), r.dtype(types), few=True)
        ids = r.rng.integers(-1, 4, size=wrong_shape(r, data.shape[: r.between(0, data.ndim)]))
        count = np.array(-1 if r.chance(0.04) else r.between(3, 5), r.choice(INTEGERS))
        run = lambda d, i, n: getattr(R, op)(data=d, segment_ids=i, num_segments=n)
        return run, [data, ids.astype(r.choice(INTEGERS)), count]

    return make


def sparse_segment(op, types):
    def make(r):
        data = r.tensor((r.between(1, 5), *r.shape(0, 2)), r.dtype(types), few=True)
        count = r.below(6)
        indices = r.rng.integers(0, data.shape[0], size=count)
        if count and r.chance(0.08):
            indices[r.below(count)] = r.choice([-1, 99])
        ids = np.sort(r.rng.integers(0, 4, size=max(count + (1 if r.chance(0.03) else 0), 0)))
        ids = ids[::-1] if r.chance(0.04) else ids
        # The CPU's gradient without indices is uninitialized memory.
        of_data = (lambda d: d) if count else tf.stop_gradient
        run = lambda d, i, s: getattr(R, op)(data=of_data(d), indices=i, segment_ids=s)
        return run, [data, indices.astype(r.choice(INTEGERS)), ids.astype(r.choice(INTEGERS))]

    return make


def running(op, types):
    def make(r):
        x = r.tensor(r.shape(1, 4), r.dtype(types), few=True)
        flags = dict(exclusive=r.chance(0.5), reverse=r.chance(0.5))
        return lambda x, a: getattr(R, op)(x=x, axis=a, **flags), [x, r.axis(x.ndim)]

    return make


def weights_of(r, shape):
    dtype = r.dtype([np.float32, np.float64, np.int32, np.int64])
    return r.tensor((0,) if r.chance(0.5) else wrong_shape(r, shape), dtype, few=True)


def values_of(r, shape, dtype):
    values = r.rng.integers(0, 8, size=shape).astype(dtype)
    if values.size and r.chance(0.06):
        values[tuple(r.below(d) for d in values.shape)] = -1
    return values


def bincount(r):
    values = values_of(r, r.shape(0, 3), np.int32)
    size = np.array(-1 if r.chance(0.05) else r.below(8), np.int32)
    return lambda v, s, w: R.Bincount(arr=v, size=s, weights=w), [values, size, weights_of(r, values.shape)]


def dense_bincount(r):
    # The result of a scalar has no elements in early releases, such as 2.15.
    values = values_of(r, r.shape(1, 3 if r.chance(0.05) else 2), r.choice(INTEGERS))
    size = np.array(-1 if r.chance(0.05) else r.between(1, 8), values.dtype)
    is_binary = r.chance(0.5)
    run = lambda v, s, w: R.DenseBincount(input=v, size=s, weights=w, binary_output=is_binary)
    return run, [values, size, weights_of(r, values.shape)]


def bound(op):
    def make(r):
        rows, dtype = r.between(0, 3), r.dtype(NUMBERS)
        inputs = np.sort(r.rng.integers(0, 9, size=wrong_shape(r, (rows, r.below(6))) or (2,))).astype(dtype)
        values = r.rng.integers(0, 10, size=wrong_shape(r, (rows, r.below(6)))).astype(dtype)
        out = r.choice([tf.int32, tf.int64])
        return lambda s, v: getattr(R, op)(sorted_inputs=s, values=v, out_type=out), [inputs, values]

    return make


def in_top_k(r):
    rows, classes = r.between(0, 5), r.between(1, 7)
    predictions = r.rng.integers(0, 5, size=(rows, classes)).astype(np.float32)
    if predictions.size and r.chance(0.3):
        predictions[r.below(rows), r.below(classes)] = r.choice([np.nan, np.inf, -np.inf])
    targets = r.rng.integers(-1, classes + 1, size=wrong_shape(r, (rows,))).astype(r.dtype(INTEGERS))
    return predictions, targets, r.between(-1, classes + 1)


def in_top_k_v1(r):
    predictions, targets, k = in_top_k(r)
    return lambda p, t: R.InTopK(predictions=p, targets=t, k=k), [predictions, targets]


def in_top_k_v2(r):
    predictions, targets, k = in_top_k(r)
    return lambda p, t, k: R.InTopKV2(predictions=p, targets=t, k=k), [predictions, targets, targets.dtype.type(k)]


OPS = {
    "ScatterNd": scatter_nd, "TensorScatterUpdate": tensor_scatter("TensorScatterUpdate", TYPES),
    **{f"TensorScatter{it}": tensor_scatter(f"TensorScatter{it}", SUMMED) for it in ("Add", "Sub")},
    **{f"TensorScatter{it}": tensor_scatter(f"TensorScatter{it}", NUMBERS) for it in ("Min", "Max")},
    "ScatterNdNonAliasingAdd": tensor_scatter("ScatterNdNonAliasingAdd", TYPES, "input"),
    "Bitcast": bitcast, "SpaceToBatchND": space_to_batch_nd, "BatchToSpaceND": batch_to_space_nd,
    "SpaceToBatch": space_to_batch, "BatchToSpace": batch_to_space, "SpaceToDepth": space_to_depth,
    "DepthToSpace": depth_to_space, "ReverseSequence": reverse_sequence, "Roll": roll, "Reverse": reverse,
    "MatrixBandPart": band_part, "MatrixDiagPart": diag_part(1), "MatrixDiagPartV2": diag_part(2),
    "MatrixDiagPartV3": diag_part(3), "MatrixDiag": diag(1), "MatrixDiagV2": diag(2), "MatrixDiagV3": diag(3),
    "MatrixSetDiag": set_diag(1), "MatrixSetDiagV2": set_diag(2), "MatrixSetDiagV3": set_diag(3), "Diag": tensor_diag,
    "DiagPart": tensor_diag_part, "DynamicPartition": dynamic_partition, "DynamicStitch": dynamic_stitch("DynamicStitch"),
    "ParallelDynamicStitch": dynamic_stitch("ParallelDynamicStitch"),
    **{f"Segment{it}": segment(f"Segment{it}", NUMBERS) for it in ("Sum", "Mean", "Prod", "Min", "Max")},
    **{f"UnsortedSegment{it}": unsorted_segment(f"UnsortedSegment{it}", NUMBERS) for it in ("Sum", "Prod", "Min", "Max")},
    "SparseSegmentSum": sparse_segment("SparseSegmentSum", NUMBERS),
    **{it: running(it, NUMBERS) for it in ("Cumsum", "Cumprod")},
    "Bincount": bincount, "DenseBincount": dense_bincount, "LowerBound": bound("LowerBound"),
    "UpperBound": bound("UpperBound"), "InTopK": in_top_k_v1, "InTopKV2": in_top_k_v2,
}
