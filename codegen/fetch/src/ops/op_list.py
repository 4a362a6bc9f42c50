"""Writes the version of the installed TensorFlow and its op definitions, as its C API returns them.

TensorFlow is not imported: only the library with the ops is loaded, so that neither plugins nor TensorFlow's Python
packages are needed.

Arguments: the file for the answer, and the largest number of bytes that the definitions may have. The answer is a
line, `tensorflow VERSION`, `absent REASON` or `failed REASON`, and after `tensorflow` a serialized OpList.
"""

import ctypes
import importlib.util
import os
import platform
import sys

# The libraries that it depends on register the ops of core. The C API's functions are found in them, too.
LIBRARY = os.path.join("python", "_pywrap_tensorflow_internal.so")


class Buffer(ctypes.Structure):
    """TF_Buffer"""

    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t), ("data_deallocator", ctypes.c_void_p)]


def answer(kind, text, definitions=b""):
    line = "%s %s\n" % (kind, " ".join(str(text).split()))
    with open(sys.argv[1], "wb") as file:
        file.write(line.encode("utf-8", "backslashreplace"))
        file.write(definitions)


def main():
    spec = importlib.util.find_spec("tensorflow")
    if spec is None or not spec.origin:
        return answer("absent", "Python %s has no package `tensorflow`" % platform.python_version())
    try:
        library = ctypes.CDLL(os.path.join(os.path.dirname(spec.origin), LIBRARY))
        library.TF_Version.restype = ctypes.c_char_p
        library.TF_GetAllOpList.restype = ctypes.POINTER(Buffer)
        version, ops = library.TF_Version().decode(), library.TF_GetAllOpList()
    except (OSError, AttributeError, ValueError) as error:
        return answer("failed", error)
    if not ops or not ops.contents.data:
        return answer("failed", "TF_GetAllOpList returned no buffer")
    length, limit = ops.contents.length, int(sys.argv[2])
    if length > limit:
        return answer("failed", "TF_GetAllOpList returned %d bytes; at most %d are read" % (length, limit))
    answer("tensorflow", version, ctypes.string_at(ops.contents.data, length))


main()
