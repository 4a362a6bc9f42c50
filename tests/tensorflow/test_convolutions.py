"""Convolutions and their gradients compared with TensorFlow's on the CPU: random shapes and attributes, and wrong ones."""

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE, RELEASE
from outcomes import assert_same_outcome, FLOATS, INVALID, outcome, R, seeds, tolerance_of, UNIMPLEMENTED

pytestmark = pytest.mark.usefixtures("hard_placement")


def conv_case(seed):
    """Returns a random input, filter and attributes; the CPU computes NCHW, groups and dilated gradients in float32 only."""
    random = np.random.default_rng(seed)
    pick = lambda low, high: int(random.integers(low, high))
    dtype = FLOATS[pick(0, 2)]
    groups, depth, filters = pick(1, 3) if dtype == np.float32 else 1, pick(1, 5), pick(1, 5)
    size = [pick(1, 4), pick(1, 4)]
    dilations = [1, 1] if dtype == np.float64 else [pick(1, 3), pick(1, 3)]
    extent = [(n - 1) * d + 1 for n, d in zip(size, dilations)]
    image = [pick(1, 3), extent[0] + pick(0, 9), extent[1] + pick(0, 9), groups * depth]
    padding, explicit = ["SAME", "VALID", "EXPLICIT"][pick(0, 3)], []
    if padding == "EXPLICIT":
        explicit = [0, 0] + [pick(0, 3) for _ in range(4)] + [0, 0]
    strides = [1, pick(1, 4), pick(1, 4), 1]
    channels_first = dtype == np.float32 and pick(0, 3) == 0
    attributes = dict(strides=strides, padding=padding, explicit_paddings=explicit, dilations=[1, *dilations, 1])
    x = random.normal(size=image).astype(dtype)
    if channels_first:
        x = x.transpose(0, 3, 1, 2)
        order = lambda it: [it[0], it[3], it[1], it[2]]
        attributes.update(strides=order(strides), dilations=order(attributes["dilations"]), data_format="NCHW")
        attributes["explicit_paddings"] = explicit[:2] + explicit[6:] + explicit[2:6]
    return x, random.normal(size=[*size, depth, groups * filters]).astype(dtype), attributes, dtype


def products_of_convolution(x, w, dy, attributes):
    """Returns output and gradients of a convolution, window by window, in float64."""
    first = attributes.get("data_format") == "NCHW"
    last, back = (0, 2, 3, 1), (0, 3, 1, 2)
    x, dy = (it.astype(np.float64).transpose(last) if first else it.astype(np.float64) for it in (x, dy))
    spatial = lambda name: attributes[name][2:] if first else attributes[name][1:3]
    (sy, sx), (ey, ex) = spatial("strides"), spatial("dilations")
    extent = [(size - 1) * step + 1 for size, step in zip(w.shape, (ey, ex))]
    pads = attributes["explicit_paddings"][4 if first else 2 :][:4]
    if attributes["padding"] != "EXPLICIT":
        totals = [max((o - 1) * s + e - i, 0) for o, s, e, i in zip(dy.shape[1:], (sy, sx), extent, x.shape[1:])]
        pads = [n for total in totals for n in (total // 2, total - total // 2)] if attributes["padding"] == "SAME" else [0] * 4
    x = np.pad(x, [(0, 0), pads[:2], pads[2:], (0, 0)])
    y, dx, dw = np.zeros_like(dy), np.zeros_like(x), np.zeros(w.shape)
    depth, groups = w.shape[2], x.shape[3] // w.shape[2]
    filters = w.shape[3] // groups
    for i in range(dy.shape[1]):
        for j in range(dy.shape[2]):
            for g in range(groups):
                window = (slice(None), slice(i * sy, i * sy + extent[0], ey), slice(j * sx, j * sx + extent[1], ex), slice(g * depth, (g + 1) * depth))
                of = slice(g * filters, (g + 1) * filters)
                y[:, i, j, of] = np.einsum("nyxc,yxcf->nf", x[window], w[..., of])
                dx[window] += np.einsum("nf,yxcf->nyxc", dy[:, i, j, of], w[..., of])
                dw[..., of] += np.einsum("nf,nyxc->yxcf", dy[:, i, j, of], x[window])
    dx = dx[:, pads[0] : dx.shape[1] - pads[1], pads[2] : dx.shape[2] - pads[3]]
    order = (lambda it: it.transpose(back)) if first else (lambda it: it)
    return [it.astype(w.dtype) for it in (order(y), order(dx), dw)]


@pytest.mark.parametrize("graph", [False, True])
def test_conv2d_and_gradients(calls, graph):
    for seed in seeds():
        x, w, attributes, dtype = conv_case(seed)
        about = f"seed {seed}: {dtype.__name__} {x.shape} {w.shape} {attributes}"
        with tf.device(f"/device:{DEVICE}:0"):
            dy = np.random.default_rng(seed).normal(size=R.Conv2D(input=x, filter=w, **attributes).shape).astype(dtype)
        oracle = lambda index: [products_of_convolution(x, w, dy, attributes)[index]]
        def compare(op, index, **data):
            run = lambda **data: getattr(R, op)(**data, **attributes)
            assert_same_outcome(op, calls, run, tolerance_of(dtype), about, graph, lambda: oracle(index), **data)

        compare("Conv2D", 0, input=x, filter=w)
        sizes = np.array(x.shape, np.int32), np.array(w.shape, np.int32)
        compare("Conv2DBackpropInput", 1, input_sizes=sizes[0], filter=w, out_backprop=dy)
        compare("Conv2DBackpropFilter", 2, input=x, filter_sizes=sizes[1], out_backprop=dy)


def test_conv2d_of_large_images(calls):
    random = np.random.default_rng(5)
    for image, size, attributes in [
        ((2, 56, 57, 16), (3, 3, 16, 32), dict(strides=[1] * 4, padding="SAME")),
        ((1, 112, 112, 3), (7, 7, 3, 8), dict(strides=[1, 2, 2, 1], padding="SAME")),
        ((3, 28, 28, 64), (1, 1, 64, 40), dict(strides=[1] * 4, padding="VALID")),
        ((3, 28, 28, 64), (1, 1, 64, 40), dict(strides=[1, 2, 2, 1], padding="SAME")),
    ]:
        x, w = random.normal(size=image).astype(np.float32), random.normal(size=size).astype(np.float32)

        def gradients():
            with tf.GradientTape() as tape:
                variables = tf.constant(x), tf.constant(w)
                tape.watch(variables)
                y = R.Conv2D(input=variables[0], filter=variables[1], **attributes)
            return [y, *tape.gradient(y, variables, output_gradients=y)]

        assert_same_outcome("Conv2DBackpropFilter", calls, gradients, 1e-4, str(image))


def conv(x=(1, 4, 4, 2), w=(3, 3, 2, 3), strides=(1, 1, 1, 1), padding="VALID", **more):
    return lambda: R.Conv2D(input=np.ones(x, np.float32), filter=np.ones(w, np.float32), strides=list(strides), padding=padding, **more)


def conv_input(sizes=(1, 4, 4, 2), w=(3, 3, 2, 3), dy=(1, 2, 2, 3), strides=(1, 1, 1, 1), padding="VALID", **more):
    return lambda: R.Conv2DBackpropInput(
        input_sizes=np.array(sizes, np.int32), filter=np.ones(w, np.float32), out_backprop=np.ones(dy, np.float32), strides=list(strides), padding=padding, **more)


def conv_filter(x=(1, 4, 4, 2), sizes=(3, 3, 2, 3), dy=(1, 2, 2, 3), strides=(1, 1, 1, 1), padding="VALID", **more):
    return lambda: R.Conv2DBackpropFilter(
        input=np.ones(x, np.float32), filter_sizes=np.array(sizes, np.int32), out_backprop=np.ones(dy, np.float32), strides=list(strides), padding=padding, **more)


EXPLICIT = dict(padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 3, 0, 0, 0])

# The outcome of TensorFlow's CPU kernel without oneDNN, whose kernels return wrong shapes or abort: dims, or the error.
CONVOLUTIONS = [
    (conv(), (1, 2, 2, 3)), (conv(x=(1, 2, 2, 2)), (1, 0, 0, 3)), (conv(x=(1, 1, 1, 2)), INVALID), (conv(x=(1, 0, 4, 2)), INVALID),
    (conv(x=(1, 0, 4, 2), padding="SAME"), (1, 0, 4, 3)), (conv(x=(0, 4, 4, 2)), (0, 2, 2, 3)), (conv(w=(3, 3, 2, 0)), (1, 2, 2, 0)),
    (conv(w=(0, 3, 2, 3)), INVALID), (conv(x=(1, 4, 4, 0), w=(3, 3, 0, 3)), INVALID), (conv(x=(1, 4, 4, 0), w=(3, 3, 1, 3)), (1, 2, 2, 3)),
    (conv(x=(1, 4, 4, 4), w=(3, 3, 2, 3)), INVALID), (conv(x=(1, 4, 4, 4), w=(3, 3, 3, 3)), INVALID), (conv(x=(4, 4, 4)), INVALID),
    (conv(w=(3, 3, 2)), INVALID), (conv(strides=(1, 1, 1)), INVALID), (conv(strides=(2, 1, 1, 1)), UNIMPLEMENTED),
    (conv(strides=(1, 0, 1, 1)), INVALID), (conv(strides=(1, -1, 1, 1)), INVALID), (conv(strides=(1, 1 << 40, 1, 1)), INVALID),
    (conv(strides=(1, 1 << 30, 1 << 30, 1)), (1, 1, 1, 3)), (conv(dilations=[2, 1, 1, 1]), UNIMPLEMENTED), (conv(dilations=[1, 0, 1, 1]), INVALID),
    (conv(dilations=[1, 1 << 30, 1, 1]), INVALID), (conv(dilations=[1, 1 << 30, 1, 1], padding="SAME"), (1, 4, 4, 3)), (conv(dilations=[1, 1, 1]), INVALID),
    (conv(**EXPLICIT), (1, 5, 5, 3)), (conv(padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2]), INVALID),
    (conv(padding="EXPLICIT", explicit_paddings=[0, 0, 1, -2, 3, 0, 0, 0]), INVALID), (conv(padding="EXPLICIT", explicit_paddings=[1, 0, 1, 2, 3, 0, 0, 0]), INVALID),
    (conv(padding="SAME", explicit_paddings=[0, 0, 1, 2, 3, 0, 0, 0]), INVALID),
    (conv_input(), (1, 4, 4, 2)), (conv_input(sizes=(4, 4)), (1, 4, 4, 2)), (conv_input(sizes=(1, 4, 4)), INVALID), (conv_input(sizes=[[1, 4, 4, 2]]), INVALID),
    (conv_input(sizes=(1, -4, 4, 2)), INVALID), (conv_input(sizes=(2, 4, 4, 2)), INVALID), (conv_input(sizes=(1, 5, 4, 2)), INVALID),
    (conv_input(dy=(1, 2, 2, 4)), INVALID), (conv_input(sizes=(1, 4, 4, 3)), INVALID), (conv_input(sizes=(0, 4, 4, 2), dy=(0, 2, 2, 3)), (0, 4, 4, 2)),
    (conv_input(w=(3, 3, 2, 0), dy=(1, 2, 2, 0)), (1, 4, 4, 2)), (conv_input(w=(3, 3, 0, 3)), INVALID), (conv_input(sizes=(1, 2, 2, 2), dy=(1, 0, 0, 3)), (1, 2, 2, 2)),
    (conv_input(sizes=(1, 0, 4, 2), dy=(1, 0, 4, 3), padding="SAME"), (1, 0, 4, 2)), (conv_input(sizes=(1, 1 << 30, 1 << 30, 2)), INVALID),
    (conv_input(dy=(1, 5, 5, 3), **EXPLICIT), (1, 4, 4, 2)), (conv_input(dy=(2, 2, 3)), INVALID),
    (conv_filter(), (3, 3, 2, 3)), (conv_filter(sizes=(3, 3, 2)), INVALID), (conv_filter(sizes=[[3, 3, 2, 3]]), INVALID), (conv_filter(sizes=(3, -3, 2, 3)), INVALID),
    (conv_filter(sizes=(2, 3, 2, 3)), INVALID), (conv_filter(sizes=(3, 3, 2, 4)), INVALID), (conv_filter(sizes=(3, 3, 3, 3)), INVALID),
    (conv_filter(x=(2, 4, 4, 2)), INVALID), (conv_filter(x=(0, 4, 4, 2), dy=(0, 2, 2, 3)), (3, 3, 2, 3)), (conv_filter(sizes=(3, 3, 2, 0), dy=(1, 2, 2, 0)), (3, 3, 2, 0)),
    (conv_filter(x=(1, 4, 4, 0), sizes=(3, 3, 0, 3)), INVALID), (conv_filter(sizes=(0, 3, 2, 3), dy=(1, 5, 2, 3)), (0, 3, 2, 3)),
    (conv_filter(sizes=(1 << 30, 1 << 30, 2, 3)), INVALID),
]


@pytest.mark.parametrize("case", range(len(CONVOLUTIONS)))
def test_convolution_of_odd_shapes(case):
    function, expected = CONVOLUTIONS[case]
    found = outcome(function, f"/device:{DEVICE}:0")
    if isinstance(expected, tuple):
        assert found[0].shape == expected
    else:
        assert type(found) is expected, repr(found)


def test_convolution_larger_than_memory_is_an_error():
    found = outcome(conv(padding="EXPLICIT", explicit_paddings=[0, 0, 1 << 30, 2, 1 << 30, 0, 0, 0]), f"/device:{DEVICE}:0")
    assert isinstance(found, tf.errors.ResourceExhaustedError), repr(found)


@pytest.mark.parametrize("graph", [False, True])
def test_depthwise_convolution_and_gradients(calls, graph):
    op = "DepthwiseConv2dNative"
    for seed in seeds():
        random = np.random.default_rng(seed)
        dtype, channels, each, stride = FLOATS[random.integers(0, 2)], int(random.integers(1, 20)), int(random.integers(1, 4)), int(random.integers(1, 4))
        size = [int(it) for it in random.integers(1, 4, size=2)]
        x = random.normal(size=[int(random.integers(1, 4)), size[0] + int(random.integers(0, 8)), size[1] + int(random.integers(0, 8)), channels]).astype(dtype)
        w = random.normal(size=[*size, channels, each]).astype(dtype)
        attributes = dict(strides=[1, stride, stride, 1], padding=["SAME", "VALID"][random.integers(0, 2)])
        about = f"seed {seed}: {dtype.__name__} {x.shape} {w.shape} {attributes}"
        run = lambda op: lambda **data: getattr(R, op)(**data, **attributes)
        assert_same_outcome(op, calls, run(op), tolerance_of(dtype), about, graph, input=x, filter=w)
        with tf.device("/CPU:0"):
            dy = random.normal(size=run(op)(input=x, filter=w).shape).astype(dtype)
        data = dict(input_sizes=np.array(x.shape, np.int32), filter=w, out_backprop=dy)
        assert_same_outcome(f"{op}BackpropInput", calls, run(f"{op}BackpropInput"), tolerance_of(dtype), about, graph, **data)
        data = dict(input=x, filter_sizes=np.array(w.shape, np.int32), out_backprop=dy)
        assert_same_outcome(f"{op}BackpropFilter", calls, run(f"{op}BackpropFilter"), tolerance_of(dtype), about, graph, **data)


@pytest.mark.parametrize("x, w, expected", [
    ((1, 7, 7, 3), (3, 3, 2, 1), INVALID), ((0, 7, 7, 2), (3, 3, 2, 1), (0, 5, 5, 2)), ((1, 7, 7, 2), (3, 3, 2, 0), INVALID), ((1, 7, 7, 2), (0, 3, 2, 1), INVALID),
    ((1, 7, 7, 0), (3, 3, 0, 1), INVALID), ((7, 7, 2), (3, 3, 2, 1), INVALID), ((1, 7, 7, 2), (3, 3, 2), INVALID), ((1, 1, 1, 2), (3, 3, 2, 1), INVALID),
])
def test_depthwise_convolution_of_odd_shapes(x, w, expected):
    run = lambda: R.DepthwiseConv2dNative(input=np.ones(x, np.float32), filter=np.ones(w, np.float32), strides=[1] * 4, padding="VALID")
    found = outcome(run, f"/device:{DEVICE}:0")
    assert found[0].shape == expected if isinstance(expected, tuple) else type(found) is expected, repr(found)


CHANNELS = {"CHANNELS_LAST": lambda it, batch: it, "CHANNELS_FIRST": lambda it, batch: np.moveaxis(it, -1, batch)}


@pytest.mark.skipif(RELEASE < (2, 16), reason="the op has no kernel up to 2.15")
@pytest.mark.parametrize("data_format", CHANNELS)
@pytest.mark.parametrize("batch", [(), (3,), (2, 3), (1, 2, 2)], ids=str)
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("size", [(2, 3), (2, 3, 1)], ids=str)
@pytest.mark.parametrize("padding, step, dilation", [("SAME", 2, 1), ("VALID", 1, 2), ("EXPLICIT", 1, 1)])
def test_conv_of_any_batch_is_that_of_images_or_volumes(in_plugin, data_format, batch, groups, size, padding, step, dilation):
    random, rank = np.random.default_rng(0), len(size)
    x = random.normal(size=(*batch, *[7, 6, 5][:rank], 4)).astype(np.float32)
    w = random.normal(size=(*size, 4 // groups, 6)).astype(np.float32)
    flat = x.reshape(-1, *x.shape[len(batch):])
    before, after = [1, 0, 2][:rank], [0, 2, 1][:rank]
    padded = np.pad(flat, [(0, 0), *zip(before, after), (0, 0)]) if padding == "EXPLICIT" else flat
    with tf.device("/CPU:0"):
        # The reference: a convolution of each group.
        parts = zip(np.split(padded, groups, -1), np.split(w, groups, -1))
        convolve = lambda x, w: tf.nn.convolution(x, w, strides=[step] * rank, padding="VALID" if padding == "EXPLICIT" else padding, dilations=[dilation] * rank)
        expected = np.concatenate([convolve(x, w) for x, w in parts], -1)
    expected = expected.reshape(*batch, *expected.shape[1:])
    place, first = CHANNELS[data_format], data_format == "CHANNELS_FIRST"
    spatial = lambda value: [1, 1, *[value] * rank] if first else [1, *[value] * rank, 1]
    attributes = dict(strides=spatial(step), dilations=spatial(dilation), data_format=data_format, batch_dims=len(batch), groups=groups)
    if padding == "EXPLICIT":
        pairs = [it for pair in zip(before, after) for it in pair]
        attributes["explicit_paddings"] = [0, 0, 0, 0, *pairs] if first else [0, 0, *pairs, 0, 0]
    with in_plugin("Conv"):
        found = R.Conv(input=place(x, len(batch)), filter=w, padding=padding, **attributes).numpy()
    np.testing.assert_allclose(found, place(expected, len(batch)), rtol=1e-4, atol=1e-4)


@pytest.mark.skipif(RELEASE < (2, 16), reason="the op has no kernel up to 2.15")
@pytest.mark.parametrize("arguments, message", [
    (dict(x=(2, 4, 6), strides=[1] * 4), "2 or 3 spatial dimensions but got 1"),
    (dict(x=(2, 4, 4, 6), strides=[1] * 3), "strides"),
    (dict(x=(2, 4, 4, 5), strides=[1] * 4), "Input depth must be equal to filter depth: 5 vs 6"),
    (dict(x=(2, 4, 4, 6), strides=[2, 1, 1, 1]), "strides in the batch and depth dimensions"),
])  # fmt: skip
def test_conv_of_wrong_arguments_has_error_of_cpu(arguments, message):
    for device in "/CPU:0", DEVICE:
        with tf.device(device), pytest.raises(tf.errors.OpError, match=message):
            R.Conv(input=tf.zeros(arguments["x"]), filter=tf.zeros([2, 2, 6, 3]), strides=arguments["strides"], padding="VALID")
