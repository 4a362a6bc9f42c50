"""Calls of the ops for which TensorFlow registers kernels of device type DEFAULT, in a module for each family.

A case is a function of a `Call`, which makes tensors on the device under test; it returns the tensors to compare.
"""

from . import control_flow, debugger, functions, lists, resources, tensors, variables, workers  # noqa: F401 (they register cases)
from .call import Call, SessionCall  # noqa: F401 (for the program that runs cases)
from .registry import CASES, name, uncalled, UNCALLED  # noqa: F401

uncalled("only TensorFlow's own passes create it", "HostConst", "_ArrayToList", "_DeviceArg", "_DeviceRetval", "_HostCast", "_ListToArray",
         "_ScopedAllocator", "_ScopedAllocatorConcat", "_ScopedAllocatorSplit")
uncalled("needs XLA", "_XlaCompile", "_XlaMerge", "_XlaRun")
uncalled("an op of TensorFlow's own tests", "DevicePlacementOp")
uncalled("needs a Send and a Recv in two partitions, which TensorFlow creates as _Send and _Recv", "Send", "Recv")
uncalled("no Python function calls it", "FakeParam", "MakeWeakResourceHandle")
