"""Tensors on the plugin's device that other libraries read through DLPack: a copy on the CPU takes their place.

DLPack has no kind of device for a plugin's. TensorFlow rejects its tensors, and those of a device of type GPU it gives away as memory of
CUDA, which they are not.

The plugin runs this text once, with the global DEVICE_TYPE.
"""

import functools
import sys

# The functions of pywrap_tfe that make a capsule and that tell the device of the memory. The second one is absent in older releases.
REQUIRED, OPTIONAL = "TFE_ToDlpackCapsule", "TFE_DlpackDevice"


def of_host_copy(function):
    """Returns the function, called with a copy on the CPU in place of a tensor in the memory of the plugin's device."""

    @functools.wraps(function)
    def call(tensor, *arguments):
        return function(tensor._copy(device_name="CPU:0") if is_on_device(tensor) else tensor, *arguments)

    return call


def is_on_device(tensor):
    device = getattr(tensor, "backing_device", None) or ""
    return device.rsplit(":", 2)[-2:-1] == [DEVICE_TYPE]


def install():
    module = sys.modules["tensorflow.python.pywrap_tfe"]
    functions = {REQUIRED: of_host_copy(getattr(module, REQUIRED))}
    if hasattr(module, OPTIONAL):
        functions[OPTIONAL] = of_host_copy(getattr(module, OPTIONAL))
    for name, function in functions.items():
        setattr(module, name, function)
