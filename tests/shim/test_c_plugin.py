"""A plugin in C, built with the generated headers only, in TensorFlow. Each case runs in a process of its own.

The environment variable SP_GEN is the path of sp-gen.
"""

import importlib.metadata
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).parents[2] / "codegen" / "cli" / "tests" / "shim" / "after.c"
OPTIONS = "-std=c11 -D_DEFAULT_SOURCE -shared -fPIC -O2 -Wl,--no-undefined".split()

IS_2_5 = importlib.metadata.version("tensorflow-cpu").startswith("2.5.")

# Another plugin may be installed, and 2.12 supports plugin devices of one type only.
OPENING = """
import json, sys
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import load_library
load_library.load_pluggable_device_library(sys.argv[1])
listed = [name for kind in ("CPU", "VENDOR") for name in tf.config.list_physical_devices(kind)]
tf.config.set_visible_devices(listed)
"""


def run(plugin, body):
    """Runs `body`, and returns the JSON of its last line, and its stderr."""
    command = [sys.executable, "-c", OPENING + body, str(plugin)]
    process = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"})
    assert process.returncode == 0, process.stderr[-3000:]
    return json.loads(process.stdout.splitlines()[-1]), process.stderr


def plugin_lines(stderr):
    """Returns the lines that plugins write."""
    return [line for line in stderr.splitlines() if line.startswith("plugin ")]


@pytest.fixture(scope="module")
def headers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("headers") / "include"
    command = [os.environ["SP_GEN"], "generate", "--lang", "c", "--out", folder]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def build(headers):
    if shutil.which("cc") is None:
        pytest.skip("this machine has no C compiler (cc)")
    plugin = headers.with_suffix(".so")
    subprocess.run(["cc", *OPTIONS, f"-I{headers}", SOURCE, "-o", plugin], check=True)
    return plugin


@pytest.fixture(scope="module")
def plugin(headers):
    return build(headers)


def test_has_no_undefined_symbols_of_tensorflow(plugin):
    command = ["nm", "--dynamic", "--undefined-only", plugin]
    symbols = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert not re.findall(r"\b(?:TF|TSL|SE|SP|TP)_\w+", symbols)


def test_adds_on_its_device(plugin):
    found, stderr = run(plugin, """
x = tf.constant(np.arange(6, dtype=np.float32).reshape(2, 3))
with tf.device("/device:VENDOR:0"):
    y = tf.raw_ops.AddV2(x=x, y=tf.identity(x))
print(json.dumps([len(tf.config.list_physical_devices("VENDOR")), y.device, y.numpy().tolist()]))
""")
    count, device, sum = found
    assert count == 1 and "VENDOR" in device
    assert sum == [[0, 2, 4], [6, 8, 10]]
    assert not plugin_lines(stderr)


@pytest.mark.skipif(IS_2_5, reason="2.5 returns results of a tf.function only from devices of type GPU")
def test_adds_in_a_function_with_its_optimizer(plugin):
    found, _ = run(plugin, """
@tf.function
def add(x, y):
    with tf.device("/device:VENDOR:0"):
        return tf.raw_ops.AddV2(x=x, y=y)
x = tf.constant([1.0, 2.0])
print(json.dumps(add(x, tf.constant([10.0, 20.0])).numpy().tolist()))
""")
    assert found == [11, 22]


@pytest.mark.skipif(IS_2_5, reason="2.5 has no function to assign a variable")
def test_assigns_variable(plugin):
    found, _ = run(plugin, """
with tf.device("/device:VENDOR:0"):
    variable = tf.Variable(np.ones(3, np.float32))
    variable.assign(np.full(3, 7, np.float32))
print(json.dumps([variable.device, variable.numpy().tolist()]))
""")
    device, value = found
    assert "VENDOR" in device and value == [7, 7, 7]


@pytest.mark.parametrize("struct", ["SP_Platform", "SP_StreamExecutor"])
def test_declines_host_with_unknown_struct_size(headers, tmp_path, struct):
    changed = tmp_path / "include"
    shutil.copytree(headers, changed)
    header = changed / "spgen_stream_executor.h"
    # All layouts known to the plugin are three bytes longer than those of TensorFlow.
    text, count = re.subn(rf"(\{{SPGEN_END_OF\({struct}_\w+, \w+\))", r"\1 + 3", header.read_text())
    assert count >= 2
    header.write_text(text)
    found, stderr = run(build(changed), """
print(json.dumps([len(tf.config.list_physical_devices("VENDOR")), float(tf.constant(1.0) + 1.0)]))
""")
    assert found == [0, 2]
    found = plugin_lines(stderr)
    assert len(found) == 1 and struct in found[0] and "declined" in found[0], found
