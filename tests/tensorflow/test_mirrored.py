"""MirroredStrategy over two devices of the plugin."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import DEVICE, RELEASE

PROGRAM = pathlib.Path(__file__).with_name("mirrored_program.py")
IS_COMPLETE = os.environ.get("SP_EVERY_MODE") == "1"
MODES = ["host inline", "opaque async"]
pytestmark = pytest.mark.skipif(RELEASE < (2, 11), reason="Keras' older optimizers use fused kernels that only core has")


@pytest.mark.parametrize("mode", MODES if IS_COMPLETE else MODES[:1])
def test_two_named_devices_have_losses_of_cpu(mode):
    memory, streams = mode.split()
    environment = {**os.environ, "SP_CPU_MEMORY": memory, "SP_CPU_STREAMS": streams}
    command = [sys.executable, PROGRAM, f"{DEVICE}:0", f"{DEVICE}:1"]
    process = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert process.returncode == 0, process.stderr[-3000:]
    found = json.loads(process.stdout.splitlines()[-1])
    assert found["devices"] == pytest.approx(found["cpu"], rel=1e-4)
    assert found["devices"][-1] < found["devices"][0]
    assert found["variables"] == [f"device:{DEVICE}:0", f"device:{DEVICE}:1"]
    # Without names TensorFlow takes GPUs, or else the CPU.
    assert found["replicas without names"] == 1
