"""Uses the memory settings of two devices, or TensorFlow's C API, and prints the results as JSON.

    python names_program.py FUNCTION [ARGUMENT...]
"""

import ctypes
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["SP_CPU_DEVICES"] = "2"
TYPE = "MYACCEL"
MEBIBYTE = 1 << 20


def error_of(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]


def memory():
    """Returns TensorFlow's figures of a device's memory: before a tensor of 4 MiB, with it, and after it."""
    import tensorflow as tf

    info = lambda: tf.config.experimental.get_memory_info(f"{TYPE}:1")
    with tf.device(f"/device:{TYPE}:1"):
        before = info()["current"]
        tensor = tf.nn.relu(tf.fill([MEBIBYTE], 2.0))
        tensor.numpy()
        peak, current = info()["peak"] - before, info()["current"] - before
        tf.config.experimental.reset_memory_stats(f"{TYPE}:1")
        del tensor
        return {"peak": peak, "current": current, "after": info()["current"] - before, "other": tf.config.experimental.get_memory_info(f"{TYPE}:0")["peak"]}


def limits():
    """Returns the errors of logical devices and of growth that differs between devices."""
    import tensorflow as tf

    first, second = tf.config.list_physical_devices(TYPE)
    limit = [tf.config.LogicalDeviceConfiguration(memory_limit=64)]
    found = {"logical devices": error_of(tf.config.set_logical_device_configuration, first, limit)}
    tf.config.experimental.set_memory_growth(first, True)
    found["growth of one"] = error_of(tf.config.list_logical_devices)
    tf.config.experimental.set_memory_growth(second, True)
    found["growth of both"] = error_of(lambda: [device.name for device in tf.config.list_logical_devices(TYPE)])
    return found


def fraction(options):
    """Returns the sum of a tensor of 4 KB, and of one of 64 MiB, in a Session with a thousandth of the device's memory."""
    import numpy as np
    import tensorflow as tf

    v1 = tf.compat.v1
    v1.disable_eager_execution()
    config = v1.ConfigProto()
    getattr(config, options).per_process_gpu_memory_fraction = 0.001
    with tf.device(f"/device:{TYPE}:1"):
        value = v1.placeholder(tf.float32, [None])
        result = tf.reduce_sum(tf.nn.relu(value))
    with v1.Session(config=config) as session:
        return [error_of(lambda: float(session.run(result, {value: np.ones(size, np.float32)}))) for size in [1000, 16 * MEBIBYTE]]


def c_api(folder, library, device):
    """Loads a plugin and computes Relu with the functions of the C API alone; TensorFlow's Python is not imported."""
    names = ["libtensorflow_framework.so.2", "libtensorflow_cc.so.2"]
    libraries = [ctypes.CDLL(os.path.join(folder, name), ctypes.RTLD_GLOBAL) for name in names]
    pointer, text, integer = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int

    def function(name, result, *parameters):
        found = next(getattr(it, name) for it in reversed(libraries) if hasattr(it, name))
        found.restype, found.argtypes = result, parameters
        return found

    status = function("TF_NewStatus", pointer)()

    def checked(name, result, *parameters):
        """Returns the function, which gets the status as its last argument, as one that raises its error."""
        call = function(name, result, *parameters, pointer)

        def run(*arguments):
            value = call(*arguments, status)
            if function("TF_GetCode", integer, pointer)(status):
                raise RuntimeError(function("TF_Message", text, pointer)(status).decode())
            return value

        return run

    load = checked("TF_LoadPluggableDeviceLibrary", pointer, text)
    missing = error_of(load, b"/no/such/plugin.so")
    load(library.encode())
    context = checked("TFE_NewContext", pointer, pointer)(function("TFE_NewContextOptions", pointer)())
    devices = checked("TFE_ContextListDevices", pointer, pointer)(context)
    count = function("TF_DeviceListCount", integer, pointer)(devices)
    name_of = checked("TF_DeviceListName", text, pointer, integer)
    names = [name_of(devices, index).decode().rsplit("/", 1)[-1] for index in range(count)]

    values = (ctypes.c_float * 4)(-1, 2, -3, 4)
    allocate = function("TF_AllocateTensor", pointer, integer, pointer, integer, ctypes.c_size_t)
    tensor = allocate(1, (ctypes.c_int64 * 1)(4), 1, ctypes.sizeof(values))
    data = function("TF_TensorData", pointer, pointer)
    ctypes.memmove(data(tensor), values, ctypes.sizeof(values))
    op = checked("TFE_NewOp", pointer, pointer, text)(context, b"Relu")
    checked("TFE_OpSetDevice", None, pointer, text)(op, device.encode())
    checked("TFE_OpAddInput", None, pointer, pointer)(op, checked("TFE_NewTensorHandle", pointer, pointer)(tensor))
    outputs, number = (pointer * 1)(), integer(1)
    checked("TFE_Execute", None, pointer, pointer, pointer)(op, outputs, ctypes.byref(number))
    place = checked("TFE_TensorHandleDeviceName", text, pointer)(outputs[0]).decode().rsplit("/", 1)[-1]
    result = checked("TFE_TensorHandleResolve", pointer, pointer)(outputs[0])
    return {"missing": missing, "devices": names, "device": place, "result": list((ctypes.c_float * 4).from_address(data(result)))}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
