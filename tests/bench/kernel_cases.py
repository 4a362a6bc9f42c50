"""The cases of `kernels.py`: ops with shapes and types, from tiny tensors to those that fit in no cache."""

import dataclasses
import typing

import numpy as np
import tensorflow as tf

R = tf.raw_ops
HALF = tf.bfloat16.as_numpy_dtype


@dataclasses.dataclass
class Case:
    """A function of tensors; an input is a shape, or a shape with a type, or values."""

    name: str
    run: typing.Callable
    inputs: list

    def values(self):
        random = np.random.default_rng(1)
        return [value(random, it) for it in self.inputs]


def value(random, of):
    if isinstance(of, np.ndarray):
        return of
    shape, dtype = of if of and isinstance(of[0], tuple) else (of, np.float32)
    numbers = random.normal(size=shape)
    if np.dtype(dtype).kind in "iu":
        return (numbers * 100).astype(dtype)
    return (numbers > 0) if dtype == np.bool_ else numbers.astype(dtype)


SIZES = {"8": (8,), "64x256": (64, 256), "1000x1000": (1000, 1000)}


def unary():
    for name in "Relu Exp Log Tanh Sigmoid Sqrt Rsqrt Square Neg Abs Elu Softplus Erf".split():
        run = named(name)
        for size, shape in list(SIZES.items())[0 if name in ("Relu", "Exp", "Tanh") else 1:]:
            yield Case(f"{name} {size}", run, [np.abs(np.random.default_rng(2).normal(size=shape)).astype(np.float32)])


def core_kernels():
    """Yields a kernel of core itself, which runs on a plugin's device too: TensorFlow's own part of a call."""
    yield Case("Identity 8, a kernel of core", lambda x: R.Identity(input=x), [(8,)])


def named(name):
    """Returns a function that calls an op of one input."""
    op = getattr(R, name)
    argument = "features" if name in ("Relu", "Elu", "Softplus") else "x"
    return lambda x: op(**{argument: x})


def binary():
    for name in "AddV2 Mul Sub RealDiv Maximum SquaredDifference Less".split():
        op = getattr(R, name)
        for size, shape in SIZES.items():
            yield Case(f"{name} {size}", lambda x, y, op=op: op(x=x, y=y), [shape, shape])
    add = lambda x, y: R.AddV2(x=x, y=y)
    for x, y in [((1000, 1000), (1000,)), ((1000, 1000), (1000, 1)), ((64, 256), (256,)), ((1_000_000,), ()), ((10_000_000,), (10_000_000,))]:
        yield Case(f"AddV2 {x} + {y}", add, [x, y])
    for dtype in (np.float16, HALF, np.int8, np.int64, np.float64):
        yield Case(f"AddV2 {np.dtype(dtype).name} 1000x1000", add, [((1000, 1000), dtype)] * 2)
    for dtype in (HALF, np.float16):
        yield Case(f"Mul {np.dtype(dtype).name} 64x256", lambda x, y: R.Mul(x=x, y=y), [((64, 256), dtype)] * 2)
    for dtype in (np.float16, np.uint8):
        yield Case(f"Less {np.dtype(dtype).name} 1000x1000", lambda x, y: R.Less(x=x, y=y), [((1000, 1000), dtype)] * 2)
    yield Case("SelectV2 1000x1000", lambda c, x, y: R.SelectV2(condition=c, t=x, e=y), [((1000, 1000), np.bool_), (1000, 1000), (1000, 1000)])


def casts():
    for source, target in [(np.float32, tf.int32), (np.int64, tf.float32), (np.float32, tf.half), (np.float32, tf.bfloat16), (HALF, tf.float32), (np.bool_, tf.float32), (np.bool_, tf.bfloat16), (np.float16, tf.float32)]:
        for size in ("64x256", "1000x1000"):
            yield Case(f"Cast {np.dtype(source).name} to {target.name} {size}", lambda x, to=target: R.Cast(x=x, DstT=to), [(SIZES[size], source)])


def reductions():
    for name, axes in [("Sum", ([0, 1], [0], [1])), ("Mean", ([1],)), ("Max", ([0], [1])), ("Prod", ([1],))]:
        op = getattr(R, name)
        for size in ("64x256", "1000x1000"):
            for axis in axes:
                yield Case(f"{name} {size} of axes {axis}", lambda x, op=op, axis=axis: op(input=x, axis=axis), [SIZES[size]])
    yield Case("Sum 8x32x32x64 of axes [1, 2]", lambda x: R.Sum(input=x, axis=[1, 2]), [(8, 32, 32, 64)])
    yield Case("ArgMax 1000x1000 of axis 1", lambda x: R.ArgMax(input=x, dimension=1), [(1000, 1000)])
    yield Case("ArgMax 1000000", lambda x: R.ArgMax(input=x, dimension=0), [(1_000_000,)])
    yield Case("Cumsum 1000x1000 of axis 1", lambda x: R.Cumsum(x=x, axis=1), [(1000, 1000)])


def products():
    mat_mul = lambda a, b: R.MatMul(a=a, b=b)
    for m, k, n in [(2, 4, 8), (32, 784, 128), (128, 128, 128), (512, 512, 512), (1024, 1024, 1024), (2048, 64, 2048), (1, 1024, 1024), (256, 1000, 10)]:
        yield Case(f"MatMul {m}x{k}x{n}", mat_mul, [(m, k), (k, n)])
    yield Case("MatMul 128x256x512, a transposed", lambda a, b: R.MatMul(a=a, b=b, transpose_a=True), [(256, 128), (256, 512)])
    yield Case("MatMul 128x256x512, b transposed", lambda a, b: R.MatMul(a=a, b=b, transpose_b=True), [(128, 256), (512, 256)])
    yield Case("MatMul bfloat16 512x512x512", mat_mul, [((512, 512), HALF)] * 2)
    yield Case("BatchMatMulV2 32x64x64x64", lambda x, y: R.BatchMatMulV2(x=x, y=y), [(32, 64, 64)] * 2)
    yield Case("BatchMatMulV2 8x4x50x16, y adjoint", lambda x, y: R.BatchMatMulV2(x=x, y=y, adj_y=True), [(8, 4, 50, 16)] * 2)
    yield Case("BiasAdd 64x1024", lambda x, b: R.BiasAdd(value=x, bias=b), [(64, 1024), (1024,)])
    yield Case("BiasAdd 8x32x32x64", lambda x, b: R.BiasAdd(value=x, bias=b), [(8, 32, 32, 64), (64,)])
    yield Case("BiasAddGrad 8x32x32x64", lambda x: R.BiasAddGrad(out_backprop=x), [(8, 32, 32, 64)])


def convolutions():
    for image, filter, stride in [((8, 28, 28, 32), (3, 3, 32, 64), 1), ((8, 28, 28, 64), (1, 1, 64, 128), 1), ((1, 224, 224, 3), (7, 7, 3, 64), 2), ((4, 56, 56, 64), (3, 3, 64, 64), 1), ((16, 12, 12, 8), (3, 3, 8, 16), 1), ((8, 14, 14, 256), (3, 3, 256, 256), 1)]:
        options = dict(strides=[1, stride, stride, 1], padding="SAME")
        name = f"{'x'.join(map(str, image))} by {'x'.join(map(str, filter))} / {stride}"
        output = (image[0], -(-image[1] // stride), -(-image[2] // stride), filter[3])
        yield Case(f"Conv2D {name}", lambda x, f, o=options: R.Conv2D(input=x, filter=f, **o), [image, filter])
        yield Case(f"Conv2DBackpropInput {name}", lambda d, f, o=options, i=image: R.Conv2DBackpropInput(input_sizes=i, filter=f, out_backprop=d, **o), [output, filter])
        yield Case(f"Conv2DBackpropFilter {name}", lambda x, d, o=options, f=filter: R.Conv2DBackpropFilter(input=x, filter_sizes=f, out_backprop=d, **o), [image, output])
    options = dict(strides=[1, 1, 1, 1], padding="SAME")
    yield Case("DepthwiseConv2dNative 8x28x28x32 by 3x3", lambda x, f: R.DepthwiseConv2dNative(input=x, filter=f, **options), [(8, 28, 28, 32), (3, 3, 32, 1)])


def networks():
    pool = dict(ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    images = (8, 32, 32, 64)
    yield Case("MaxPool 8x32x32x64", lambda x: R.MaxPool(input=x, **pool), [images])
    yield Case("AvgPool 8x32x32x64", lambda x: R.AvgPool(value=x, **pool), [images])
    yield Case("MaxPoolGrad 8x32x32x64", lambda x, y, d: R.MaxPoolGrad(orig_input=x, orig_output=y, grad=d, **pool), [images, (8, 16, 16, 64), (8, 16, 16, 64)])
    vectors = [np.abs(np.random.default_rng(3).normal(size=64)).astype(np.float32) for _ in range(4)]
    for training in (True, False):
        run = lambda x, s, o, m, v, t=training: R.FusedBatchNormV3(x=x, scale=s, offset=o, mean=m, variance=v, is_training=t)
        yield Case(f"FusedBatchNormV3 8x32x32x64 {'training' if training else 'inference'}", run, [images, *vectors])
    for size in ("64x256", "1000x1000"):
        for name in ("Softmax", "LogSoftmax"):
            yield Case(f"{name} {size}", lambda x, op=getattr(R, name): op(logits=x), [SIZES[size]])
    labels = np.arange(256) % 1000
    yield Case("SparseSoftmaxCrossEntropyWithLogits 256x1000", lambda x, y: R.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=y), [(256, 1000), labels])
    yield Case("ReluGrad 1000x1000", lambda d, x: R.ReluGrad(gradients=d, features=x), [(1000, 1000)] * 2)
    yield Case("TanhGrad 64x256", lambda y, d: R.TanhGrad(y=y, dy=d), [(64, 256)] * 2)
    yield Case("AddN 4 of 64x256", lambda *x: R.AddN(inputs=list(x)), [(64, 256)] * 4)
    yield Case("L2Loss 1000x1000", lambda x: R.L2Loss(t=x), [(1000, 1000)])


def moves():
    for shape, order in [((1000, 1000), [1, 0]), ((8, 32, 32, 64), [0, 3, 1, 2]), ((8, 50, 4, 16), [0, 2, 1, 3])]:
        yield Case(f"Transpose {'x'.join(map(str, shape))} to {order}", lambda x, p=order: R.Transpose(x=x, perm=p), [shape])
    yield Case("ConcatV2 2 of 64x256, axis 1", lambda x, y: R.ConcatV2(values=[x, y], axis=1), [(64, 256)] * 2)
    yield Case("ConcatV2 2 of 1000x1000, axis 0", lambda x, y: R.ConcatV2(values=[x, y], axis=0), [(1000, 1000)] * 2)
    yield Case("Split 64x256 by 4", lambda x: R.Split(axis=1, value=x, num_split=4), [(64, 256)])
    yield Case("Slice 500x500 of 1000x1000", lambda x: R.Slice(input=x, begin=[10, 10], size=[500, 500]), [(1000, 1000)])
    yield Case("StridedSlice 1000x1000 by 2", lambda x: R.StridedSlice(input=x, begin=[0, 0], end=[1000, 1000], strides=[2, 2]), [(1000, 1000)])
    yield Case("Pad 8x32x32x64", lambda x: R.Pad(input=x, paddings=[[0, 0], [1, 1], [1, 1], [0, 0]]), [(8, 32, 32, 64)])
    yield Case("Tile 64x256 by 4x4", lambda x: R.Tile(input=x, multiples=[4, 4]), [(64, 256)])
    rows = np.random.default_rng(4).integers(0, 1000, 4096)
    yield Case("GatherV2 4096 rows of 1000x64", lambda x, i: R.GatherV2(params=x, indices=i, axis=0), [(1000, 64), rows])
    many = np.random.default_rng(5).integers(0, 1000, 100_000)
    for params in ((1000,), (1000, 3)):
        yield Case(f"GatherV2 100000 of {'x'.join(map(str, params))}", lambda x, i: R.GatherV2(params=x, indices=i, axis=0), [params, many])
    yield Case("BroadcastTo 100x1 to 64x100x30", lambda x: R.BroadcastTo(input=x, shape=[64, 100, 30]), [(100, 1)])
    yield Case("UnsortedSegmentSum 4096 rows to 1000x64", lambda x, i: R.UnsortedSegmentSum(data=x, segment_ids=i, num_segments=1000), [(4096, 64), rows])
    yield Case("OneHot 4096 of 1000", lambda i: R.OneHot(indices=i, depth=1000, on_value=1.0, off_value=0.0), [rows])
    for k in (1, 5):
        yield Case(f"TopKV2 {k} of 256x1000", lambda x, k=k: R.TopKV2(input=x, k=k), [(256, 1000)])
    yield Case("Fill 1000x1000", lambda v: R.Fill(dims=[1000, 1000], value=v), [()])
    seed = [np.array([7], np.uint64), np.array([1, 2], np.uint64)]
    for op in ("StatelessRandomUniformV2", "StatelessRandomNormalV2"):
        random = lambda k, c, op=op: getattr(R, op)(shape=[1000, 1000], key=k, counter=c, alg=1)
        yield Case(f"{op} 1000x1000", random, seed)


def small_dims():
    """Rows of few elements, whose loops have more overhead than work."""
    for width in (3, 10, 16, 50):
        yield Case(f"Softmax 32768x{width}", lambda x: R.Softmax(logits=x), [(32768, width)])
        yield Case(f"BiasAdd 8x64x64x{width}", lambda x, b: R.BiasAdd(value=x, bias=b), [(8, 64, 64, width), (width,)])
    for rows, width in [(10_000, 3), (100_000, 2), (4096, 17)]:
        x, column = (rows, width), (rows, 1)
        yield Case(f"Mul {rows}x{width} by a column", lambda x, y: R.Mul(x=x, y=y), [x, column])
        yield Case(f"SelectV2 {rows}x{width} by a column", lambda c, x, y: R.SelectV2(condition=c, t=x, e=y), [(column, np.bool_), x, x])
        yield Case(f"ArgMax {rows}x{width} of axis 1", lambda x: R.ArgMax(input=x, dimension=1), [x])
        yield Case(f"Max {rows}x{width} of axis 1", lambda x, axis=tf.constant([1]): R.Max(input=x, axis=axis), [x])
        yield Case(f"Transpose {rows}x{width}", lambda x: R.Transpose(x=x, perm=[1, 0]), [x])
    for m, k, n in ((10000, 3, 3), (10000, 8, 8), (10000, 8, 1), (10000, 32, 1), (2048, 256, 1)):
        yield Case(f"MatMul {m}x{k}x{n}", lambda a, b: R.MatMul(a=a, b=b), [(m, k), (k, n)])
    yield Case("MatMul 2x512x512, b transposed", lambda a, b: R.MatMul(a=a, b=b, transpose_b=True), [(2, 512), (512, 512)])
    yield Case("Transpose 8x64x64x3 to [0, 3, 1, 2]", lambda x: R.Transpose(x=x, perm=[0, 3, 1, 2]), [(8, 64, 64, 3)])
    yield Case("UnsortedSegmentSum 100000 to 100", lambda x, i: R.UnsortedSegmentSum(data=x, segment_ids=i, num_segments=100), [(100000,), np.arange(100000, dtype=np.int32) % 100])
    yield Case("BatchMatMulV2 4096x3x3x3", lambda x, y: R.BatchMatMulV2(x=x, y=y), [(4096, 3, 3)] * 2)


def images():
    """Images of few channels, and transforms of rows."""
    for channels in (1, 3, 16):
        image = (8, 64, 64, channels)
        average, largest = dict(ksize=[1, 3, 3, 1], strides=[1, 1, 1, 1], padding="SAME"), dict(ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
        yield Case(f"AvgPool 8x64x64x{channels}, 3x3", lambda x, p=average: R.AvgPool(value=x, **p), [image])
        yield Case(f"MaxPool 8x64x64x{channels}, 2x2", lambda x, p=largest: R.MaxPool(input=x, **p), [image])
        backprop = lambda x, y, d, p=largest: R.MaxPoolGrad(orig_input=x, orig_output=y, grad=d, **p)
        yield Case(f"MaxPoolGrad 8x64x64x{channels}, 2x2", backprop, [image, (8, 32, 32, channels), (8, 32, 32, channels)])
        resize = lambda x: R.ResizeBilinear(images=x, size=[128, 128], half_pixel_centers=True)
        yield Case(f"ResizeBilinear 4x64x64x{channels} to 128x128", resize, [(4, 64, 64, channels)])
    for channels in (3, 10, 24):
        x, w, p = (8, 32, 32, channels), (3, 3, channels, 1), dict(strides=[1, 1, 1, 1], padding="SAME")
        name = f"8x32x32x{channels} by 3x3"
        yield Case(f"DepthwiseConv2dNative {name}", lambda x, w, p=p: R.DepthwiseConv2dNative(input=x, filter=w, **p), [x, w])
        backprop = lambda x, d, s=list(w), p=p: R.DepthwiseConv2dNativeBackpropFilter(input=x, filter_sizes=s, out_backprop=d, **p)
        yield Case(f"DepthwiseConv2dNativeBackpropFilter {name}", backprop, [x, x])
    yield Case("FFT 64x256", lambda x: R.FFT(input=x), [((64, 256), np.complex64)])
    yield Case("RFFT 64x512", lambda x: R.RFFT(input=x, fft_length=[512]), [(64, 512)])
    yield Case("IRFFT 64x257", lambda x: R.IRFFT(input=x, fft_length=[512]), [((64, 257), np.complex64)])


def functions():
    for name in "Sin Cos Atan".split():
        yield Case(f"{name} 1000x1000", named(name), [(1000, 1000)])
    for name in "Asinh Atanh Erfinv".split():
        yield Case(f"{name} 1000x1000", named(name), [np.random.default_rng(3).uniform(-1, 1, (1000, 1000)).astype(np.float32)])


def every():
    for family in (core_kernels, unary, binary, casts, reductions, products, convolutions, networks, moves, small_dims, images, functions):
        yield from family()
