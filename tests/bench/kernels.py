"""Compares kernels on the plugin's device with those of TensorFlow's CPU device, in one process.

    target/made/tensorflow-2.21/bin/python tests/bench/kernels.py [--only Conv2D] [--runs 7] [--spread]

Each row is one op of certain shapes and types. A figure is the median time of a call over the runs, in which the devices alternate;
inputs are on the device, and the op allocates its output. `ratio` is the plugin's time over TensorFlow's: below 1 the plugin is
faster. `--spread` measures the CPU device twice instead, which gives the ratios that are noise.
"""

import argparse
import os
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

import kernel_cases

DEVICES = ("/device:MYACCEL:0", "/CPU:0")
RUN_SECONDS = 0.02


def seconds(run, inputs, calls):
    start = time.perf_counter()
    for _ in range(calls):
        run(*inputs)
    return (time.perf_counter() - start) / calls


def measure(case, devices, runs):
    """Returns the median times of a call on the two devices."""
    placed = []
    for device in devices:
        with tf.device(device):
            placed.append([tf.identity(tf.constant(value)) for value in case.values()])
    figures, calls = ([], []), 1
    for run in range(-3, runs):
        for index, device in enumerate(devices):
            with tf.device(device):
                took = seconds(case.run, placed[index], calls)
            if run >= 0:
                figures[index].append(took)
        if run < 0:
            calls = max(1, min(1000, int(RUN_SECONDS / took)))
    return [statistics.median(it) for it in figures]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--spread", action="store_true", help="measure the CPU device twice")
    arguments = parser.parse_args()
    devices = ("/CPU:0", "/CPU:0") if arguments.spread else DEVICES
    tf.config.set_soft_device_placement(False)
    print(f"TensorFlow {tf.__version__}, {os.cpu_count()} cores; microseconds for one call")
    print(f"{'':48} {'plugin':>10} {'TensorFlow':>10} {'ratio':>6}")
    ratios = []
    for case in kernel_cases.every():
        if arguments.only in case.name:
            try:
                ours, theirs = measure(case, devices, arguments.runs)
            except (tf.errors.InvalidArgumentError, tf.errors.NotFoundError) as error:
                print(f"{case.name:48} {str(error).splitlines()[0][:90]}")
                continue
            ratios.append(ours / theirs)
            print(f"{case.name:48} {ours * 1e6:10.1f} {theirs * 1e6:10.1f} {ratios[-1]:6.2f}", flush=True)
    above = sum(ratio > 1.1 for ratio in ratios)
    print(f"{len(ratios)} cases: geometric mean {np.exp(np.mean(np.log(ratios))):.2f}, largest {max(ratios):.2f}, {above} above 1.10")


main()
