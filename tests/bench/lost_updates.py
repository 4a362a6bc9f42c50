"""Updates of one variable by two threads: how many of them are lost where an update is a read, a sum and an assignment.

    SP_EVERY=1 tests/virtaccel/in_tensorflow target/made/tensorflow-2.21/bin/python tests/virtaccel/tensorflow/test_training.py
    VACCEL_DRIVER=target/debug/libvirtaccel.so target/made/tensorflow-2.21/bin/python tests/bench/lost_updates.py \
        --plugin target/made/vaccel-optimizer/libvaccel.so --device /device:VACCEL:0 \
        --variables target/made/vaccel-optimizer/python/variables.py [--updates 2000] [--rounds 5] [--json]

Each thread adds 1 to each element of the variable as often as `--updates` says, by a `tf.function` or in eager mode. The
variable then lacks the updates that are lost. One thread, and two threads with a lock around each update, are there to compare,
and the CPU device, whose update is atomic.
"""

import argparse
import importlib.util
import json
import os
import statistics
import threading

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf
from tensorflow.python.framework import load_library


def in_function(variable):
    """Returns an update of at least four nodes, which a plugin's optimizer replaces."""
    one = tf.ones_like(variable)
    return tf.function(lambda: tf.identity(variable.assign_add(one * one)))


def in_eager_mode(variable):
    one = tf.ones_like(variable)
    return lambda: variable.assign_add(one)


def with_lock(update):
    lock = threading.Lock()

    def locked():
        with lock:
            update()

    return locked


def lost(device, new_update, threads, locks, updates, elements):
    """Returns the number of updates that the variable lacks, and the number of all."""
    with tf.device(device):
        variable = tf.Variable(tf.zeros([elements]))
        update = new_update(variable)
        update()
        variable.assign(tf.zeros([elements]))
    update = with_lock(update) if locks else update
    ready = threading.Barrier(threads)

    def work():
        ready.wait()
        with tf.device(device):
            for _ in range(updates):
                update()

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    total = variable.numpy()
    assert (total == total[0]).all(), total
    return threads * updates - int(total[0]), threads * updates


def measure(device, new_update, threads, locks, arguments, elements):
    rounds = [lost(device, new_update, threads, locks, arguments.updates, elements) for _ in range(arguments.rounds)]
    shares = [100 * missing / updates for missing, updates in rounds]
    return {"median": statistics.median(shares), "lowest": min(shares), "highest": max(shares)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", help="the library; without it the installed plugin is measured")
    parser.add_argument("--device", required=True)
    parser.add_argument("--variables", help="the module of the scaffold's Python package that replaces updates in eager mode")
    parser.add_argument("--updates", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.plugin:
        load_library.load_pluggable_device_library(arguments.plugin)
    if arguments.variables:
        specification = importlib.util.spec_from_file_location("variables", arguments.variables)
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        module.replace_updates()
    found = []
    for device in ("/CPU:0", arguments.device):
        for mode in (in_function, in_eager_mode):
            for threads, locks in ((1, False), (2, False), (2, True)):
                for elements in (1, 1 << 16):
                    shares = measure(device, mode, threads, locks, arguments, elements)
                    row = {"device": device, "mode": mode.__name__, "threads": threads, "lock": locks, "elements": elements}
                    found.append({**row, "lost_percent": shares})
                    if not arguments.json:
                        print(*row.values(), *(f"{key} {value:.2f}%" for key, value in shares.items()), sep="\t", flush=True)
    if arguments.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
