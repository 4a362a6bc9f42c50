"""A plugin that `sp-gen new --lang c` writes, as a wheel, in TensorFlow. The environment variable SP_GEN is the path of sp-gen."""

import os
import shutil
import subprocess
import sys
import zipfile

import pytest

GRADIENTS = """
import sys
import tensorflow as tf
from tensorflow.python.framework import load_library
load_library.load_pluggable_device_library(sys.argv[1])
listed = [name for kind in ("CPU", "CACCEL") for name in tf.config.list_physical_devices(kind)]
tf.config.set_visible_devices(listed)
import caccel
value, bias = tf.constant([[1.0, -2.0, 3.0]]), tf.constant([1.0, 1.0, 1.0])
with tf.GradientTape() as tape:
    tape.watch([value, bias])
    with tf.device("/device:CACCEL:0"):
        result = caccel.ops.bias_relu(value, bias)
assert "CACCEL" in result.device, result.device
print([it.numpy().tolist() for it in [result, *tape.gradient(result, [value, bias])]])
"""


def run(*command, **options):
    process = subprocess.run(command, capture_output=True, text=True, **options)
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    return process.stdout


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    """Returns the plugin's folder, and the one with the files of its wheel."""
    if shutil.which("cc") is None or shutil.which("c++") is None:
        pytest.skip("this machine has no C and C++ compiler (cc, c++)")
    folder = tmp_path_factory.mktemp("plugin")
    run(os.environ["SP_GEN"], "new", "caccel", "--lang", "c", "--vcs", "none", cwd=folder)
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, folder / "caccel")
    [wheel] = folder.glob("*.whl")
    assert "-py3-none-" in wheel.name, wheel.name
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "caccel", folder / "installed"


def test_own_tests_pass(plugin):
    folder, installed = plugin
    output = run(sys.executable, folder / "tests/test_plugin.py", installed / "tensorflow-plugins/libcaccel.so")
    assert "5 passed in TensorFlow" in output


def test_op_has_a_function_and_a_gradient(plugin):
    _, installed = plugin
    library = installed / "tensorflow-plugins/libcaccel.so"
    output = run(sys.executable, "-c", GRADIENTS, library, env={**os.environ, "PYTHONPATH": str(installed)})
    assert output.splitlines()[-1] == "[[[2.0, 0.0, 4.0]], [[1.0, 0.0, 1.0]], [1.0, 0.0, 1.0]]"
