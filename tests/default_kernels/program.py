"""Runs the cases of ops on the CPU and on the device, in the mode that the environment selects.

Arguments: `CASE:MODE` each. Prints a line before and after each, so that the caller knows which one has ended the process.
"""

import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

import cases  # noqa: E402

DEVICE = "/device:MYACCEL:0"
# The exit status if TensorFlow does not list the device: the plugin is not installed, or was removed during the sweep.
NO_DEVICE = 3
# Large enough that work of an earlier op is in progress when a later one reads its result at once.
REPEATS = 2
NO_KERNEL = ("Could not satisfy", "no supported kernel", "No OpKernel was registered", "no kernel")


def arrays(outputs):
    """Returns the tensors as arrays of numbers, in order."""
    tensors = tf.nest.flatten(outputs)
    return [np.asarray(it, np.float64) for it in tensors if it is not None and getattr(it, "dtype", None) not in (tf.variant, tf.resource)]


def call_of(kind, device, is_graph):
    call = kind()
    call.device, call.is_graph = device, is_graph
    return call


def run_eager(function, device):
    with tf.device(device):
        return arrays(function(call_of(cases.Call, device, False)))


def run_function(function, device):
    @tf.function
    def outer():
        with tf.device(device):
            return [it for it in tf.nest.flatten(function(call_of(cases.Call, device, True))) if isinstance(it, tf.Tensor)]

    with tf.device(device):
        return arrays(outer())


def run_session(function, device):
    with tf.Graph().as_default(), tf.device(device):
        outputs = function(call_of(cases.SessionCall, device, True))
        config = tf.compat.v1.ConfigProto(allow_soft_placement=False)
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        with tf.compat.v1.Session(config=config) as session:
            return arrays(outputs(session) if callable(outputs) else session.run(tf.nest.flatten(outputs)))


RUNS = {"eager": run_eager, "function": run_function, "session": run_session}


def outcome(mode, function, device):
    """Returns the arrays, or the error's class and message."""
    try:
        return RUNS[mode](function, device)
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())}"


def compare(mode, function):
    """Returns the result of a case: right, wrong, an error, or uncalled with the CPU's error."""
    expected = outcome(mode, function, "/CPU:0")
    if isinstance(expected, str):
        return "uncalled", expected[:300]
    for _ in range(REPEATS):
        found = outcome(mode, function, DEVICE)
        if isinstance(found, str):
            return kind_of(found), found[:300]
        if len(found) != len(expected):
            return "wrong", f"{len(found)} outputs, expected {len(expected)}"
        for one, other in zip(found, expected):
            if one.shape != other.shape or not np.allclose(one, other, rtol=1e-5, equal_nan=True):
                return "wrong", f"{one.ravel()[:4].tolist()}, expected {other.ravel()[:4].tolist()}"
    return "right", ""


def kind_of(error):
    if "does not support the device's memory" in error:
        return "rejected"
    return "no kernel" if any(it in error for it in NO_KERNEL) else "error"


def run(name, mode):
    (function,) = {function for function, _ in cases.CASES.values() if cases.name(function) == name}
    print(json.dumps({"case": name, "mode": mode, "start": True}), flush=True)
    result, detail = compare(mode, function)
    print(json.dumps({"case": name, "mode": mode, "result": result, "detail": detail}), flush=True)


def registered():
    """Prints the ops for which TensorFlow has kernels of device type DEFAULT, those of the plugin, and the cases."""
    from tensorflow.python.framework import kernels

    found = kernels.get_all_registered_kernels().kernel
    of_type = lambda name: sorted({it.op for it in found if it.device_type == name})
    print(json.dumps({"release": tf.__version__, "ops": of_type("DEFAULT"), "plugin": of_type("MYACCEL"), "uncalled": cases.UNCALLED,
                      "cases": {op: [cases.name(function), modes] for op, (function, modes) in cases.CASES.items()}}))


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        registered()
    elif not tf.config.list_physical_devices("MYACCEL"):
        sys.exit(NO_DEVICE)
    else:
        tf.config.set_soft_device_placement(False)
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
        for argument in sys.argv[1:]:
            run(*argument.split(":"))
