"""Uses a plugin of device type TEST in TensorFlow: its argument is the library."""

import os
import signal
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

# What is installed for other tests stays out of this one.
exists = os.path.exists
os.path.exists = lambda path: not str(path).endswith("tensorflow-plugins") and exists(path)
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.python.framework import kernels  # noqa: E402
from tensorflow.python.framework.load_library import load_pluggable_device_library  # noqa: E402

os.path.exists = exists
# An event that stays pending would stop this process.
signal.alarm(30)
load_pluggable_device_library(sys.argv[1])
tf.config.set_soft_device_placement(False)
ones = tf.constant(np.ones(3, np.float32))
with tf.device("/device:TEST:0"):
    for _ in range(3):
        print(tf.raw_ops.AddV2(x=ones, y=ones).numpy().tolist())
    print(tf.raw_ops.Sum(input=ones, axis=[0]).numpy().tolist())
    if "TEST" in {it.device_type for it in kernels.get_registered_kernels_for_op("Neg").kernel}:
        print(tf.raw_ops.Neg(x=ones).numpy().tolist())
    traced = tf.function(lambda x, y: tf.raw_ops.AddV2(x=x, y=y))
    print(traced(ones, ones).numpy().tolist())
