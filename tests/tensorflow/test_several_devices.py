"""Two devices of the plugin, as programs name and use them, in a process of their own."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import RELEASE

PROGRAM = pathlib.Path(__file__).with_name("several_devices_program.py")
pytestmark = pytest.mark.skipif(os.environ.get("SP_EVERY_MODE") != "1", reason="SP_EVERY_MODE=1 is not set")


def run(*arguments):
    process = subprocess.run([sys.executable, PROGRAM, *arguments], capture_output=True, text=True, timeout=300)
    assert process.returncode == 0, process.stderr[-3000:]
    return json.loads(process.stdout.splitlines()[-1])


def test_device_one_is_named_copied_saved_and_counted():
    found = run()
    for name in ["/device:MYACCEL:1", "MYACCEL:1", "/MYACCEL:1", "myaccel:1"]:
        assert found.pop(f'tf.device("{name}")') == "device:MYACCEL:1", name
    # TensorFlow does not recognize the type in the long form, and takes device 0 without an error.
    assert found.pop('tf.device("/device:myaccel:1")') == "device:MYACCEL:0"
    product = [[0.0, 2.0], [3.0, 0.0]]
    assert found == {
        "copies between devices": [[0.0, 6.0], [9.0, 0.0]],
        "get_memory_info": "counts",
        "get_device_details": {"device_name": "myaccel" if RELEASE >= (2, 22) else "MYACCEL"},
        "SavedModel, device to CPU": product,
        "SavedModel, CPU to device": product,
        "a Session of TensorFlow 1": product,
    }


def test_visible_device_becomes_device_zero():
    assert run("visible") == ["/device:MYACCEL:0"]
