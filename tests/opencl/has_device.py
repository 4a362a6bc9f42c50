"""Exits with 0 if OpenCL has a device, else with 1: `has_device.py [N]` for N devices that a plugin over OpenCL lists."""

import ctypes
import sys

CPU, GPU, ACCELERATOR = 2, 4, 8


def count(opencl, kind):
    """Returns the number of devices of a kind, of all platforms."""
    platforms, platform_count, total = (ctypes.c_void_p * 16)(), ctypes.c_uint(0), 0
    opencl.clGetPlatformIDs(16, platforms, ctypes.byref(platform_count))
    for platform in platforms[: platform_count.value]:
        found = ctypes.c_uint(0)
        opencl.clGetDeviceIDs(ctypes.c_void_p(platform), ctypes.c_ulong(kind), 0, None, ctypes.byref(found))
        total += found.value
    return total


try:
    library = ctypes.CDLL("libOpenCL.so.1")
except OSError:
    sys.exit(1)
expected = int(sys.argv[1]) if len(sys.argv) > 1 else 1
sys.exit(0 if (count(library, GPU | ACCELERATOR) or count(library, CPU)) >= expected else 1)
