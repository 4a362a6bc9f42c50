"""Imports TensorFlow, loads one plugin or those that TensorFlow finds, and counts devices and kernels.

Arguments: the file for the answer, which is JSON; `without`, `alone` or `together`; the plugin of `alone`.
`stages.py` comes before this program.
"""

import collections
import os

MODE, PLUGIN = sys.argv[2:4]
LONGEST_SETTINGS = 1 << 20
answer.update({"release": None, "devices": {}, "kernels": {}, "settings": None, "names": None})


def hide_plugins():
    """Makes the plugins folders look empty to TensorFlow, which lists them when it is imported."""
    os.environ.pop("TF_PLUGGABLE_DEVICE_LIBRARY_PATH", None)
    listed = os.listdir

    def listdir(path="."):
        is_plugins = isinstance(path, str) and os.path.basename(os.path.normpath(path)) == "tensorflow-plugins"
        return [] if is_plugins else listed(path)

    os.listdir = listdir


def load():
    """Does what TensorFlow does with a plugin; the dynamic loader alone first, for its message."""
    import ctypes

    enter("load")
    ctypes.CDLL(PLUGIN, mode=os.RTLD_NOW)
    enter("register")
    from tensorflow.python.framework import load_library

    load_library.load_library(PLUGIN)
    load_library.load_pluggable_device_library(PLUGIN)


def settings():
    """Returns the text of the plugin's settings, or None: only a plugin of sp-gen has the function, and not of an earlier one."""
    import ctypes

    write = getattr(ctypes.CDLL(PLUGIN), "sp_plugin_settings", None)
    if write is None:
        return None
    write.argtypes, write.restype = [ctypes.c_char_p, ctypes.c_size_t], ctypes.c_size_t
    text = ctypes.create_string_buffer(max(1, min(write(None, 0), LONGEST_SETTINGS)))
    write(text, len(text))
    return text.value.decode(errors="replace")


def names():
    """Returns `PLATFORM DEVICE_TYPE`, as a plugin of sp-gen states them, or None."""
    import ctypes

    read = getattr(ctypes.CDLL(PLUGIN), "sp_plugin_platform", None)
    if read is None:
        return None
    read.argtypes, read.restype = [], ctypes.c_char_p
    return (read() or b"").decode(errors="replace") or None


def count(types):
    return dict(collections.Counter(types))


def run():
    if MODE != "together":
        hide_plugins()
    enter("import")
    import tensorflow as tf

    answer["release"] = tf.__version__
    if MODE == "alone":
        load()
    enter("devices")
    answer["devices"] = count(device.device_type for device in tf.config.list_physical_devices())
    if MODE == "alone":
        enter("kernels")
        from tensorflow.python.framework import kernels

        registered = kernels.get_all_registered_kernels().kernel
        answer["kernels"] = count(kernel.device_type for kernel in registered)
        enter("settings")
        answer["settings"], answer["names"] = settings(), names()
    if MODE == "together" and len(answer["devices"]) > 2:
        # Plugins with different configurations of their optimizers end the process when a graph is optimized.
        enter("optimize")
        tf.config.list_logical_devices()
        with tf.device("/CPU:0"):
            tf.function(lambda x: tf.nn.relu(x * 2.0 + 1.0) - x)(tf.constant([1.0, 2.0]))
    enter("done")


finish(run)
