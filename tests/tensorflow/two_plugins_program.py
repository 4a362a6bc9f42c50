"""Loads a second plugin beside the installed one, in each way of `WAYS`, and prints the outcomes as JSON.

    python two_plugins_program.py FOLDER

FOLDER has the libraries of tests/examples. Each way runs in a fork of this process, which has imported TensorFlow and the
installed plugin, and has no device yet.
"""

import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf
from tensorflow.python.framework import load_library

TIMEOUT_SECONDS = 60
RELEASE = tuple(map(int, tf.__version__.split(".")[:2]))


def load(name):
    load_library.load_pluggable_device_library(str(pathlib.Path(sys.argv[1]) / f"lib{name}.so"))


def computed_on(*devices):
    """Computes on each device, in eager mode and then in one graph of all."""
    def chain():
        value = tf.constant([[-1.0, 2.0], [3.0, -4.0]])
        for device in devices:
            with tf.device(device):
                value = tf.nn.relu(tf.matmul(value, value) - 1.0)
        with tf.device("/CPU:0"):
            return tf.identity(value)

    expected = [[6.0, 0.0], [0.0, 21.0]] if len(devices) == 1 else [[35.0, 0.0], [0.0, 440.0]]
    for run in [chain, tf.function(chain), tf.function(chain, jit_compile=True)]:
        result = run().numpy().tolist()
        assert result == expected, result
    return "works"


def make_first_visible():
    """Makes only the first device visible that TensorFlow lists beside the CPU, and returns the names of the devices it then has."""
    first, *_ = [device for device in tf.config.list_physical_devices() if device.device_type != "CPU"]
    tf.config.set_visible_devices(tf.config.list_physical_devices("CPU") + [first])
    return [device.name for device in tf.config.list_logical_devices() if device.device_type != "CPU"]


def two_types():
    load("second_type")
    return computed_on("/device:MYACCEL:0", "/device:SECOND:0")


def first_of_two_types_visible():
    load("second_type")
    devices = make_first_visible()
    return f"{computed_on(*devices)}, {len(devices)} devices"


def different_passes_in_different_graphs():
    load("type_gpu")
    devices = make_first_visible() if RELEASE < (2, 19) else ["/device:MYACCEL:0", "/device:GPU:0"]
    return [computed_on(device) for device in devices][-1]


def different_passes_in_one_graph():
    load("type_gpu")
    return computed_on(*make_first_visible() if RELEASE < (2, 19) else ["/device:MYACCEL:0", "/device:GPU:0"])


def different_passes_without_plugin_optimizers():
    tf.config.optimizer.set_experimental_options({"use_plugin_optimizers": False})
    return different_passes_in_one_graph()


def one_type_twice():
    load("same_type")
    return computed_on("/device:MYACCEL:0")


def one_platform_name_twice():
    load("same_platform")
    return computed_on("/device:MYACCEL:0")


def installed_library():
    """Returns the path of the installed plugin, which the process has loaded."""
    maps = pathlib.Path("/proc/self/maps").read_text().split()
    paths = [path for path in maps if path.startswith("/") and "myaccel" in pathlib.Path(path).name]
    return pathlib.Path(paths[0])


def installed_library_again():
    load_library.load_pluggable_device_library(str(installed_library()))
    return computed_on("/device:MYACCEL:0")


def copy_of_installed_library():
    with tempfile.TemporaryDirectory() as folder:
        copies = [shutil.copy(installed_library(), f"{folder}/{name}.so") for name in ["first", "second"]]
        for copy in copies:
            load_library.load_pluggable_device_library(copy)
    return computed_on("/device:MYACCEL:0")


WAYS = [
    two_types,
    first_of_two_types_visible,
    different_passes_in_different_graphs,
    different_passes_in_one_graph,
    different_passes_without_plugin_optimizers,
    one_type_twice,
    one_platform_name_twice,
    installed_library_again,
    copy_of_installed_library,
]


def run_in_child(way, output, errors):
    """Runs the way in the forked child and ends the process."""
    os.dup2(errors.fileno(), 2)
    signal.alarm(TIMEOUT_SECONDS)
    try:
        outcome = way()
    except Exception as error:
        outcome = f"{type(error).__name__}: {error}"
    output.write(outcome)
    output.flush()
    # `sys.exit` would run the parent's exit handlers.
    os._exit(0)


def run(way):
    """Returns the outcome, or the end of standard error if the process was ended by a signal."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        child = os.fork()
        if child == 0:
            run_in_child(way, output, errors)
        _, status = os.waitpid(child, 0)
        output.seek(0)
        errors.seek(0)
        if os.WIFSIGNALED(status):
            return f"ends the process: {errors.read()[:4000]}"
        return output.read()


if __name__ == "__main__":
    print(json.dumps({way.__name__: run(way) for way in WAYS}))
