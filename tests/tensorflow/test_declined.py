"""A plugin that declines the running release: TensorFlow works without it, and one line states the reason."""

import json

from conftest import run_program, example

SESSION = """
import glob, json, os, tempfile
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf
from tensorflow.python.framework import load_library
load_library.load_pluggable_device_library(LIBRARY)
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


def test_tensorflow_works_without_declined_plugin():
    run = run_program(SESSION, LIBRARY=example("future"))
    assert run.returncode == 0, run.stderr
    devices, value, traced = json.loads(run.stdout.splitlines()[-1])
    assert "FUTURE" not in devices and not traced
    assert value == [1.0, 5.0]
    lines = [line for line in run.stderr.splitlines() if line.startswith("plugin sp-tests")]
    assert len(lines) == 1 and "is for TensorFlow 2.99 or later" in lines[0], run.stderr
