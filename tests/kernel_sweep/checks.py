"""Families of checks, counts, copies, formats and selected boxes."""

import numpy as np
import tensorflow as tf
from calls import function_of


def check(op):
    def make(r):
        return function_of(op, message="a text"), [r.normal(r.shape(most=8)) if r.chance(0.7) else r.tensor()]

    return make


def approximate(r):
    x = r.tensor(r.shape(most=8), few=True)
    near = r.normal(x.shape, scale=1e-3)
    with np.errstate(all="ignore"):
        y = (x + near).astype(x.dtype)
    return function_of("ApproximateEqual", tolerance=r.choice([1e-5, 1e-3, 0.0])), [x, y[..., :-1] if r.chance(0.03) and y.ndim else y]


def histogram(r):
    low, width = r.between(-9, 9), r.between(0 if r.chance(0.05) else 1, 20)
    limits = np.array([low, low + width], r.kernel_type)
    values = r.tensor(r.shape(), few=True) if r.chance(0.2) else r.normal(r.shape(), scale=9)
    bins = np.int32(r.between(0 if r.chance(0.05) else 1, 9))
    return function_of("HistogramFixedWidth", dtype=r.choice([tf.int32, tf.int64])), [values, limits, bins]


def bucketize(r):
    edges = sorted(float(it) for it in r.rng.integers(-9, 9, r.between(0, 6)))
    return function_of("Bucketize", boundaries=edges), [r.tensor(few=r.chance(0.5))]


def empty(r):
    return function_of("Empty", dtype=tf.as_dtype(r.kernel_type), init=True), [np.array(r.shape(most=5), np.int32)]


def one_input(op):
    def make(r):
        return function_of(op), [r.tensor(r.shape(most=8))]

    return make


def rows(op):
    """Changes of rows; an index counts from the end if it is negative."""

    def make(r):
        x = r.tensor(r.shape(1, 4)) if op == "InplaceUpdate" else r.normal(r.shape(1, 4))
        count = r.between(0, 4)
        v = r.normal((count, *(x.shape[1:] if not r.chance(0.03) else (7, 7)))) if x.dtype != np.bool_ else r.tensor((count, *x.shape[1:]))
        return function_of(op), [x, r.rng.integers(-5, 5, count).astype(np.int32), v]

    return make


def formats(op):
    def make(r):
        source = list(r.choice(["NHWC", "NDHWC"]))
        target = "".join(r.rng.permutation(source))
        run = function_of(op, src_format="".join(source), dst_format=target)
        if op == "DataFormatDimMap":
            return run, [r.rng.integers(-len(source), len(source), r.shape()).astype(r.kernel_type)]
        rows = r.choice([len(source), len(source) - 2])
        return run, [r.tensor(r.choice([(rows,), (rows, 2), (rows + 1,)] if r.chance(0.1) else [(rows,), (rows, 2)]))]

    return make


def bias_v1(r):
    x = r.normal(r.shape(2, 5))
    return function_of("BiasAddV1"), [x, r.normal((x.shape[-1] + (1 if r.chance(0.05) else 0),))]


def suppression(op):
    """Boxes of few different coordinates, so that overlaps are far from the threshold."""

    def make(r):
        count = r.between(0, 12)
        corners = r.rng.integers(0, 5, (count, 4)).astype(r.kernel_type)
        scores = r.rng.permutation(np.arange(count) / 16).astype(r.kernel_type)
        number = r.kernel_type.type if op == "NonMaxSuppressionV5" else r.choice([np.float16, np.float32])
        limits = [np.int32(r.between(-1 if r.chance(0.03) else 0, 8)), number(r.choice([0.3, 0.55, 1.0, 1.5 if r.chance(0.1) else 0.0]))]
        limits += [number(r.choice([0.0, 0.26]))] if op != "NonMaxSuppressionV2" else []
        limits += [number(r.choice([0.0, 0.5]))] if op == "NonMaxSuppressionV5" else []
        padded = {"pad_to_max_output_size": r.chance(0.5)} if op[-1] in "45" else {}
        return function_of(op, **padded), [corners, scores, *limits]

    return make


def crop_gradient(op):
    def make(r):
        count, channels = r.between(0, 4), r.between(1, 3)
        image = (r.between(1, 2), r.between(1, 5), r.between(1, 5), channels)
        boxes = r.uniform(-0.3, 1.3, (count, 4), np.float32)
        owners = r.rng.integers(0, image[0], count).astype(np.int32)
        grads = r.normal((count, r.between(1, 4), r.between(1, 4), channels), np.float32)
        if op == "CropAndResizeGradBoxes":
            return function_of(op), [grads, r.normal(image), boxes, owners]
        run = function_of(op, T=tf.as_dtype(r.kernel_type), method=r.choice(["bilinear", "nearest"]))
        return run, [grads, boxes, owners, np.array(image, np.int32)]

    return make
