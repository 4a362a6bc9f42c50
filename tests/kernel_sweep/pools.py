"""Families of pools whose windows are inputs, of pools with positions, and of derivatives of the gradients of pools."""

import numpy as np
import tensorflow as tf
from calls import function_of
from reference import CPU
from windows import in_either_format, outputs, window


def largest_elements(x, sizes, attributes):
    """Returns the largest element of each window, as the CPU's kernel of float64 computes it."""
    op, volume = ("MaxPool3D", np.float32) if len(sizes) == 3 else ("MaxPool", np.float64)
    with tf.device(CPU):
        return function_of(op, **attributes)(tf.constant(x, volume)).numpy().astype(x.dtype)


def drawn(r, rank=2):
    """Returns an image or volume, the sizes of windows and the attributes of a pool."""
    sizes, image, attributes = window(r, rank)
    return r.normal((r.between(1, 2), *image, r.between(1, 9))), sizes, {**attributes, "ksize": [1, *sizes, 1]}


def input_windows(op):
    """An op whose windows are inputs: a pool, its gradient, or the derivative of that."""

    def make(r):
        x, sizes, attributes = drawn(r)
        limits = [np.array(attributes[name], np.int32) for name in ("ksize", "strides")]
        options = {"padding": attributes["padding"]}
        if op == "MaxPoolV2":
            return function_of(op, **options), [x, *limits]
        y = largest_elements(x, sizes, attributes)
        gradient = r.normal(y.shape if op == "MaxPoolGradV2" else x.shape)
        return function_of(op, **options), [x, y, gradient, *limits]

    return make


def second_gradient(op, rank):
    def make(r):
        x, sizes, attributes = drawn(r, rank)
        y = largest_elements(x, sizes, attributes)
        return in_either_format(r, op, attributes, images=(0, 1, 2)), [x, y, r.normal(x.shape)]

    return make


def positions(op):
    """A pool with positions, or its gradients, which the CPU computes for valid positions only."""

    def make(r):
        x, sizes, attributes = drawn(r)
        has_batch = r.chance(0.5)
        run = function_of(op, **attributes, include_batch_in_index=has_batch)
        if op == "MaxPoolWithArgmax":
            index = r.choice([tf.int32, tf.int64])
            run = function_of(op, **attributes, include_batch_in_index=has_batch, Targmax=index)
            return run, [r.tensor(x.shape, few=True)]
        dims = (x.shape[0], *outputs(x.shape[1:3], sizes, attributes), x.shape[3])
        limit = x.size if has_batch else x[0].size
        # Positions are those of each window's image.
        argmax = r.rng.integers(0, x[0].size, dims)
        argmax = argmax + (np.arange(dims[0]) * x[0].size).reshape(-1, 1, 1, 1) if has_batch else argmax
        argmax = np.minimum(argmax, limit - 1).astype(r.choice([np.int32, np.int64]))
        gradient = r.normal(dims if op == "MaxPoolGradWithArgmax" else x.shape)
        if op == "MaxPoolGradGradWithArgmax":
            run.on_cpu = lambda x, gradient, argmax: gathered(gradient, argmax, has_batch)
        return run, [x, gradient, argmax]

    return make


def gathered(gradient, argmax, has_batch):
    """Returns what MaxPoolGradGradWithArgmax returns, which the CPU lacks."""
    image = tf.size(gradient[0], argmax.dtype)
    first = tf.range(tf.shape(gradient, argmax.dtype)[0]) * (0 if has_batch else image)
    return tf.gather(tf.reshape(gradient, [-1]), argmax + tf.reshape(first, [-1, 1, 1, 1]))
