"""A plugin that does not serve the running release: TensorFlow goes on without it, and a line says why."""

import json

from conftest import alone, example

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


def test_tensorflow_goes_on_without_it():
    run = alone(SESSION, LIBRARY=example("future"))
    assert run.returncode == 0, run.stderr
    devices, value, traced = json.loads(run.stdout.splitlines()[-1])
    assert "FUTURE" not in devices and not traced
    assert value == [1.0, 5.0]
    said = [line for line in run.stderr.splitlines() if line.startswith("plugin ")]
    assert len(said) == 1 and "is for TensorFlow 2.99 or later" in said[0], run.stderr
