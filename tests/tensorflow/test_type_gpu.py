"""A plugin of device type GPU runs programs that name `/gpu:0`, and no pass of TensorFlow leaves an op without a kernel there.

Without `SP_EVERY_MODE=1` in the environment only some of the optimizers and models run.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import RELEASE, ROOT, example, run_program

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


XLA_PROGRAM = """
import inspect, tempfile
import tensorflow as tf
from tensorflow.compiler.tf2xla.ops.gen_xla_ops import xla_call_module

TEXT = '''module @twice {
  func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    %y = stablehlo.add %x, %x : tensor<3xf32>
    return %y : tensor<3xf32>
  }
}'''
names = {"platforms": ["CPU"]} if "platforms" in inspect.signature(xla_call_module).parameters else {"dim_args_spec": []}

def twice(x):
    (y,) = xla_call_module([x], version=int(VERSION), module=TEXT.encode(), Sout=[[3]], Tout=[tf.float32], **names)
    return y

module = tf.Module()
module.twice = tf.function(lambda x: twice(x + 1) - 1, input_signature=[tf.TensorSpec([3])], autograph=False)
x = tf.constant([1.0, 2, 3])
assert x.device.endswith("GPU:0")
folder = tempfile.mkdtemp()
tf.saved_model.save(module, folder)
with tf.compat.v1.Session(graph=tf.Graph()) as session:
    model = tf.compat.v1.saved_model.load(session, ["serve"], folder)
    signature = model.signature_def["serving_default"]
    of_session = session.run(signature.outputs["output_0"].name, {signature.inputs["x"].name: [1.0, 2, 3]})
print([list(map(float, y)) for y in (twice(x), module.twice(x), tf.saved_model.load(folder).twice(x), of_session)])
"""


def test_modules_of_xla_run_on_the_cpu_also_if_a_model_has_them():
    environment = {"SP_LIBRARY": str(example("type_gpu")), "PYTHONPATH": str(ROOT / "tests" / "startup")}
    process = run_program(XLA_PROGRAM, environment.items(), VERSION=5)
    assert process.returncode == 0, process.stderr[-3000:]
    assert json.loads(process.stdout.splitlines()[-1]) == [[2, 4, 6], [3, 5, 7], [3, 5, 7], [3, 5, 7]]
