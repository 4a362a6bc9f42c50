"""Compares a kernel's results with the CPU's and with those of float64, in units in the last place of the type."""

import numpy as np
from drawn import is_float, largest, PRECISION


def units(numbers, dtype):
    """Returns the distance between neighbors of the type at each number."""
    digits, least = PRECISION[np.dtype(dtype).name]
    exponent = np.frexp(numbers)[1] - 1
    return 2.0 ** (np.maximum(exponent, least) + digits)


def errors(found, precise, unit, dtype):
    """Returns the error of each element in units; 0 if precise results are not normal numbers of the type."""
    least, most = 2.0 ** PRECISION[np.dtype(dtype).name][1], largest(dtype)
    with np.errstate(all="ignore"):
        magnitude = np.maximum(np.abs(precise), unit)
        is_normal = np.isfinite(precise) & np.isfinite(unit) & np.isfinite(found) & (magnitude >= least) & (magnitude <= most)
        return np.where(is_normal, np.abs(found - precise) / units(np.where(is_normal, magnitude, 1.0), dtype), 0.0)


def is_same(found, other):
    return (found == other) | (np.isnan(found) & np.isnan(other))


def accepted(found, cpu, precise, unit, dtype, limit):
    """Returns, for each element, whether the result is right.

    It is the CPU's, or near to the precise one, or not much farther from it than the CPU's worst. Numbers below the least normal
    one may be flushed to zero, and terms whose sum of magnitudes overflows may be added in any order.
    """
    least, most = 2.0 ** PRECISION[np.dtype(dtype).name][1], largest(dtype)
    with np.errstate(all="ignore"):
        rounded = precise.astype(dtype).astype(np.float64)
        is_near = np.abs(found - precise) <= limit * units(np.maximum(np.abs(precise), unit), dtype)
        of_cpu = np.max(errors(cpu, precise, unit, dtype), initial=0)
        is_as_near = errors(found, precise, unit, dtype) <= 1.5 * of_cpu if of_cpu else np.zeros(found.shape, bool)
        is_as_near &= np.isfinite(found) & np.isfinite(precise)
        is_subnormal = (np.abs(precise) <= least) & (np.abs(found) <= least)
        has_overflow = ~(np.maximum(np.abs(precise), unit) < most) & ~np.isnan(precise) & ~np.isfinite(found) & ~np.isnan(cpu)
        has_overflow |= ~(unit < most) & (np.isfinite(precise) | (np.abs(found) > most / 2))
    is_near &= np.isfinite(precise)
    return is_same(found, cpu) | is_same(found, rounded) | is_near | is_as_near | is_subnormal | has_overflow


def equal(found, cpu):
    """Returns, for each element, whether the numbers are equal; those below the least normal one may be flushed to zero."""
    if found.dtype == object or found.dtype.kind in "biu":
        return np.asarray(found == cpu)
    if found.dtype.kind == "c":
        return equal(found.real, cpu.real) & equal(found.imag, cpu.imag)
    least, one, other = 2.0 ** PRECISION[found.dtype.name][1], as_numbers(found), as_numbers(cpu)
    with np.errstate(all="ignore"):
        return is_same(one, other) | (np.abs(one) < least) & (np.abs(other) < least)


def near(found, cpu, precise, is_of_tensor, limit):
    """Returns, for each element, whether a function of complex numbers is right.

    Its distance to the precise result is small, or it is the CPU's result. TensorFlow's loops differ from each other in which
    results of infinities and of divisions by 0 are infinite, and which NaN: these may differ, but not in the sign of an infinity.
    """
    with np.errstate(all="ignore"):
        magnitude = np.abs(precise)
        is_finite = np.isfinite(magnitude)
        magnitude = np.max(np.where(is_finite, magnitude, 0), initial=0) if is_of_tensor else magnitude
        digits, least = PRECISION["float32"]
        is_near = is_finite & (np.abs(found - precise) <= limit * 2.0**digits * magnitude + 2.0**least)
        is_no_number = ~np.isfinite(found) & ~np.isfinite(cpu) & ~has_other_sign(found, cpu)
        rounded = precise.astype(found.dtype)
    return is_near | is_no_number | equal(found, cpu) | equal(found, rounded)


def has_other_sign(found, cpu):
    """Returns, for each element, whether a part is infinite in both, with different signs."""
    parts = [(found.real, cpu.real), (found.imag, cpu.imag)]
    return np.logical_or.reduce([np.isinf(one) & np.isinf(other) & (one != other) for one, other in parts])


def first_difference(is_right, found, cpu, precise=None):
    """Returns a description of the first wrong element."""
    index = tuple(int(it) for it in np.argwhere(~is_right)[0])
    text = f"element {list(index)} is {found[index]!r}, the CPU's is {cpu[index]!r}"
    return text + (f", in float64 {precise[index]!r}" if precise is not None else "")


def largest_element(array):
    """Returns the largest finite magnitude."""
    if array.dtype.kind != "f":
        return 0.0
    with np.errstate(all="ignore"):
        return np.max(np.abs(np.where(np.isfinite(array), array, 0)), initial=0)


def as_numbers(array):
    return array.astype(np.float64) if is_float(array.dtype) else array


def same_bits(one, other):
    return one.dtype == other.dtype and one.shape == other.shape and (one.dtype == object or one.tobytes() == other.tobytes())


def equal_bits(one, other):
    """Returns, for each element, whether the bits are the same."""
    if one.dtype == object:
        return np.asarray(one == other)
    as_bytes = lambda it: np.frombuffer(it.tobytes(), np.uint8).reshape(*it.shape, it.dtype.itemsize)
    return (as_bytes(one) == as_bytes(other)).all(-1)
