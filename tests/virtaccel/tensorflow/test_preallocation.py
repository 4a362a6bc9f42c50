"""Plugins whose memory TensorFlow's allocator takes at once, or when it needs it."""

import os

import pytest
from test_virtaccel import DRIVER, PLUGIN, run

PREALLOCATING = os.environ.get("SP_VACCEL_PREALLOCATING")

PROGRAM = f"""
import ctypes
class Info(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char * 32), ("pci_bus_id", ctypes.c_char * 16)] + [
        (name, ctypes.c_uint64) for name in ("total", "free", "peak", "clock")
    ] + [("ordinal", ctypes.c_uint32), ("numa_node", ctypes.c_int32)]
driver = ctypes.CDLL({DRIVER!r})
device, info = ctypes.c_void_p(), Info(ctypes.sizeof(Info))
x = on_device(lambda: tf.nn.relu(tf.constant(np.full((256, 256), 2.0, np.float32))))
assert driver.va_device_open(0, ctypes.byref(device)) == 0
assert driver.va_device_get_info(device, ctypes.byref(info)) == 0
current = tf.config.experimental.get_memory_info("/device:VACCEL:0")["current"]
print(json.dumps([(info.total - info.free) / info.total, current, float(tf.reduce_sum(x))]))
"""


@pytest.mark.skipif(not PREALLOCATING, reason="SP_VACCEL_PREALLOCATING is not set: `in_tensorflow` builds that plugin for this file")
def test_plugin_without_growth_has_nearly_all_memory_allocated_at_once():
    (used, current, result), _ = run(PROGRAM, PREALLOCATING)
    assert used > 0.5 and current < 16 << 20 and result == 2.0 * 256 * 256, (used, current)


def test_plugin_with_growth_has_what_tensors_need():
    (used, current, result), _ = run(PROGRAM, PLUGIN)
    assert used < 0.1 and current < 16 << 20 and result == 2.0 * 256 * 256, (used, current)
