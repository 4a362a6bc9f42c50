"""Trains a CNN in a profile, and prints JSON: what the profile has to have.

Arguments: the folder of the profile, the number of steps. The device is that of the installed plugin, or `SP_DEVICE` of the
library `SP_LIBRARY`.
"""

import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.python.framework import load_library  # noqa: E402

DEVICE = os.environ.get("SP_DEVICE", "/device:MYACCEL:0")


def new_step():
    """Returns a training step of a CNN, as raw ops: Keras of some releases has fused optimizers, which no plugin has."""
    random = np.random.default_rng(3)
    shapes = [(3, 3, 1, 16), (16,), (3, 3, 16, 32), (32,), (14 * 14 * 32, 10), (10,)]
    weights = [tf.Variable(random.normal(scale=0.1, size=shape).astype(np.float32)) for shape in shapes]

    @tf.function
    def step(images, labels):
        with tf.GradientTape() as tape:
            first = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(images, weights[0], 1, "SAME"), weights[1]))
            pooled = tf.nn.max_pool2d(first, 2, 2, "SAME")
            second = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(pooled, weights[2], 1, "SAME"), weights[3]))
            logits = tf.nn.bias_add(tf.matmul(tf.reshape(second, [-1, 14 * 14 * 32]), weights[4]), weights[5])
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        for weight, slope in zip(weights, tape.gradient(loss, weights)):
            weight.assign(weight - 0.01 * slope)
        return loss

    return step


def node_names(function):
    """Returns the names of the nodes of a function's graph and of the functions that it calls."""
    graph = function.graph.as_graph_def()
    nodes = [node for body in graph.library.function for node in body.node_def]
    return sorted({node.name for node in [*graph.node, *nodes]})


def train(step, data, count):
    """Runs training steps; returns the seconds of each."""
    seconds = []
    for number in range(count):
        start = time.perf_counter()
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            step(*data).numpy()
        seconds.append(time.perf_counter() - start)
    return seconds


def load_plugin():
    """Loads the library of `SP_LIBRARY`, unless TensorFlow has loaded it."""
    library = os.environ.get("SP_LIBRARY")
    if library and library != os.environ.get("TF_PLUGGABLE_DEVICE_LIBRARY_PATH"):
        load_library.load_pluggable_device_library(library)


def main(folder, count):
    load_plugin()
    random = np.random.default_rng(5)
    with tf.device(DEVICE):
        step = new_step()
        data = tf.constant(random.random((64, 28, 28, 1), np.float32)), tf.constant(random.integers(0, 10, 64))
        nodes = node_names(step.get_concrete_function(*data))
        train(step, data, 2)
        without = train(step, data, count)
        tf.profiler.experimental.start(folder)
        seconds = train(step, data, count)
        time.sleep(2)  # core's event of the last run ends after the loss is there
        tf.profiler.experimental.stop()
        memory = tf.config.experimental.get_memory_info(DEVICE.removeprefix("/device:"))
    print(json.dumps({"nodes": nodes, "memory": memory, "seconds": seconds, "without": without}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
