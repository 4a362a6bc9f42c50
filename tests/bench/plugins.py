"""Compares two plugins of different device types: each case of `kernels.py`, and the training steps of `models.py`.

    sp-gen new before --sp-source path=OLD_CHECKOUT && (cd before && cargo build --release)
    sp-gen new after && (cd after && cargo build --release)
    target/made/tensorflow-2.21/bin/python tests/bench/plugins.py before/target/release/libbefore.so after/target/release/libafter.so

Both are loaded into one process, in which they alternate. A figure is the median time of a call over the runs; `ratio` is that of the
second plugin over that of the first one, and `spread` that of the first one measured once more: what differs from 1 there is noise.
The device types are BEFORE and AFTER, or those that `--devices` names.
"""

import os
import time

import alternation  # Precedes TensorFlow.
import kernel_cases
import models
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import load_library


def kernel(case, device):
    """Returns a function that calls the op of the case on the device, with inputs there."""
    with tf.device(device):
        placed = [tf.identity(tf.constant(value)) for value in case.values()]

    def run():
        with tf.device(device):
            return case.run(*placed)

    return run


def wait(outputs):
    """Waits for the outputs of a call: an op returns a tensor, or a tuple or list of tensors, or nothing."""
    tf.nest.map_structure(lambda it: it.numpy() if isinstance(it, tf.Tensor) and it.dtype != tf.variant else it, outputs)


def seconds(run, calls):
    """Returns the time of a call, after one that is not counted."""
    run()
    start = time.perf_counter()
    for _ in range(calls):
        outputs = run()
    took = (time.perf_counter() - start) / calls
    wait(outputs)
    return took


def figures(runs_of, devices, runs):
    """Returns the times of a call on the first device, the second one, and the first one again."""
    called = [runs_of(device) for device in (*devices, devices[0])]
    return alternation.medians([lambda calls, run=run: seconds(run, calls) for run in called], runs)


def print_row(name, runs_of, devices, runs):
    """Measures and prints a row; returns its ratio."""
    before, after, again = (1e6 * it for it in figures(runs_of, devices, runs))
    print(f"{name:48} {before:10.1f} {after:10.1f} {after / before:6.3f} {again / before:6.3f}", flush=True)
    return after / before, again / before


def print_mean(title, ratios):
    means = np.exp(np.mean(np.log(ratios), axis=0))
    above = sum(ratio > 1.05 for ratio, _ in ratios), sum(spread > 1.05 for _, spread in ratios)
    print(f"{title}: {len(ratios)} cases, geometric mean {means[0]:.3f} ({means[1]:.3f}), {above[0]} above 1.05 ({above[1]})")


def main():
    parser = alternation.parser(__doc__, runs=9)
    parser.add_argument("libraries", nargs=2)
    parser.add_argument("--devices", nargs=2, default=["BEFORE", "AFTER"])
    parser.add_argument("--part", choices=["kernels", "models"])
    arguments = parser.parse_args()
    for library in arguments.libraries:
        load_library.load_pluggable_device_library(os.path.abspath(library))
    devices = [f"/device:{it}:0" for it in arguments.devices]
    tf.config.set_soft_device_placement(False)
    print(f"TensorFlow {tf.__version__}, {os.cpu_count()} cores; microseconds for one call")
    print(f"{'':48} {'before':>10} {'after':>10} {'ratio':>6} {'spread':>6}")
    if arguments.part != "models":
        cases = {case.name: case for case in kernel_cases.every()}
        names = alternation.chosen(cases, arguments)
        print_mean("kernels", [print_row(it, lambda device: kernel(cases[it], device), devices, arguments.runs) for it in names])
    if arguments.part != "kernels":
        tf.config.set_soft_device_placement(True)
        names = alternation.chosen(models.MODELS, arguments)
        print_mean("training", [print_row(it, lambda device: models.training_step(it, device), devices, arguments.runs) for it in names])


main()
