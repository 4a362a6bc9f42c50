"""Compares kernels on the plugin's device with those of TensorFlow's CPU device, in one process.

    target/made/tensorflow-2.21/bin/python tests/bench/kernels.py [--only MatMul] [--rounds 15]

Each row is one op at one size. The two devices alternate. A figure is the median time of a call
over the rounds, with inputs on the device and the output allocated by the op. `ratio` is the plugin's time
over TensorFlow's: below 1 the plugin is faster.
"""

import argparse
import os
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

DEVICES = ("/device:MYACCEL:0", "/CPU:0")
RAW_OPS = tf.raw_ops
MAT_MUL = [(32, 784, 128), (128, 128, 128), (512, 512, 512), (1024, 1024, 1024), (2048, 64, 2048), (1, 1024, 1024)]
ADD = [((1000,), (1000,)), ((100_000,), (100_000,)), ((1_000_000,), (1_000_000,)), ((10_000_000,), (10_000_000,)), ((1000, 1000), (1000,)), ((1000, 1000), (1000, 1)), ((1_000_000,), ())]


def cases():
    for m, k, n in MAT_MUL:
        yield f"MatMul {m}x{k}x{n}", lambda a, b: RAW_OPS.MatMul(a=a, b=b), (m, k), (k, n)
    for x, y in ADD:
        yield f"AddV2 {x} + {y}", lambda a, b: RAW_OPS.AddV2(x=a, y=b), x, y


def seconds(run, x, y, calls):
    start = time.perf_counter()
    for _ in range(calls):
        run(x, y)
    return (time.perf_counter() - start) / calls


def measure(run, shapes, rounds):
    values = [np.random.default_rng(1).normal(size=shape).astype(np.float32) for shape in shapes]
    placed = {}
    for device in DEVICES:
        with tf.device(device):
            placed[device] = [tf.identity(tf.constant(value)) for value in values]
    figures = {device: [] for device in DEVICES}
    calls = 1
    for round_ in range(-2, rounds):
        for device in DEVICES:
            with tf.device(device):
                took = seconds(run, *placed[device], calls)
            if round_ >= 0:
                figures[device].append(took)
            elif round_ == -2:
                calls = max(calls, min(200, int(0.02 / took)))
    return [statistics.median(figures[device]) for device in DEVICES]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name begins so")
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    print(f"TensorFlow {tf.__version__}, {os.cpu_count()} cores; microseconds for one call")
    print(f"{'':36} {'plugin':>10} {'TensorFlow':>10} {'ratio':>6}")
    for name, run, *shapes in cases():
        if name.startswith(arguments.only):
            ours, theirs = measure(run, shapes, arguments.rounds)
            print(f"{name:36} {ours * 1e6:10.1f} {theirs * 1e6:10.1f} {ours / theirs:6.2f}")
