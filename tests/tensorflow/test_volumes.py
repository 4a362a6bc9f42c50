"""Convolutions and pools of volumes compared with TensorFlow's on the CPU: random shapes and attributes, and wrong ones."""

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE
from outcomes import assert_same_outcome, FLOATS, INVALID, outcome, R, seeds, tolerance_of, UNIMPLEMENTED

pytestmark = pytest.mark.usefixtures("hard_placement")

HALVES = [tf.half.as_numpy_dtype, tf.bfloat16.as_numpy_dtype]


def volume_case(seed):
    """Returns random dims, the size of a window, strides and a padding."""
    random = np.random.default_rng(seed)
    pick = lambda low, high: int(random.integers(low, high))
    size = [pick(1, 4) for _ in range(3)]
    dims = [pick(1, 3), *[n + pick(0, 5) for n in size], pick(1, 6)]
    attributes = dict(strides=[1, pick(1, 3), pick(1, 3), pick(1, 3), 1], padding=["SAME", "VALID"][pick(0, 2)])
    return random, dims, size, attributes


@pytest.mark.parametrize("graph", [False, True])
def test_conv3d_and_gradients(calls, graph):
    for seed in seeds():
        random, dims, size, attributes = volume_case(seed)
        dtype = FLOATS[random.integers(0, 2)]
        x, w = random.normal(size=dims).astype(dtype), random.normal(size=[*size, dims[4], int(random.integers(1, 5))]).astype(dtype)
        about = f"seed {seed}: {dtype.__name__} {x.shape} {w.shape} {attributes}"
        run = lambda op: lambda **data: getattr(R, op)(**data, **attributes)
        assert_same_outcome("Conv3D", calls, run("Conv3D"), tolerance_of(dtype), about, graph, input=x, filter=w)
        with tf.device("/CPU:0"):
            dy = random.normal(size=R.Conv3D(input=x, filter=w, **attributes).shape).astype(dtype)
        sizes = np.array(x.shape, [np.int32, np.int64][seed % 2]), np.array(w.shape, np.int32)
        op = "Conv3DBackpropInputV2"
        assert_same_outcome(op, calls, run(op), tolerance_of(dtype), about, graph, input_sizes=sizes[0], filter=w, out_backprop=dy)
        op = "Conv3DBackpropFilterV2"
        assert_same_outcome(op, calls, run(op), tolerance_of(dtype), about, graph, input=x, filter_sizes=sizes[1], out_backprop=dy)


@pytest.mark.parametrize("graph", [False, True])
def test_pools_of_volumes_and_gradients(calls, graph):
    for seed in seeds():
        random, dims, size, attributes = volume_case(seed)
        # Neighbors differ by more than the tolerance within which several elements share a gradient.
        x = random.permutation(int(np.prod(dims))).reshape(dims).astype(np.float32) / 16
        attributes["ksize"] = [1, *size, 1]
        about = f"seed {seed}: {x.shape} {attributes}"
        run = lambda op: lambda **data: getattr(R, op)(**data, **attributes)
        assert_same_outcome("MaxPool3D", calls, run("MaxPool3D"), 0, about, graph, input=x)
        assert_same_outcome("AvgPool3D", calls, run("AvgPool3D"), 1e-5, about, graph, input=x)
        with tf.device("/CPU:0"):
            y = R.MaxPool3D(input=x, **attributes).numpy()
        dy = random.normal(size=y.shape).astype(np.float32)
        assert_same_outcome("MaxPool3DGrad", calls, run("MaxPool3DGrad"), 1e-5, about, graph, orig_input=x, orig_output=y, grad=dy)
        data = dict(orig_input_shape=np.array(dims, np.int32), grad=dy)
        assert_same_outcome("AvgPool3DGrad", calls, run("AvgPool3DGrad"), 1e-5, about, graph, **data)


def test_each_largest_element_of_a_volume_has_the_gradient(calls):
    x = np.ones((1, 3, 3, 3, 2), np.float32)
    attributes = dict(ksize=[1, 2, 2, 2, 1], strides=[1] * 5, padding="VALID")
    y = np.ones((1, 2, 2, 2, 2), np.float32)
    run = lambda: R.MaxPool3DGrad(orig_input=x, orig_output=y, grad=y, **attributes)
    assert_same_outcome("MaxPool3DGrad", calls, run, 0)


@pytest.mark.parametrize("dtype", HALVES)
def test_volumes_of_16_bit_floats_are_those_of_float32_rounded(dtype):
    random = np.random.default_rng(3)
    x, w = random.normal(size=(2, 4, 5, 4, 3)).astype(dtype), random.normal(size=(2, 3, 2, 3, 4)).astype(dtype)
    dy = random.normal(size=(2, 4, 5, 4, 4)).astype(dtype)
    conv, pool = dict(strides=[1] * 5, padding="SAME"), dict(ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="SAME")
    functions = [
        lambda to: R.Conv3D(input=to(x), filter=to(w), **conv),
        lambda to: R.Conv3DBackpropInputV2(input_sizes=x.shape, filter=to(w), out_backprop=to(dy), **conv),
        lambda to: R.Conv3DBackpropFilterV2(input=to(x), filter_sizes=w.shape, out_backprop=to(dy), **conv),
        lambda to: R.MaxPool3D(input=to(x), **pool),
        lambda to: R.AvgPool3D(input=to(x), **pool),
    ]
    for function in functions:
        with tf.device("/CPU:0"):
            expected = tf.cast(function(lambda it: tf.constant(it.astype(np.float32))), dtype).numpy().astype(np.float32)
        with tf.device(f"/device:{DEVICE}:0"):
            found = function(tf.constant).numpy().astype(np.float32)
        np.testing.assert_allclose(found, expected, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("op", ["Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2", "MaxPool3D", "MaxPool3DGrad", "AvgPool3D", "AvgPool3DGrad"])
def test_channels_first_has_results_of_channels_last(op):
    random = np.random.default_rng(4)
    x, w, dy = [random.normal(size=size).astype(np.float32) for size in ((2, 4, 5, 4, 3), (2, 3, 2, 3, 4), (2, 2, 5, 2, 4))]
    moved = lambda it: tf.transpose(it, [0, 4, 1, 2, 3])
    attributes = dict(strides=[1, 2, 1, 2, 1], padding="SAME")
    dy_of_pool, sizes = dy[..., :3], np.array(x.shape, np.int32)
    inputs = {
        "Conv3D": lambda to: dict(input=to(x), filter=w),
        "Conv3DBackpropInputV2": lambda to: dict(input_sizes=to(x).shape, filter=w, out_backprop=to(dy)),
        "Conv3DBackpropFilterV2": lambda to: dict(input=to(x), filter_sizes=w.shape, out_backprop=to(dy)),
        "MaxPool3D": lambda to: dict(input=to(x)),
        "MaxPool3DGrad": lambda to: dict(orig_input=to(x), orig_output=to(dy_of_pool), grad=to(dy_of_pool)),
        "AvgPool3D": lambda to: dict(input=to(x)),
        "AvgPool3DGrad": lambda to: dict(orig_input_shape=tf.gather(sizes, [0, 4, 1, 2, 3]) if to is moved else sizes, grad=to(dy_of_pool)),
    }[op]
    if "Pool" in op:
        attributes["ksize"] = [1, 2, 3, 2, 1]
    swapped = {name: [it[0], it[4], *it[1:4]] if isinstance(it, list) else it for name, it in attributes.items()}
    with tf.device(f"/device:{DEVICE}:0"):
        last = getattr(R, op)(**inputs(tf.constant), **attributes)
        first = getattr(R, op)(**inputs(moved), **swapped, data_format="NCDHW")
    expected = last if op == "Conv3DBackpropFilterV2" else moved(last)
    np.testing.assert_array_equal(first, expected)


def conv(x=(1, 4, 4, 4, 2), w=(3, 3, 3, 2, 3), strides=(1,) * 5, **more):
    return lambda: R.Conv3D(input=np.ones(x), filter=np.ones(w), strides=list(strides), **{**dict(padding="VALID"), **more})


def conv_input(sizes=(1, 4, 4, 4, 2), w=(3, 3, 3, 2, 3), dy=(1, 2, 2, 2, 3), **more):
    attributes = {**dict(strides=[1] * 5, padding="VALID"), **more}
    return lambda: R.Conv3DBackpropInputV2(input_sizes=np.array(sizes, np.int32), filter=np.ones(w), out_backprop=np.ones(dy), **attributes)


def conv_filter(x=(1, 4, 4, 4, 2), sizes=(3, 3, 3, 2, 3), dy=(1, 2, 2, 2, 3), **more):
    attributes = {**dict(strides=[1] * 5, padding="VALID"), **more}
    return lambda: R.Conv3DBackpropFilterV2(input=np.ones(x), filter_sizes=np.array(sizes, np.int32), out_backprop=np.ones(dy), **attributes)


def pool(op="MaxPool3D", x=(1, 4, 4, 4, 2), ksize=(1, 2, 2, 2, 1), strides=(1,) * 5, **more):
    return lambda: getattr(R, op)(input=np.ones(x, np.float32), ksize=list(ksize), strides=list(strides), **{**dict(padding="VALID"), **more})


# Outcomes of TensorFlow's CPU kernels without oneDNN: dims, or the error. With dilations there is no such kernel.
VOLUMES = [
    (conv(), (1, 2, 2, 2, 3)), (conv(x=(0, 4, 4, 4, 2)), (0, 2, 2, 2, 3)), (conv(x=(4, 4, 4, 2)), INVALID), (conv(w=(3, 3, 2, 3)), INVALID), (conv(w=(3, 3, 3, 1, 3)), INVALID),
    (conv(w=(5, 3, 3, 2, 3)), (1, 0, 2, 2, 3)), (conv(w=(6, 3, 3, 2, 3)), INVALID), (conv(strides=(2, 1, 1, 1, 1)), INVALID), (conv(strides=(1, 0, 1, 1, 1)), INVALID),
    (conv(strides=(1,) * 6), INVALID), (conv(dilations=[1, 0, 1, 1, 1]), INVALID), (conv(padding="SAME", dilations=[1, 2, 1, 1, 1]), (1, 4, 4, 4, 3)),
    (conv_input(), (1, 4, 4, 4, 2)), (conv_input(sizes=(1, 4, 4, 2)), INVALID), (conv_input(sizes=[[1, 4, 4, 4, 2]]), INVALID), (conv_input(sizes=(1, -4, 4, 4, 2)), INVALID),
    (conv_input(dy=(1, 2, 2, 3, 3)), INVALID), (conv_input(sizes=(2, 4, 4, 4, 2)), INVALID), (conv_input(dy=(2, 2, 2, 3)), INVALID), (conv_input(sizes=(1, 4, 4, 4, 3)), INVALID),
    (conv_input(sizes=(1 << 30, 1 << 30, 1 << 30, 1 << 30, 2)), INVALID),
    (conv_filter(), (3, 3, 3, 2, 3)), (conv_filter(sizes=(3, 3, 2, 3)), INVALID), (conv_filter(sizes=(3, 3, 3, 2, 4)), INVALID), (conv_filter(sizes=(3, 3, 3, 1, 3)), INVALID),
    (conv_filter(x=(2, 4, 4, 4, 2)), INVALID), (conv_filter(x=(0, 4, 4, 4, 2), dy=(0, 2, 2, 2, 3)), (3, 3, 3, 2, 3)), (conv_filter(sizes=(1 << 30, 1 << 30, 1 << 30, 2, 3)), INVALID),
    *[(pool(op), (1, 3, 3, 3, 2)) for op in ("MaxPool3D", "AvgPool3D")], (pool(x=(0, 4, 4, 4, 2)), (0, 3, 3, 3, 2)), (pool(x=(4, 4, 4, 2)), INVALID), (pool(ksize=(1, 6, 2, 2, 1)), INVALID),
    (pool(ksize=(2, 2, 2, 2, 1)), UNIMPLEMENTED), (pool(ksize=(1, 2, 2, 2, 2)), UNIMPLEMENTED), (pool(strides=(2, 1, 1, 1, 1)), UNIMPLEMENTED), (pool(ksize=(1, 0, 2, 2, 1)), INVALID),
    (pool(strides=(1, 1, 0, 1, 1)), INVALID), (pool(ksize=(1,) * 6), INVALID),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(VOLUMES)))
def test_volumes_of_odd_shapes(case):
    function, expected = VOLUMES[case]
    found = outcome(function, f"/device:{DEVICE}:0")
    if isinstance(expected, tuple):
        assert found[0].shape == expected
    else:
        assert type(found) is expected, repr(found)


@pytest.mark.parametrize("groups, filters", [(2, 6), (4, 4), (2, 2)])
@pytest.mark.parametrize("data_format", ["NDHWC", "NCDHW"])
def test_convolution_of_groups_and_gradients_are_those_of_each_group(in_plugin, groups, filters, data_format):
    """The CPU has no groups of channels, but XLA, with which Keras compiles its layers, has."""
    random = np.random.default_rng(0)
    x = random.normal(size=(2, 4, 5, 3, 8)).astype(np.float32)
    w = random.normal(size=(2, 3, 2, 8 // groups, filters)).astype(np.float32)
    dy = random.normal(size=(2, 4, 5, 3, filters)).astype(np.float32)
    attributes = dict(strides=[1] * 5, padding="SAME")
    with tf.device("/CPU:0"):
        parts = [np.split(it, groups, axis=-1) for it in (x, w, dy)]
        y = [R.Conv3D(input=x, filter=w, **attributes) for x, w, _ in zip(*parts)]
        dx = [R.Conv3DBackpropInputV2(input_sizes=x.shape, filter=w, out_backprop=dy, **attributes) for x, w, dy in zip(*parts)]
        dw = [R.Conv3DBackpropFilterV2(input=x, filter_sizes=w.shape, out_backprop=dy, **attributes) for x, w, dy in zip(*parts)]
    place = (lambda it: it) if data_format == "NDHWC" else (lambda it: np.moveaxis(it, -1, 1))
    back = (lambda it: it) if data_format == "NDHWC" else (lambda it: np.moveaxis(it, 1, -1))
    x, dy, attributes = place(x), place(dy), dict(attributes, data_format=data_format)
    with in_plugin("Conv3D"):
        found = R.Conv3D(input=x, filter=w, **attributes).numpy()
    np.testing.assert_allclose(back(found), np.concatenate(y, -1), rtol=1e-4, atol=1e-4)
    with in_plugin("Conv3DBackpropInputV2"):
        found = R.Conv3DBackpropInputV2(input_sizes=x.shape, filter=w, out_backprop=dy, **attributes).numpy()
    np.testing.assert_allclose(back(found), np.concatenate(dx, -1), rtol=1e-4, atol=1e-4)
    with in_plugin("Conv3DBackpropFilterV2"):
        found = R.Conv3DBackpropFilterV2(input=x, filter_sizes=w.shape, out_backprop=dy, **attributes).numpy()
    np.testing.assert_allclose(found, np.concatenate(dw, -1), rtol=1e-4, atol=1e-4)
