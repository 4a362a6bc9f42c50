"""A plugin that does not serve the running release: TensorFlow goes on without it, and a line says why."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
FUTURE = TARGET / "debug" / "examples" / "libfuture.so"  # of tests/examples/future.rs

SESSION = f"""
import glob, json, os, tempfile
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf
from tensorflow.python.framework import load_library
load_library.load_pluggable_device_library({str(FUTURE)!r})
devices = [device.device_type for device in tf.config.list_physical_devices()]
function = tf.function(lambda x: tf.nn.relu(tf.nn.relu(x * 2.0)) + 1.0)
folder = tempfile.mkdtemp()
tf.profiler.experimental.start(folder)
with tf.device("/CPU:0"):
    value = function(tf.constant([-1.0, 2.0])).numpy().tolist()
tf.profiler.experimental.stop()
(trace,) = glob.glob(folder + "/**/*.xplane.pb", recursive=True)
print(json.dumps([devices, value, b"FUTURE" in open(trace, "rb").read()]))
"""


@pytest.mark.skipif(not FUTURE.exists(), reason="`cargo test -p sp-tests` has not built libfuture.so")
def test_tensorflow_goes_on_without_it():
    run = subprocess.run([sys.executable, "-c", SESSION], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    devices, value, traced = json.loads(run.stdout.splitlines()[-1])
    assert "FUTURE" not in devices and not traced
    assert value == [1.0, 5.0]
    said = [line for line in run.stderr.splitlines() if line.startswith("plugin:")]
    assert len(said) == 1 and "is for TensorFlow 2.99 or later" in said[0], run.stderr
