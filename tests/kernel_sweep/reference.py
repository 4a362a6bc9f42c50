"""Results of TensorFlow's kernels on the CPU for wider types, which state what is precise."""

import numpy as np
import tensorflow as tf
from compare import as_numbers, largest_element
from drawn import is_float

CPU = "/CPU:0"
NO_KERNEL = ["Could not satisfy device specification", "Could not find device for node", "No registered", "Cannot assign a device"]
# Errors of kernels of Tile and Where for types that they lack.
NO_KERNEL += ["input data type is not supported", "available for float16/half type on CPU"]


def call(function, inputs, device):
    """Returns the arrays of the outputs, or the error. The CPU may have another function, such as one of NHWC for NCHW."""
    function = getattr(function, "on_cpu", function) if device == CPU else function
    try:
        with tf.device(device):
            return [np.asarray(it.numpy()) for it in tf.nest.flatten(function(*[tf.constant(it) for it in inputs]))]
    except (tf.errors.OpError, ValueError) as error:
        return error


def is_error(outcome):
    return isinstance(outcome, Exception)


def has_no_kernel(outcome):
    """Returns true for the error that a device has no kernel of the op and types."""
    return is_error(outcome) and any(it in str(outcome) for it in NO_KERNEL)


class Reference:
    """The CPU's results of a call whose data has a type, computed in other types."""

    def __init__(self, function, inputs, dtype, count=None):
        self.function, self.inputs, self.dtype = function, [np.asarray(it) for it in inputs], np.dtype(dtype)
        self.seeds = self.inputs[count:] if count is not None else []

    def converted(self, change):
        """Returns the outputs for inputs that are changed; `None` if there is no kernel, or an error."""
        outputs = call(self.function, [change(it) if it.dtype == self.dtype else it for it in self.inputs], CPU)
        return None if is_error(outputs) else outputs

    def widened(self, change=lambda it: it):
        """Returns the outputs of the kernel of a wider type, as float64; `None` if there is none."""
        for wide in (np.float64,) if self.dtype == np.float64 else (np.float64, np.float32):
            outputs = self.converted(lambda it: change(it.astype(wide)))
            if outputs is not None:
                return [as_numbers(it) for it in outputs]
        return None

    def substitute(self, found):
        """Returns what the CPU would have if it had a kernel of the type: the outputs of another type, converted."""
        if self.dtype.kind == "c":
            parts = [self.converted(part) for part in (np.real, np.imag)]
            return None if None in parts else [np.stack(pair, -1).view(it.dtype)[..., 0] for *pair, it in zip(*parts, found)]
        for other in self.other_types():
            outputs = self.converted(lambda it: it.astype(other))
            if outputs is not None:
                with np.errstate(all="ignore"):
                    return [it.astype(one.dtype) for it, one in zip(outputs, found)]
        return None

    def other_types(self):
        if self.dtype == np.float64:
            return ()
        return (np.float64, np.float32) if is_float(self.dtype) else (np.uint8,) if self.dtype == np.bool_ else (np.int64, np.int32)

    def precise(self, expected):
        """Returns the outputs in float64; those of the type itself if there is no such kernel."""
        outputs = self.widened()
        is_usable = outputs is not None and [it.shape for it in outputs] == [it.shape for it in expected]
        return outputs if is_usable else [as_numbers(it) for it in expected]

    def units(self, entry, precise, is_gradient):
        """Returns the magnitudes whose unit in the last place measures errors, as the table says.

        A gradient is not more precise than the product of a seed and a rounded result.
        """
        if is_gradient:
            seed = max(largest_element(as_numbers(it)) for it in self.seeds)
            return [np.full(it.shape, max(largest_element(it), seed)) for it in precise]
        of = self.widened(np.abs) if entry.unit == "terms" else None
        if of is not None:
            return [np.abs(it) for it in of]
        if entry.unit == "element":
            return [np.full(it.shape, self.floor(entry.limit)) for it in precise]
        return [np.full(it.shape, largest_element(it)) for it in precise]

    def floor(self, limit):
        """Returns the magnitude below which errors of a function are absolute: the CPU's of float64 lose digits near 0."""
        if limit <= 1:
            return 0.0
        return 1.0 if self.dtype == np.float64 else 2.0**-26
