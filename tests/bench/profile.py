"""Measures what a profile adds to a step of a CNN: `profile.py PYTHON [--rounds N]`, in an environment with TensorFlow and the plugin.

In a process, sessions alternate: none, one with `device_tracer_level` 0, in which releases up to 2.18 start no profiler of a plugin, and
one with level 1. The figure of a session is the tenth percentile of the time of a step, which other programs disturb least; the results
are the medians over the sessions.
"""

import argparse
import json
import statistics
import subprocess

PROGRAM = """
import contextlib, json, statistics, sys, tempfile, time
import tensorflow as tf
tf.random.set_seed(1)
device = [it for it in tf.config.list_physical_devices() if it.device_type != "CPU"][0].device_type
with tf.device(f"/device:{device}:0"):
    images, labels = tf.random.normal([64, 28, 28, 1]), tf.one_hot(tf.range(64) % 10, 10)
    shapes = [[3, 3, 1, 16], [3, 3, 16, 32], [7 * 7 * 32, 10]]
    weights = [tf.Variable(tf.random.normal(shape, stddev=0.1)) for shape in shapes]
    @tf.function
    def step():
        with tf.GradientTape() as tape:
            x = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(images, weights[0], 1, "SAME")), 2, 2, "SAME")
            x = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, weights[1], 1, "SAME")), 2, 2, "SAME")
            x = tf.matmul(tf.reshape(x, [64, -1]), weights[2])
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels, x))
        for weight, gradient in zip(weights, tape.gradient(loss, weights)):
            weight.assign_sub(0.01 * gradient)
        return loss

def times(steps):
    found = []
    for _ in range(steps):
        start = time.perf_counter()
        float(step())
        found.append(time.perf_counter() - start)
    return statistics.quantiles(found, n=10)[0]

LEVELS = {"no profile": None, "level 0": 0, "level 1": 1}
times(30)
found = {name: [] for name in LEVELS}
with tempfile.TemporaryDirectory() as folder:
    for _ in range(int(sys.argv[1])):
        for name, level in LEVELS.items():
            options = level is not None and tf.profiler.experimental.ProfilerOptions(device_tracer_level=level)
            with tf.profiler.experimental.Profile(folder, options) if options else contextlib.nullcontext():
                found[name].append(times(60))
print(json.dumps(found))
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("python")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    done = subprocess.run([options.python, "-c", PROGRAM, str(options.rounds)], stdout=subprocess.PIPE, text=True, check=True)
    medians = {name: statistics.median(times) for name, times in json.loads(done.stdout.splitlines()[-1]).items()}
    for name, time in medians.items():
        print(f"{name:<16} {time * 1e3:7.3f} ms {time / medians['no profile'] - 1:+7.1%}")


if __name__ == "__main__":
    main()
