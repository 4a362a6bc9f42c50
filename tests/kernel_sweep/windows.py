"""Families of ops of windows and images: convolutions, pools, resized and colored images.

Dilations and groups, which the CPU lacks for most types, are in test_convolutions.py.
"""

import numpy as np
import tensorflow as tf
from calls import function_of
from reference import CPU

PADDINGS = ["VALID", "SAME"]


def window(r, rank):
    """Returns sizes of a window and of an image that contains it, and attributes."""
    sizes, strides = [r.between(1, 3) for _ in range(rank)], [r.between(1, 3) for _ in range(rank)]
    image = [n + r.below(6) for n in sizes]
    if rank == 3:  # the CPU's kernels of volumes leave out the first elements if a window is shorter than its step
        strides = [min(pair) for pair in zip(strides, sizes)]
    return sizes, image, dict(strides=[1, *strides, 1], padding=r.choice(PADDINGS))


def channels_first(op, attributes, images=(), sizes=(), is_image=True):
    """Returns a function that calls an op of NCHW or NCDHW for tensors of NHWC or NDHWC, and on the CPU, which lacks most of
    these, one of the latter."""
    rank = len(attributes["strides"])
    first, last = [0, rank - 1, *range(1, rank - 1)], [0, *range(2, rank), 1]
    swapped = {name: [it[axis] for axis in first] if isinstance(it, list) and len(it) == rank else it for name, it in attributes.items()}
    if attributes.get("explicit_paddings"):
        swapped["explicit_paddings"] = [0, 0, 0, 0, *attributes["explicit_paddings"][2:6]]
    layout = "NCHW" if rank == 4 else "NCDHW"
    of_first, of_last = function_of(op, **swapped, data_format=layout), function_of(op, **attributes)

    def run(*tensors):
        moved = list(tensors)
        for index in images:
            moved[index] = tf.transpose(tensors[index], first)
        for index in sizes:
            moved[index] = tf.gather(tensors[index], first)
        return tf.transpose(of_first(*moved), last) if is_image else of_first(*moved)

    run.on_cpu = of_last
    return run


def in_either_format(r, op, attributes, **where):
    return channels_first(op, attributes, **where) if r.chance(0.3) else function_of(op, **attributes)


def convolution(op, rank, part, is_depthwise=False):
    """A convolution, or its gradient of the input or the filter."""

    def make(r):
        sizes, image, attributes = window(r, rank)
        if is_depthwise:  # TensorFlow's kernels have one stride
            attributes["strides"] = [1, *attributes["strides"][1:2] * 2, 1]
        elif rank == 2 and r.chance(0.2):
            attributes.update(padding="EXPLICIT", explicit_paddings=[0, 0, *(r.below(3) for _ in range(4)), 0, 0])
        depth, count = r.between(1, 5), r.between(1, 5)
        x, w = r.normal((r.between(1, 2), *image, depth)), r.normal((*sizes, depth, count))
        if part == "output":
            return in_either_format(r, op, attributes, images=(0,)), [x, w]
        dy = r.normal((x.shape[0], *outputs(image, sizes, attributes), depth * count if is_depthwise else count))
        if part == "input":
            return in_either_format(r, op, attributes, images=(2,), sizes=(0,)), [np.array(x.shape, np.int32), w, dy]
        return in_either_format(r, op, attributes, images=(0, 2), is_image=False), [x, np.array(w.shape, np.int32), dy]

    return make


def batches_convolution(r):
    """A convolution of images or volumes with any number of batch dims; the CPU has neither channels first nor groups."""
    rank, batch = r.between(2, 3), r.shape(0, 2)
    sizes, image, attributes = window(r, rank)
    depth, count = r.between(1, 5), r.between(1, 5)
    x, w = r.normal((*batch, *image, depth)), r.normal((*sizes, depth, count))
    return function_of("Conv", **attributes, batch_dims=len(batch)), [x, w]


def outputs(image, sizes, attributes):
    strides, is_same = attributes["strides"][1:-1], attributes["padding"] == "SAME"
    added = attributes.get("explicit_paddings", [0] * (2 * len(image) + 4))[2:-2]
    image = [n + before + after for n, before, after in zip(image, added[::2], added[1::2])]
    return [max(-(-n // s) if is_same else (n - k) // s + 1, 0) for n, k, s in zip(image, sizes, strides)]


def pool(op, rank, kind):
    """A pool, or its gradient; the gradient of a maximum needs the output of the pool."""

    def make(r):
        sizes, image, attributes = window(r, rank)
        attributes["ksize"] = [1, *sizes, 1]
        if rank == 2 and r.chance(0.04):  # the CPU's gradients of empty convolutions can end the process
            image[0] = r.choice([0, 1])
        dims = (r.between(1, 2), *image, r.between(1, 9))
        if kind == "output":
            x = r.normal(dims) if op.startswith("Avg") else r.tensor(dims)
            return in_either_format(r, op, attributes, images=(0,)), [x]
        if min(image) == 0:
            dims = (dims[0], *sizes, dims[-1])
        dy = r.normal((dims[0], *outputs(dims[1:-1], sizes, attributes), dims[-1]))
        if kind == "average":
            return in_either_format(r, op, attributes, images=(1,), sizes=(0,)), [np.array(dims, np.int32), dy]
        x, forward = r.normal(dims), function_of(op.replace("Grad", ""), **attributes)
        with tf.device(CPU):
            y = forward(tf.constant(x, tf.float32)).numpy().astype(x.dtype)
        return in_either_format(r, op, attributes, images=(0, 1, 2)), [x, y, dy]

    return make


def alignment(r):
    return r.choice([{}, dict(align_corners=True), dict(half_pixel_centers=True)])


def image(r):
    dims = (r.between(0 if r.chance(0.1) else 1, 2), r.between(1, 6), r.between(1, 6), r.between(1, 4))
    return r.normal(dims) if r.kernel_type.kind not in "u" else r.tensor(dims)


def resized(op):
    def make(r):
        options, x = alignment(r), image(r)
        to = np.array([r.between(0 if r.chance(0.05) else 1, 9), r.between(1, 9)], np.int32)
        if op == "ResizeBilinearGrad":
            dy = r.normal((x.shape[0], r.between(1, 6), r.between(1, 6), x.shape[3]), np.float32)
            return function_of(op, **options), [dy, x]
        return function_of(op, **options), [x, to]

    return make


def crops(r):
    x, count = image(r), r.between(0, 4)
    boxes = r.uniform(-0.3, 1.3, (count, 4), np.float32)
    owners = r.rng.integers(0, max(x.shape[0], 1), count).astype(np.int32)
    to = np.array([r.between(1, 5), r.between(1, 5)], np.int32)
    return function_of("CropAndResize", method=r.choice(["bilinear", "nearest"]), extrapolation_value=7.5), [x, boxes, owners, to]


def projected(op):
    def make(r):
        x = image(r)
        spread = r.normal((r.choice([1, max(x.shape[0], 1)]), 8), np.float64, 1.0) * [0.5, 0.5, 5, 0.5, 0.5, 5, 0.01, 0.01]
        transforms = (np.array([1, 0, 0, 0, 1, 0, 0, 0]) + spread).astype(np.float32)
        options = dict(interpolation=r.choice(["NEAREST", "BILINEAR"]), fill_mode=r.choice(["CONSTANT", "REFLECT", "WRAP", "NEAREST"]))
        inputs = [x, transforms, np.array([r.between(1, 6), r.between(1, 6)], np.int32)]
        return function_of(op, **options), inputs + ([np.float32(0.25)] if op.endswith("V3") else [])

    return make


def colors(op):
    def make(r):
        return function_of(op), [r.uniform(0, 1, (*r.shape(0, 3), 3))]

    return make


def adjusted(op):
    def make(r):
        by = r.uniform(-1, 1, (), np.float32) if op == "AdjustHue" else r.uniform(0, 2, (), np.float32)
        return function_of(op), [r.uniform(0, 1, (*[r.between(1, 5) for _ in range(r.between(2, 4))], 3)), by]

    return make
