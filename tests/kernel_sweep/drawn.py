"""The source of a case's shapes, types and values: hypothesis draws each choice, so that it can find a smaller case."""

import numpy as np
from hypothesis import strategies
from shape_cases import Random

COMPLEX = {np.dtype(np.complex64): np.float32, np.dtype(np.complex128): np.float64}
# The distance of 1 to the next number, and the least exponent of a normal number.
PRECISION = {"float16": (-10, -14), "bfloat16": (-7, -126), "float32": (-23, -126), "float64": (-52, -1022)}
BITS = strategies.integers(0, 2**16 - 1)


def is_float(dtype):
    return np.dtype(dtype).name in PRECISION


def largest(dtype):
    """Returns the largest finite number of a type of floats, as float64."""
    digits, least = PRECISION[np.dtype(dtype).name]
    return (2 - 2.0**digits) * 2.0 ** (1 - least)


class Drawn(Random):
    """Draws from hypothesis what `Random` draws from a seed; the type of the data is that of the kernel.

    There are no subnormal numbers in inputs of arithmetic: some of TensorFlow's threads flush them to zero.
    """

    def __init__(self, draw, dtype, subnormals):
        self.draw, self.kernel_type, self.bits, self.subnormals = draw, np.dtype(dtype), None, subnormals

    @property
    def rng(self):
        """Returns a generator of many numbers; hypothesis draws its seed."""
        if self.bits is None:
            self.bits = np.random.default_rng(self.draw(BITS))
        return self.bits

    def below(self, limit):
        return self.draw(strategies.integers(0, limit - 1))

    def between(self, low, high):
        return self.draw(strategies.integers(low, high))

    def chance(self, probability):
        return self.below(100) >= 100 - round(100 * probability)

    def dtype(self, types):
        return self.kernel_type.type

    def tensor(self, shape=None, dtype=None, few=False):
        """Returns numbers and special values; with `few`, mostly small integers."""
        shape = self.shape(most=8) if shape is None else tuple(int(it) for it in shape)
        kinds = ["few", "few", "few", "normal", "special"] if few else ["normal", "normal", "special", "extreme", "few"]
        return values(self.rng, self.choice(kinds), shape, np.dtype(dtype or self.kernel_type), self.subnormals)

    def normal(self, shape, dtype=None, scale=3.0):
        """Returns numbers of one magnitude, without special values."""
        part = lambda: np.asarray(self.rng.normal(scale=scale, size=shape))
        return self.converted(part, dtype)

    def uniform(self, low, high, shape, dtype=None):
        return self.converted(lambda: np.asarray(self.rng.uniform(low, high, shape)), dtype)

    def converted(self, part, dtype):
        """Returns numbers of a type; the parts of complex ones are two calls of `part`."""
        dtype = np.dtype(dtype or self.kernel_type)
        return (part() + 1j * part() if dtype in COMPLEX else part()).astype(dtype)

    def positive(self, shape, dtype=None):
        return np.abs(self.normal(shape, dtype)) + np.dtype(dtype or self.kernel_type).type(0.125)


def values(rng, kind, shape, dtype, subnormals=True):
    if dtype == np.bool_:
        return rng.random(shape) < 0.5
    if dtype in COMPLEX:
        part = np.dtype(COMPLEX[dtype])
        parts = [values(rng, kind, shape, part, subnormals) for _ in range(2)]
        return np.stack(parts, -1).view(dtype).reshape(shape)
    return floats(rng, kind, shape, dtype, subnormals) if is_float(dtype) else integers(rng, kind, shape, dtype)


def integers(rng, kind, shape, dtype):
    limits = np.iinfo(dtype)
    if kind == "few":
        return rng.integers(0, 4, shape).astype(dtype)
    if kind == "normal":
        return rng.integers(max(limits.min, -100), 100, shape).astype(dtype)
    if kind == "extreme":
        return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
    special = np.array([0, 1, limits.min, limits.max, limits.max - 1, limits.min + 1, 2, 3], dtype)
    return special[rng.integers(0, len(special), shape)]


def floats(rng, kind, shape, dtype, subnormals):
    digits, least = PRECISION[dtype.name]
    normal = np.asarray(rng.normal(scale=3, size=shape))
    with np.errstate(all="ignore"):
        if kind == "few":
            return np.asarray(rng.integers(0, 4, shape)).astype(dtype)
        if kind == "extreme":
            return np.copysign(2.0 ** rng.uniform(least, -least + 0.9, shape), normal).astype(dtype)
        if kind == "special":
            subnormal = 2.0 ** (least - 2) if subnormals else 0.5
            special = [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, largest(dtype), -largest(dtype)]
            special = np.array([*special, 2.0**least, subnormal, -subnormal, 1 + 2.0**digits])
            return np.where(rng.random(shape) < 0.5, special[rng.integers(0, len(special), shape)], normal).astype(dtype)
        return normal.astype(dtype)
