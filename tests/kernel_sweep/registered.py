"""Calls of the plugin's kernels, as it counts them: a line of text for each kernel, in which `calls=` follows the op and the types."""

import ctypes
import functools
import os
import pathlib

import tensorflow as tf


def library():
    """Returns the path of the plugin's library."""
    installed = pathlib.Path(tf.__file__).parent.parent / "tensorflow-plugins"
    loaded = os.environ.get("TF_PLUGGABLE_DEVICE_LIBRARY_PATH")
    (path,) = [loaded] if loaded else installed.glob("*myaccel*.so")
    return str(path)


@functools.cache
def counter():
    count = ctypes.CDLL(library()).sp_kernel_calls
    count.argtypes, count.restype = [ctypes.c_char_p, ctypes.c_size_t], ctypes.c_size_t
    return count


def kernels_of(op):
    """Returns the number of calls of each kernel of an op, by its types."""
    text = ctypes.create_string_buffer(counter()(None, 0) + 1024)
    counter()(text, len(text))
    lines = [line.split() for line in text.value.decode().splitlines() if line.startswith(f"{op} ")]
    calls = {}
    for line in lines:
        position = next(index for index, field in enumerate(line) if field.startswith("calls="))
        types, count = line[1:position], int(line[position].removeprefix("calls="))
        calls[" ".join(types)] = calls.get(" ".join(types), 0) + count
    return calls


def counted_calls(op):
    return sum(kernels_of(op).values())
