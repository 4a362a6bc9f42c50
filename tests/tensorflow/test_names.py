"""Memory settings of two devices, and a plugin that a program without Python loads.

Names of devices, copies between them, SavedModel and a Session are in test_several_devices.py.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest
import tensorflow as tf

from conftest import DEVICE, RELEASE

PROGRAM = pathlib.Path(__file__).with_name("names_program.py")
MEBIBYTE = 1 << 20
complete = pytest.mark.skipif(os.environ.get("SP_EVERY_MODE") != "1", reason="SP_EVERY_MODE=1 is not set")
needs_2_12 = pytest.mark.skipif(RELEASE < (2, 12), reason="the outcomes of 2.12 and later are stated")


def run(*arguments):
    process = subprocess.run([sys.executable, PROGRAM, *arguments], capture_output=True, text=True, timeout=300)
    assert process.returncode == 0, process.stderr[-3000:]
    return json.loads(process.stdout.splitlines()[-1])


@needs_2_12
@pytest.mark.skipif(bool(os.environ.get("SP_KNOWN_UP_TO")), reason="without Python it is not tested whether an older plugin finds the host's headers")
def test_program_loads_plugin_by_c_api(plugin):
    found = run("c_api", str(pathlib.Path(tf.__file__).parent), str(plugin), f"/device:{DEVICE}:1")
    assert "/no/such/plugin.so" in found["missing"]
    assert found["devices"] == ["device:CPU:0", f"device:{DEVICE}:0", f"device:{DEVICE}:1"]
    assert (found["device"], found["result"]) == (f"device:{DEVICE}:1", [0.0, 2.0, 0.0, 4.0])


@complete
@needs_2_12
def test_memory_of_one_device_is_counted_and_freed():
    found = run("memory")
    assert 4 * MEBIBYTE <= found["current"] < 5 * MEBIBYTE
    assert found["current"] <= found["peak"] < 13 * MEBIBYTE
    assert found["after"] < MEBIBYTE
    assert found["other"] < MEBIBYTE, "the other device has no tensor"


@complete
@needs_2_12
def test_logical_devices_and_unequal_growth_are_errors():
    assert run("limits") == {
        "logical devices": f"ValueError: Virtual devices are not supported for {DEVICE}",
        "growth of one": "ValueError: Memory growth cannot differ between GPU devices",
        "growth of both": [f"/device:{DEVICE}:0", f"/device:{DEVICE}:1"],
    }


# The messages of a Session's configuration that limit the device's memory, and those without effect.
LIMITING = {(2, 12): "gpu_options", (2, 21): "pluggable_device_options", (2, 22): "pluggable_device_options"}
IGNORED = {(2, 18): "gpu_options", (2, 21): "gpu_options", (2, 22): "gpu_options"}


@complete
@pytest.mark.skipif(RELEASE not in LIMITING, reason="no message limits the memory in this release")
def test_session_limits_memory():
    small, large = run("fraction", LIMITING[RELEASE])
    assert small == 1000.0
    assert large.startswith("ResourceExhaustedError"), large


@complete
@pytest.mark.skipif(RELEASE not in IGNORED, reason="2.12 has one message, which is not ignored")
def test_session_does_not_limit_memory_by_options_of_gpus():
    assert run("fraction", IGNORED[RELEASE]) == [1000.0, 16 * MEBIBYTE]
