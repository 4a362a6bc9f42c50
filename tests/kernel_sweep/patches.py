"""Families of patches, dilation, quantized numbers and Fourier transforms."""

import numpy as np
import tensorflow as tf
from calls import function_of
from windows import outputs, window


def steps(r, rank, has_rates):
    """Returns sizes of a window, an image that contains it and attributes; windows with rates are longer."""
    sizes, image, attributes = window(r, rank)
    rates = [r.between(1, 2) if has_rates else 1 for _ in range(rank)]
    image = [n + (size - 1) * (rate - 1) for n, size, rate in zip(image, sizes, rates)]
    if has_rates:
        attributes["rates"] = [1, *rates, 1]
    return sizes, image, attributes


def extracted(op, rank):
    def make(r):
        sizes, image, attributes = steps(r, rank, rank == 2)
        x = r.tensor((r.between(0 if r.chance(0.1) else 1, 2), *image, r.between(1, 4)))
        return function_of(op, ksizes=[1, *sizes, 1], **attributes), [x]

    return make


def dilation(op):
    """A dilation or a gradient; sums that are equal would go to terms that depend on their rounding."""

    def make(r):
        sizes, image, attributes = steps(r, 2, True)
        dims = (r.between(1, 2), *image, r.between(1, 4))
        x = r.rng.permutation(np.arange(np.prod(dims)) % 61).reshape(dims).astype(r.kernel_type)
        filters = r.rng.integers(0, 9, (*sizes, dims[3])).astype(r.kernel_type)
        if op == "Dilation2D":
            return function_of(op, **attributes), [x, filters]
        rates = attributes["rates"][1:3]
        extents = [(size - 1) * rate + 1 for size, rate in zip(sizes, rates)]
        gradient = r.normal((dims[0], *outputs(image, extents, attributes), dims[3]))
        return function_of(op, **attributes), [x, filters, gradient]

    return make


def range_of(r, dims=()):
    low = r.uniform(-9, 0 if r.chance(0.8) else 5, dims, np.float32)
    return [low, (low + r.uniform(0.5, 12, dims, np.float32)).astype(np.float32)]


def fake_quantized(op):
    def make(r):
        dims = (*r.shape(0, 3), r.between(1, 4))
        attributes = dict(num_bits=r.between(2, 9), narrow_range=r.chance(0.3))
        # Sums of gradients without cancellation: the op has no type that would state what is precise.
        inputs = [r.positive(dims, np.float32)] if op.endswith("Gradient") else []
        inputs.append(r.normal(dims, np.float32))
        if "Args" in op:
            low, high = range_of(r)
            return function_of(op, min=float(low), max=float(high), **attributes), inputs
        return function_of(op, **attributes), [*inputs, *range_of(r, dims[-1:] if "PerChannel" in op else ())]

    return make


def quantized(op):
    """One range for all elements, or that of the elements along an axis: the CPU rejects stated limits along axes."""

    def make(r):
        x = r.normal(r.shape(1, 4))
        axis = r.below(x.ndim) if r.chance(0.4) else -1
        is_given = axis < 0 and r.chance(0.6)
        low = r.uniform(-9, -0.5, ())
        limits = [low, (low + r.uniform(1, 12, ())).astype(x.dtype)]
        if op == "QuantizeAndDequantizeV4Grad":
            limits = limits if axis < 0 else [np.full(x.shape[axis], it) for it in limits]
            run = function_of(op, axis=axis)
            # TensorFlow's gradient of the op has too few parameters.
            return lambda *tensors: run(*map(tf.stop_gradient, tensors)), [r.normal(x.shape), x, *limits]
        attributes = dict(signed_input=r.chance(0.6), range_given=is_given, narrow_range=r.chance(0.3), axis=axis)
        bits = r.between(0 if r.chance(0.03) else 2, 12)
        if op == "QuantizeAndDequantizeV3":
            return function_of(op, **attributes), [x, *limits, np.int32(bits)]
        return function_of(op, num_bits=bits, round_mode=r.choice(["HALF_TO_EVEN", "HALF_UP"]), **attributes), [x, *limits]

    return make


LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 30, 37, 74]


def fourier(op, rank):
    """A transform of complex numbers, which are pairs of floats in inputs and results."""

    def make(r):
        dims = (*r.shape(0, 2), *(r.choice(LENGTHS[: 13 if rank == 1 else 8]) for _ in range(rank)))
        x = r.normal((*dims, 2), r.choice([np.float32, np.float64]))
        run = function_of(op)
        return lambda x: parts(run(joined(x))), [x]

    return make


def joined(x):
    return tf.bitcast(x, tf.complex64 if x.dtype == tf.float32 else tf.complex128)


def parts(x):
    return tf.bitcast(x, tf.float32 if x.dtype == tf.complex64 else tf.float64)


def real_fourier(op, rank):
    """A transform of real numbers, or the inverse one. The tensor may be larger than the transform."""

    def make(r):
        lengths = [r.choice(LENGTHS[: 13 if rank == 1 else 8]) for _ in range(rank)]
        dtype, is_inverse = r.choice([np.float32, np.float64]), op.startswith("I")
        dims = [*lengths[:-1], lengths[-1] // 2 + 1 if is_inverse else lengths[-1]]
        dims = (n + (r.below(3) if r.chance(0.3) else 0) - (1 if r.chance(0.02) else 0) for n in dims)
        # The CPU's result of an inverse transform of no elements is uninitialized memory.
        dims = (*r.shape(0, 2), *(max(n, 1) for n in dims))
        sizes = np.array(lengths, np.int32)
        if is_inverse:
            run = function_of(op, Treal=tf.as_dtype(dtype))
            return lambda x, sizes: run(joined(x), sizes), [r.normal((*dims, 2), dtype), sizes]
        run = function_of(op, Tcomplex=tf.complex64 if dtype == np.float32 else tf.complex128)
        return lambda x, sizes: parts(run(x, sizes)), [r.normal(dims, dtype), sizes]

    return make
