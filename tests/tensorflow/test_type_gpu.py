"""A plugin of device type GPU runs programs that name `/gpu:0`, and no pass of TensorFlow leaves an op without a kernel there.

Without `SP_EVERY_MODE=1` in the environment only some of the optimizers and models run.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import RELEASE, example

PROGRAM = pathlib.Path(__file__).with_name("type_program.py")
IS_COMPLETE = os.environ.get("SP_EVERY_MODE") == "1"
EVERY = ["mlp SGD", "mlp Adam", "mlp RMSprop", "mlp Adagrad", "cnn SGD", "cnn Adam", "lstm SGD", "gru Adam"]
# Graphs of type GPU stay in float32 with mixed precision too.
PARTS = [*EVERY, "mixed precision", *EVERY] if IS_COMPLETE else ["mlp Adagrad", "lstm SGD", "cnn Adam"]
pytestmark = pytest.mark.skipif(RELEASE < (2, 12), reason="Keras' older optimizers use fused kernels that only core has")


def results(device, library, *parts):
    command = [sys.executable, PROGRAM, device, str(library), *parts]
    process = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert process.returncode == 0, process.stderr[-3000:]
    return json.loads(process.stdout.splitlines()[-1])


def assert_losses_of_cpu(found):
    runs = {name: losses for name, losses in found.items() if "cpu" in losses}
    assert len(runs) > 1
    for name, losses in runs.items():
        assert losses["device"][4] < losses["device"][0], name
        assert losses["device"] == pytest.approx(losses["cpu"], rel=2e-3, abs=1e-3), name


def test_program_that_names_gpu_has_losses_of_cpu():
    found = results("/gpu:0", example("type_gpu"), *PARTS)
    assert found["devices"] == ["/device:CPU:0", "/device:GPU:0"]
    assert_losses_of_cpu(found)
    # TensorFlow has a kernel of Reshape for type GPU too. The plugin's has a higher priority; else such nodes are errors.
    assert {"Conv2D", "MatMul", "Reshape"} <= set(found["kernels called"])
    # Keras 2 writes V3 for masked sequences only.
    version = "" if RELEASE < (2, 16) else "V3"
    assert {f"CudnnRNN{version}", f"CudnnRNNBackprop{version}"} <= set(found["kernels called"])


def test_own_type_has_losses_of_cpu():
    parts = EVERY if IS_COMPLETE else ["mlp Adagrad", "mlp Adam"]
    assert_losses_of_cpu(results("/device:MYACCEL:0", "-", *parts))
