"""Runs functions on the CPU and on the device, and compares outputs or errors.

`SP_SWEEP=1000` sets the number of random cases of each test; `SP_SEED` the first seed.
"""

import os

import numpy as np
import tensorflow as tf

from conftest import DEVICE

R = tf.raw_ops
CASES = int(os.environ.get("SP_SWEEP", "25"))
SEED = int(os.environ.get("SP_SEED", "1"))
FLOATS = [np.float32, np.float64]


def seeds():
    return range(SEED, SEED + CASES)


def tensors(outputs):
    return [np.asarray(it) for it in (outputs if isinstance(outputs, (tuple, list)) else [outputs])]


def outcome(function, device, graph=False, data={}):
    """Returns the outputs of a function on a device, or the error that it raises. In a graph its data are arguments."""
    try:
        with tf.device(device):
            # An array of float64 would be converted if the op's type has a default.
            return tensors((tf.function(function) if graph else function)(**tf.nest.map_structure(tf.constant, data)))
    except (tf.errors.OpError, ValueError) as error:
        return error


def assert_close(found, expected, tolerance, about=""):
    assert len(found) == len(expected), about
    for index, (one, other) in enumerate(zip(found, expected)):
        assert one.shape == other.shape and one.dtype == other.dtype, f"{about} output {index}"
        if one.dtype.kind == "f" and tolerance:
            with np.errstate(all="ignore"):
                scale = np.max(np.abs(np.where(np.isfinite(other), other, 0)), initial=0) if other.size else 0
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * (1 + scale), err_msg=f"{about} output {index}")
        else:
            np.testing.assert_array_equal(one, other, err_msg=f"{about} output {index}")


def assert_same_outcome(op, calls, function, tolerance, about="", graph=False, oracle=None, **data):
    """Runs a function on both devices; compares outputs, or the classes of errors.

    `oracle` computes the outputs if the CPU's kernel does not support the attributes.
    """
    expected, before = outcome(function, "/CPU:0", graph, data), calls()[op]
    found = outcome(function, f"/device:{DEVICE}:0", graph, data)
    if oracle and isinstance(expected, Exception):
        expected = oracle()
    assert isinstance(found, Exception) == isinstance(expected, Exception), f"{about}: {found!r}, not {expected!r}"
    if isinstance(expected, Exception):
        assert type(found) is type(expected), f"{about}: {found!r}, not {expected!r}"
        return
    assert calls()[op] > before, f"{op} did not run in the plugin"
    assert_close(found, expected, tolerance, about)


def tolerance_of(dtype):
    return 3e-5 if dtype == np.float32 else 1e-12


INVALID, UNIMPLEMENTED = tf.errors.InvalidArgumentError, tf.errors.UnimplementedError
