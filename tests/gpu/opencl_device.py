"""Prints what OpenCL states about the device that a plugin over OpenCL lists first, as JSON: `opencl_device.py LOADER`."""

import ctypes
import json
import sys

CPU, GPU, ACCELERATOR = 2, 4, 8
TEXTS = {"name": 0x102B, "vendor": 0x102C, "driver": 0x102D, "version": 0x102F}
NUMBERS = {"memory": 0x101F, "largest_allocation": 0x1010}


def devices(opencl, kind):
    """Returns the devices of a kind, of all platforms."""
    platforms, platform_count, found = (ctypes.c_void_p * 16)(), ctypes.c_uint(0), []
    opencl.clGetPlatformIDs(16, platforms, ctypes.byref(platform_count))
    for platform in platforms[: platform_count.value]:
        listed, count = (ctypes.c_void_p * 16)(), ctypes.c_uint(0)
        opencl.clGetDeviceIDs(ctypes.c_void_p(platform), ctypes.c_ulong(kind), 16, listed, ctypes.byref(count))
        found += listed[: count.value]
    return found


def describe(opencl, device):
    def read(key, value):
        opencl.clGetDeviceInfo(ctypes.c_void_p(device), key, ctypes.c_size_t(ctypes.sizeof(value)), ctypes.byref(value), None)
        return value

    texts = {name: read(key, ctypes.create_string_buffer(1024)).value.decode(errors="replace") for name, key in TEXTS.items()}
    return {**texts, **{name: read(key, ctypes.c_ulong()).value for name, key in NUMBERS.items()}}


def main():
    opencl = ctypes.CDLL(sys.argv[1])
    found = devices(opencl, GPU | ACCELERATOR) or devices(opencl, CPU)
    if not found:
        sys.exit("OpenCL lists no device")
    print(json.dumps(describe(opencl, found[0])))


if __name__ == "__main__":
    main()
