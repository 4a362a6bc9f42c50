"""Measures what kernels that run behind their calls save of a training step: `behind.py PYTHON [--rounds N] [--library PATH]`.

The device is that of the plugin installed for PYTHON, or of the library PATH. A plugin over the reference device is measured on an
asynchronous device with memory of its own. Processes with `SP_BEHIND=1` and `SP_BEHIND=0` alternate, so that both see the same load.
The figure of a process is the median time of a step; the results are the medians over the processes.
"""

import argparse
import os
import pathlib
import statistics
import subprocess

PROGRAM = """
import statistics, time
import tensorflow as tf
if LIBRARY:
    from tensorflow.python.framework import load_library
    load_library.load_pluggable_device_library(LIBRARY)
device = [it for it in tf.config.list_physical_devices() if it.device_type != "CPU"][0].device_type
BATCH, CLASSES = 32, 10
with tf.device(f"/device:{device}:0"):
    images = tf.random.stateless_normal([BATCH, 28, 28, 1], [1, 2])
    labels = tf.one_hot(tf.range(BATCH) % CLASSES, CLASSES)
    shapes = [[3, 3, 1, 16], [16], [3, 3, 16, 32], [32], [7 * 7 * 32, CLASSES], [CLASSES]]
    weights = [tf.Variable(0.1 * tf.random.stateless_normal(shape, [3, index])) for index, shape in enumerate(shapes)]
    def layer(x, weights, bias):
        x = tf.nn.conv2d(x, weights, 1, "SAME")
        return tf.nn.max_pool2d(tf.nn.relu(tf.nn.bias_add(x, bias)), 2, 2, "VALID")
    @tf.function
    def step():
        with tf.GradientTape() as tape:
            x = layer(layer(images, *weights[:2]), *weights[2:4])
            x = tf.nn.bias_add(tf.matmul(tf.reshape(x, [BATCH, -1]), weights[4]), weights[5])
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels, x))
        for weight, gradient in zip(weights, tape.gradient(loss, weights)):
            weight.assign(weight - 0.01 * gradient)
        return loss
    for _ in range(5):
        first = float(step())
    times = []
    for _ in range(STEPS):
        start = time.perf_counter()
        loss = float(step())
        times.append(time.perf_counter() - start)
assert loss < first, (loss, first)
print(statistics.median(times), loss)
"""

MODES = {"SP_CPU_MEMORY": "opaque", "SP_CPU_STREAMS": "async"}


def measure(arguments, behind):
    """Returns the time of a step in milliseconds, and the loss of the last one."""
    constants = f"LIBRARY, STEPS = {arguments.library!r}, {arguments.steps}\n"
    environment = {"TF_CPP_MIN_LOG_LEVEL": "3", **MODES, **os.environ, "SP_BEHIND": str(behind)}
    command = [arguments.python, "-c", constants + PROGRAM]
    output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
    time, loss = output.splitlines()[-1].split()
    return float(time) * 1e3, loss


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--library", type=lambda path: str(pathlib.Path(path).resolve()))
    arguments = parser.parse_args()
    figures, losses = {1: [], 0: []}, set()
    for _ in range(arguments.rounds):
        for behind, times in figures.items():
            time, loss = measure(arguments, behind)
            times.append(time)
            losses.add(loss)
    behind, waiting = (statistics.median(times) for times in figures.values())
    print(f"SP_BEHIND=1: step {behind:8.3f} ms")
    print(f"SP_BEHIND=0: step {waiting:8.3f} ms   ratio {behind / waiting:.2f}")
    print(f"losses: {'equal' if len(losses) == 1 else sorted(losses)}")


main()
