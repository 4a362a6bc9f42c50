"""Exits with 0 if OpenCL has a driver, else with 1."""

import ctypes
import sys

try:
    opencl = ctypes.CDLL("libOpenCL.so.1")
except OSError:
    sys.exit(1)
count = ctypes.c_uint(0)
opencl.clGetPlatformIDs(0, None, ctypes.byref(count))
sys.exit(0 if count.value else 1)
