"""Python runs this module at its start if the folder is in PYTHONPATH; the tested programs do not mention it.

- `SP_HIDE_PLUGIN=1`: TensorFlow finds no installed plugin, and computes on the CPU.
- `SP_LIBRARY=FILE`: TensorFlow loads this library of a plugin in place of the installed ones.
- `SP_CALLS=FILE`: at its exit each process appends the number of kernels that the plugin has computed.
"""

import atexit
import ctypes
import os
import pathlib
import sys

FOLDER = "tensorflow-plugins"


def hide_plugin():
    """Makes TensorFlow's `import` skip the folder of plugins in each site-packages."""
    os.environ.pop("TF_PLUGGABLE_DEVICE_LIBRARY_PATH", None)
    exists = os.path.exists
    os.path.exists = lambda path: os.path.basename(str(path)) != FOLDER and exists(path)


def library():
    """Returns the path of the plugin that TensorFlow has loaded, or `None`."""
    loaded = os.environ.get("TF_PLUGGABLE_DEVICE_LIBRARY_PATH")
    package = sys.modules.get("tensorflow")
    if loaded or package is None:
        return loaded
    return next((pathlib.Path(package.__file__).parents[1] / FOLDER).glob("*.so"), None)


def append_calls(path):
    """Appends the sum of the calls of all kernels, if TensorFlow was imported."""
    plugin = library()
    if plugin is None or "tensorflow" not in sys.modules:
        return
    count = ctypes.CDLL(str(plugin)).sp_kernel_calls
    count.argtypes, count.restype = [ctypes.c_char_p, ctypes.c_size_t], ctypes.c_size_t
    text = ctypes.create_string_buffer(count(None, 0) + 1024)
    count(text, len(text))
    fields = [field for line in text.value.decode().splitlines() for field in line.split() if field.startswith("calls=")]
    with open(path, "a") as file:
        file.write(f"{sum(int(field[6:]) for field in fields)}\n")


if os.environ.get("SP_HIDE_PLUGIN") == "1":
    hide_plugin()
elif "SP_LIBRARY" in os.environ:
    hide_plugin()
    os.environ["TF_PLUGGABLE_DEVICE_LIBRARY_PATH"] = os.environ["SP_LIBRARY"]
if "SP_CALLS" in os.environ and os.environ.get("SP_HIDE_PLUGIN") != "1":
    atexit.register(append_calls, os.environ["SP_CALLS"])
