"""Seeded cases of the ops that move and select data: shapes, attributes and arguments, some of them wrong."""

import numpy as np
import tensorflow as tf

R = tf.raw_ops
HALVES = [np.float16, tf.bfloat16.as_numpy_dtype]
NUMBERS = [np.float32, np.int32, np.float64, np.int64, np.uint8, np.int8, np.int16, np.uint16, *HALVES]
# The CPU device has no kernels of uint32 and uint64 for some of these ops in 2.12.
TYPES = [*NUMBERS, np.bool_, np.complex64, np.float32, np.int32]
BAD_INDICES = [-1, -2, 3, 99, -(2**31), 2**31 - 1]
BAD_SIZES = [-1, -2, -(2**31)]


class Random:
    """A seeded source of shapes, tensors and arguments, some of them wrong."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def below(self, limit):
        return int(self.rng.integers(limit))

    def between(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def chance(self, probability):
        return self.rng.random() < probability

    def choice(self, items):
        return items[self.below(len(items))]

    def dtype(self, types):
        """Returns the type of the case's data: one of these."""
        return self.choice(types)

    def shape(self, least=0, most=5):
        rank = self.between(6, 8) if most > 5 and self.chance(0.1) else self.between(least, min(most, 5))
        dims = [1, 2, 3] if rank > 4 else [1, 2, 3, 4, 5, 7, 17]
        return tuple(0 if self.chance(0.06) else self.choice(dims) for _ in range(rank))

    def tensor(self, shape=None, dtype=None, few=False):
        shape = self.shape(most=8) if shape is None else shape
        dtype = dtype or self.dtype(TYPES)
        return self.rng.integers(0, 4 if few else 100, size=shape).astype(dtype)

    def integers(self, values, bad, dtype=None):
        """Returns the values as int32 or int64; sometimes one is bad, or the length or the rank is wrong."""
        array = np.array(values, dtype or self.choice([np.int32, np.int64]))
        if array.size and self.chance(0.1):
            array[self.below(array.size)] = self.choice(bad)
        if self.chance(0.04):
            array = self.choice([array[:-1], np.append(array, array.dtype.type(1)), array.reshape(1, -1)])
        return array

    def axis(self, rank, dtype=None):
        axis = self.choice([-rank - 1, rank, 99]) if self.chance(0.08) else self.between(-rank, max(rank - 1, 0))
        return np.array(axis, dtype or self.choice([np.int32, np.int64]))


def transpose(op):
    def make(r):
        # With oneDNN the CPU's ConjugateTranspose of a scalar ends the process.
        x = r.tensor() if op == "Transpose" else r.tensor(r.shape(1, 5))
        return lambda x, perm: getattr(R, op)(x=x, perm=perm), [x, r.integers(r.rng.permutation(x.ndim), [3, 99, -100])]

    return make


def tile(r):
    x = r.tensor(r.shape(most=4))
    return lambda x, m: R.Tile(input=x, multiples=m), [x, r.integers([r.below(4) for _ in x.shape], BAD_SIZES)]


def broadcast_to(r):
    shape = r.shape()
    x = r.tensor(tuple(1 if r.chance(0.4) else d for d in shape)[r.below(len(shape) + 1) if shape else 0:])
    return lambda x, s: R.BroadcastTo(input=x, shape=s), [x, r.integers(shape, [0, 1, 2, -1])]


def reverse(r):
    x = r.tensor()
    axes = [a - x.ndim if r.chance(0.3) else a for a in r.rng.permutation(x.ndim)[: r.below(x.ndim + 1)]]
    return lambda x, a: R.ReverseV2(tensor=x, axis=a), [x, r.integers(axes, [0, 9, -9])]


def slice_(r):
    x = r.tensor()
    begin = [r.between(0, d) for d in x.shape]
    size = [-1 if r.chance(0.2) else r.between(0, d - b) for d, b in zip(x.shape, begin)]
    dtype = r.choice([np.int32, np.int64])
    begin, size = r.integers(begin, BAD_INDICES, dtype), r.integers(size, BAD_INDICES, dtype)
    return lambda x, b, s: R.Slice(input=x, begin=b, size=s), [x, begin, size]


def spec(r, rank):
    """Returns begin, end, strides and masks of a strided slice."""
    count = r.between(0, rank + 2) if r.chance(0.3) else r.between(0, rank)
    item = lambda: r.choice(BAD_INDICES) if r.chance(0.1) else r.between(-6, 6)
    stride = lambda: r.choice([1, 1, 1, 2, 3, -1, -2, 7, -(2**31), 2**31 - 1, 0 if r.chance(0.1) else 1])
    dtype = r.choice([np.int32, np.int64])
    arrays = [np.array([f() for _ in range(count)], dtype) for f in (item, item, stride)]
    bits = lambda p: sum(1 << i for i in range(count) if r.chance(p))
    masks = dict(begin_mask=bits(0.3), end_mask=bits(0.3), new_axis_mask=bits(0.15), shrink_axis_mask=bits(0.15))
    masks["ellipsis_mask"] = bits(0.5) if r.chance(0.05) else (1 << r.below(count)) if count and r.chance(0.3) else 0
    if r.chance(0.03):
        arrays[r.below(3)] = np.array([1, 1, 1], dtype)
    return arrays, masks


def strided_slice(r):
    x = r.tensor()
    arrays, masks = spec(r, x.ndim)
    return lambda x, b, e, s: R.StridedSlice(input=x, begin=b, end=e, strides=s, **masks), [x, *arrays]


def strided_slice_grad(r):
    x = r.tensor()
    arrays, masks = spec(r, x.ndim)
    try:
        with tf.device("/CPU:0"):
            dy = R.StridedSlice(input=x, begin=arrays[0], end=arrays[1], strides=arrays[2], **masks).numpy()
    except tf.errors.OpError:
        dy = r.tensor()
    if r.chance(0.1):
        dy = r.tensor(dtype=dy.dtype.type)
    shape = np.array(x.shape, arrays[0].dtype)
    run = lambda n, b, e, s, dy: R.StridedSliceGrad(shape=n, begin=b, end=e, strides=s, dy=dy, **masks)
    return run, [shape, *arrays, dy]


def fill(r):
    value = r.tensor(r.choice([(), (), (), (1,), (2,)]))
    return lambda d, v: R.Fill(dims=d, value=v), [r.integers(r.shape(), BAD_SIZES), value]


def zeros_like(r):
    return lambda x: R.ZerosLike(x=x), [r.tensor()]


def ones_like(r):
    return lambda x: R.OnesLike(x=x), [r.tensor()]


def paddings(r, rank, bad):
    array = np.array([[r.below(4), r.below(4)] for _ in range(rank)], r.choice([np.int32, np.int64])).reshape(rank, 2)
    if array.size and r.chance(0.1):
        array[r.below(rank), r.below(2)] = r.choice(bad)
    return array.reshape(-1) if r.chance(0.03) else array


def pad(r):
    x = r.tensor(r.shape(most=5))
    return lambda x, p: R.Pad(input=x, paddings=p), [x, paddings(r, x.ndim, BAD_SIZES)]


def pad_v2(r):
    x = r.tensor(r.shape(most=5))
    value = r.tensor((1,) if r.chance(0.05) else (), x.dtype.type)
    return lambda x, p, v: R.PadV2(input=x, paddings=p, constant_values=v), [x, paddings(r, x.ndim, BAD_SIZES), value]


def mirror_pad(r):
    x, mode = r.tensor(r.shape(most=5)), r.choice(["REFLECT", "SYMMETRIC"])
    return lambda x, p: R.MirrorPad(input=x, paddings=p, mode=mode), [x, paddings(r, x.ndim, [-1, 5, 99])]


def mirror_pad_grad(r):
    mode, dtype = r.choice(["REFLECT", "SYMMETRIC"]), r.dtype([np.float32, np.float64, np.int32])
    dims = tuple(r.choice([1, 2, 3, 5]) for _ in range(r.between(1, 4)))
    limit = lambda d: d if mode == "REFLECT" else d + 1
    added = np.array([[r.below(limit(d)), r.below(limit(d))] for d in dims], r.choice([np.int32, np.int64]))
    if r.chance(0.1):
        added[r.below(len(dims)), r.below(2)] = r.choice([-1, 5, 99])
    shape = tuple(max(int(d + sum(it)), 0) for d, it in zip(dims, np.clip(added, 0, 5)))
    return lambda x, p: R.MirrorPadGrad(input=x, paddings=p, mode=mode), [r.tensor(shape, dtype), added]


def concat_v2(r):
    shape = list(r.shape(1, 5))
    axis = r.axis(len(shape))
    parts = []
    for _ in range(r.between(2, 5)):
        part = list(shape)
        if -len(shape) <= axis < len(shape):
            part[axis] = r.choice([0, 1, 2, 3, 5])
        if r.chance(0.02):
            part[r.below(len(part))] += 1
        parts.append(part[1:] if r.chance(0.01) else part)
    dtype = r.dtype(TYPES)
    parts = [r.tensor(tuple(part), dtype) for part in parts]
    return lambda axis, *parts: R.ConcatV2(values=list(parts), axis=axis), [axis, *parts]


def concat(r):
    function, (axis, *parts) = concat_v2(r)
    run = lambda axis, *parts: R.Concat(concat_dim=axis, values=list(parts))
    return run, [axis.astype(np.int32), *parts]


def pack(r):
    shape = r.shape(0, 5)
    dtype, axis = r.dtype(TYPES), int(r.axis(len(shape) + 1))
    parts = [r.tensor(shape[1:] if r.chance(0.02) else shape, dtype) for _ in range(r.between(1, 5))]
    return lambda *parts: R.Pack(values=list(parts), axis=axis), parts


def unpack(r):
    x = r.tensor(r.shape(0 if r.chance(0.1) else 1, 5))
    axis = int(r.axis(x.ndim))
    count = x.shape[axis] if -x.ndim <= axis < x.ndim else 2
    count = count + 1 if r.chance(0.04) else count
    return lambda x: R.Unpack(value=x, num=count, axis=axis), [x]


def split(r):
    x = r.tensor(r.shape(0 if r.chance(0.1) else 1, 5))
    axis = r.axis(x.ndim, np.int32)
    dim = x.shape[axis] if -x.ndim <= axis < x.ndim else 2
    count = r.choice([n for n in range(1, max(dim, 1) + 1) if dim % n == 0] + ([2, 3] if r.chance(0.1) else []))
    return lambda axis, x: R.Split(axis=axis, value=x, num_split=count), [axis, x]


def split_v(r):
    x = r.tensor(r.shape(0 if r.chance(0.1) else 1, 5))
    axis = r.axis(x.ndim, np.int32)
    rest = x.shape[axis] if -x.ndim <= axis < x.ndim else 2
    sizes = []
    for _ in range(r.between(1, 4)):
        sizes.append(r.between(0, rest))
        rest -= sizes[-1]
    sizes[-1] += rest
    if r.chance(0.3):
        sizes[r.below(len(sizes))] = -1
    sizes = r.integers(sizes, BAD_INDICES)
    count = max(sizes.shape[-1], 1)
    return lambda x, s, axis: R.SplitV(value=x, size_splits=s, axis=axis, num_split=count), [x, sizes, axis]


def shape(r):
    out_type = r.choice([tf.int32, tf.int64])
    return lambda x: R.Shape(input=x, out_type=out_type), [r.tensor()]


def shape_n(r):
    out_type, dtype = r.choice([tf.int32, tf.int64]), r.dtype(TYPES)
    parts = [r.tensor(dtype=dtype) for _ in range(r.between(1, 4))]
    return lambda *x: R.ShapeN(input=list(x), out_type=out_type), parts


def size(r):
    out_type = r.choice([tf.int32, tf.int64])
    return lambda x: R.Size(input=x, out_type=out_type), [r.tensor()]


def rank(r):
    return lambda x: R.Rank(input=x), [r.tensor()]


def reshape(r):
    x = r.tensor()
    dims = list(r.rng.permutation(x.shape).astype(int))
    if len(dims) > 1 and r.chance(0.5):
        dims[:2] = [dims[0] * dims[1]]
    if dims and r.chance(0.4):
        dims[r.below(len(dims))] = -1
    return lambda x, s: R.Reshape(tensor=x, shape=s), [x, r.integers(dims, [-1, -2, 3, 0, 2**31 - 1])]


def squeeze(r):
    x = r.tensor()
    axes = [a for a, d in enumerate(x.shape) if d == 1 and r.chance(0.5)] + ([0] if r.chance(0.05) else [])
    axes = [a - x.ndim if r.chance(0.3) else a for a in axes] + ([9] if r.chance(0.03) else [])
    return lambda x: R.Squeeze(input=x, axis=axes), [x]


def expand_dims(r):
    x = r.tensor(r.shape(most=5))
    return lambda x, a: R.ExpandDims(input=x, axis=a), [x, r.axis(x.ndim + 1)]


def indices(r, shape, limit, dtype=None):
    values = r.rng.integers(0, max(limit, 1), size=shape).astype(dtype or r.choice([np.int32, np.int64]))
    if values.size and r.chance(0.08):
        values[tuple(r.below(d) for d in values.shape)] = r.choice([*BAD_INDICES, limit])
    return values


def gather_v2(r):
    params = r.tensor(r.shape(0 if r.chance(0.05) else 1, 4))
    axis = r.axis(params.ndim)
    resolved = int(axis) % params.ndim if params.ndim and -params.ndim <= axis < params.ndim else 0
    batch = r.between(0, min(resolved, 2))
    shape = params.shape[:batch] + r.shape(0, 2)
    batch = batch - len(shape) if r.chance(0.2) else batch + 1 if r.chance(0.04) else batch
    values = indices(r, shape, params.shape[resolved] if params.ndim else 1)
    return lambda p, i, a: R.GatherV2(params=p, indices=i, axis=a, batch_dims=batch), [params, values, axis]


def gather(r):
    params = r.tensor(r.shape(1, 4))
    return lambda p, i: R.Gather(params=p, indices=i), [params, indices(r, r.shape(0, 2), params.shape[0])]


def gather_nd(r):
    params = r.tensor(r.shape(0 if r.chance(0.05) else 1, 4))
    depth = r.between(0, params.ndim + (1 if r.chance(0.05) else 0))
    rows = r.shape(0, 2)
    limits = [*params.shape, 2][:depth]
    values = np.stack([indices(r, rows, d, np.int64) for d in limits], -1) if depth else np.zeros((*rows, 0), np.int64)
    return lambda p, i: R.GatherNd(params=p, indices=i), [params, values.astype(r.choice([np.int32, np.int64]))]


def one_hot(r):
    values = r.rng.integers(-1, 6, size=r.shape(0, 3)).astype(r.choice([np.int32, np.int64, np.uint8, np.int8]))
    dtype = r.dtype(TYPES)
    axis = r.choice([-1, -1, *range(values.ndim + 1), -2 if r.chance(0.2) else -1])
    depth = np.array(-1 if r.chance(0.05) else r.below(6), np.int32)
    on, off = r.tensor((1,) if r.chance(0.03) else (), dtype), r.tensor((), dtype)
    return lambda i, d, on, off: R.OneHot(indices=i, depth=d, on_value=on, off_value=off, axis=axis), [values, depth, on, off]


def where(r):
    # The CPU device has no kernel of float16.
    dtype = r.dtype([it for it in TYPES if it is not np.float16])
    x = r.tensor(r.shape(0 if r.chance(0.05) else 1, 8), dtype, few=r.chance(0.8))
    return lambda x: R.Where(condition=x), [np.where(r.rng.random(x.shape) < 0.4, np.zeros_like(x), x)]


def select_v2(r):
    dims, dtype = r.shape(), r.dtype(TYPES)
    part = lambda: tuple(1 if r.chance(0.3) else d for d in dims)[r.below(len(dims) + 1) if r.chance(0.4) else 0:]
    bad = lambda: (*part(), 2) if r.chance(0.03) else part()
    operands = [r.tensor(bad(), dtype) for _ in range(2)]
    return lambda c, t, e: R.SelectV2(condition=c, t=t, e=e), [r.tensor(bad(), few=True) < 2, *operands]


def select(r):
    dims, dtype = r.shape(), r.dtype(TYPES)
    condition = r.choice([dims, (), dims[:1]])
    other = r.shape() if r.chance(0.05) else dims
    operands = [r.tensor(dims, dtype), r.tensor(other, dtype)]
    return lambda c, t, e: R.Select(condition=c, x=t, y=e), [r.tensor(condition, few=True) < 2, *operands]


def top_k(r):
    x = r.tensor(r.shape(0 if r.chance(0.05) else 1, 4), r.dtype(NUMBERS), few=r.chance(0.7))
    k = np.array(r.choice([-1, 99]) if r.chance(0.06) else r.between(0, x.shape[-1] if x.ndim else 1), np.int32)
    return lambda x, k: R.TopKV2(input=x, k=k), [x, k]


def arg_extreme(op):
    def make(r):
        x = r.tensor(r.shape(0 if r.chance(0.05) else 1, 5), r.dtype(NUMBERS), few=r.chance(0.7))
        out = r.choice([tf.int32, tf.int64])
        return lambda x, d: getattr(R, op)(input=x, dimension=d, output_type=out), [x, r.axis(x.ndim)]

    return make


def unique(op):
    def make(r):
        shape = (r.choice([0, 1, 5, 40, 300]),) if r.chance(0.9) else r.shape(0, 3)
        x = r.tensor(shape, r.dtype(NUMBERS), few=r.chance(0.5))
        out = r.choice([tf.int32, tf.int64])
        return lambda x: getattr(R, op)(x=x, out_idx=out), [x]

    return make


def unique_v2(r):
    x = r.tensor(r.shape(1, 3), r.dtype(NUMBERS), few=True)
    axis = np.array([] if r.chance(0.2) else [int(r.axis(x.ndim))], np.int64)
    out = r.choice([tf.int32, tf.int64])
    return lambda x, a: R.UniqueV2(x=x, axis=a, out_idx=out), [x, axis]


def range_(r):
    dtype = r.dtype([np.int32, np.int64, np.float32, np.float64])
    whole = np.issubdtype(dtype, np.integer)
    number = lambda: r.between(-40, 40) if whole else r.rng.normal(scale=10)
    delta = dtype(0 if r.chance(0.05) else r.choice([1, 2, -1, -3]) if whole else r.rng.normal())
    numbers = [dtype(number()), dtype(number()), delta]
    if r.chance(0.06):  # a vector of one element is accepted, a matrix is not
        numbers[r.below(3)] = np.full(r.choice([(1,), (1, 1)]), 2, dtype)
    return lambda s, l, d: R.Range(start=s, limit=l, delta=d), numbers


OPS = {
    "Shape": shape, "ShapeN": shape_n, "Size": size, "Rank": rank, "Reshape": reshape, "Squeeze": squeeze,
    "ExpandDims": expand_dims, "Where": where, "Unique": unique("Unique"), "UniqueV2": unique_v2,
    "UniqueWithCounts": unique("UniqueWithCounts"), "Split": split, "SplitV": split_v, "Concat": concat, "ConcatV2": concat_v2,
    "Pack": pack, "Unpack": unpack, "TopKV2": top_k, "StridedSlice": strided_slice,
    "StridedSliceGrad": strided_slice_grad, "Slice": slice_, "GatherV2": gather_v2, "Gather": gather,
    "GatherNd": gather_nd, "Transpose": transpose("Transpose"), "ConjugateTranspose": transpose("ConjugateTranspose"), "Tile": tile, "Pad": pad, "PadV2": pad_v2, "MirrorPad": mirror_pad, "MirrorPadGrad": mirror_pad_grad,
    "BroadcastTo": broadcast_to, "Fill": fill, "ZerosLike": zeros_like, "OnesLike": ones_like, "Range": range_,
    "OneHot": one_hot, "Select": select, "SelectV2": select_v2, "ReverseV2": reverse,
    "ArgMax": arg_extreme("ArgMax"), "ArgMin": arg_extreme("ArgMin"),
}
