"""Eager dispatch of tiny ops: kernels in Rust, the same kernels in C on an equal device, and the CPU device.

    type=--manifest-path=tests/cost/Cargo.toml
    cargo build --release $type --target-dir target/cost && cp target/cost/release/libsp_cost.so rust.so
    SP_COST_TYPE=second cargo build --release $type --target-dir target/cost && cp target/cost/release/libsp_cost.so second.so
    cc -O2 -shared -fPIC -DDEVICE_TYPE='"COST_SECOND"' -DDEVICE_PLUGIN="\\"$PWD/second.so\\"" -o c.so tests/benches/kernels.c
    target/made/tensorflow-2.21/bin/python tests/bench/eager.py rust.so c.so [--rounds 2000] [--json]

Both plugins have the same device; `c.so` registers its own kernels for it. All run in one process, in turns of some ten calls,
with soft placement off. Times are CPU times of the calling thread, on which an eager op runs. `low` is the tenth percentile
of the turns, which other programs on the machine disturb least. A ratio is that of two figures of the same kind.
"""

import argparse
import json
import os
import pathlib
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf
from tensorflow.python.framework import load_library

RAW = tf.raw_ops
SIDES = {"Rust": "/device:COST:0", "C": "/device:COST_SECOND:0", "CPU": "/CPU:0"}
OPS = {
    "Relu, 1 element": (lambda x: RAW.Relu(features=x), 1),
    "AddV2, 1 element": (lambda x: RAW.AddV2(x=x, y=x), 1),
    "Sum, 2 elements": (lambda x, axis: RAW.Sum(input=x, axis=axis), 2),
    "Neg, one device's": (lambda x: RAW.Neg(x=x), 1),
}


def turn(run, inputs, calls):
    start = time.thread_time()
    for _ in range(calls):
        run(*inputs)
    return (time.thread_time() - start) / calls


def inputs_on(device, count):
    with tf.device(device):
        x = tf.identity(tf.constant([2.0] * count))
    with tf.device("/CPU:0"):
        axis = [tf.constant([0])] if count > 1 else []
    return [x, *axis]


def measure(run, count, rounds, calls):
    """Returns the microseconds of each turn by side."""
    inputs = {name: inputs_on(device, count) for name, device in SIDES.items()}
    figures = {name: [] for name in SIDES}
    for round_ in range(-20, rounds):
        # The order changes, so that no side always follows the same other one.
        names = list(SIDES)[round_ % 3 :] + list(SIDES)[: round_ % 3]
        for name in names:
            with tf.device(SIDES[name]):
                took = turn(run, inputs[name], calls)
            if round_ >= 0:
                figures[name].append(took * 1e6)
    return figures


def summary(figures):
    kinds = {"low": lambda it: statistics.quantiles(it, n=10)[0], "median": statistics.median}
    by_kind = {kind: {name: figure(values) for name, values in figures.items()} for kind, figure in kinds.items()}
    for figures_ in by_kind.values():
        figures_["to C"] = figures_["Rust"] / figures_["C"]
        figures_["to CPU"] = figures_["Rust"] / figures_["CPU"]
    return by_kind


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rust")
    parser.add_argument("c")
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--calls", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    for library in (arguments.rust, arguments.c):
        load_library.load_pluggable_device_library(str(pathlib.Path(library).resolve()))
    tf.config.set_soft_device_placement(False)
    print(f"TensorFlow {tf.__version__}, {os.cpu_count()} cores; microseconds for one call")
    print(f"{'':18} {'':6} {'Rust':>6} {'C':>6} {'CPU':>6}   {'to C':>5} {'to CPU':>6}")
    for name, (run, count) in OPS.items():
        result = summary(measure(run, count, arguments.rounds, arguments.calls))
        if arguments.json:
            print(json.dumps({"op": name} | result))
            continue
        for kind, it in result.items():
            print(f"{name:18} {kind:6} {it['Rust']:6.2f} {it['C']:6.2f} {it['CPU']:6.2f}   {it['to C']:5.3f} {it['to CPU']:6.3f}")
