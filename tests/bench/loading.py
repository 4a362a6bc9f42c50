#!/usr/bin/env python3
"""What an installed plugin costs a program that imports TensorFlow: `tests/bench/loading.py [--pairs N] PYTHON..`.

For each interpreter, whose environment has TensorFlow and the plugin: the time from the start of a process until its devices are listed,
and the memory that it then uses (resident, without pages of files), with the plugin and without it. The processes alternate; the first
pair is not counted. The last column is the size of the library. Exits with 2 if an environment has no plugin.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

STARTUP = pathlib.Path(__file__).resolve().parents[1] / "startup"
PROGRAM = """
import json, pathlib, sys
import tensorflow as tf
devices = [it.device_type for it in tf.config.list_physical_devices()]
fields = dict(line.split(":") for line in open("/proc/self/status") if line.startswith("RssAnon"))
folder = pathlib.Path(tf.__file__).parents[1] / "tensorflow-plugins"
print(json.dumps({"release": tf.__version__, "devices": devices, "kilobytes": int(fields["RssAnon"].split()[0]),
                  "library": sum(it.stat().st_size for it in folder.glob("*.so"))}))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("pythons", nargs="+", metavar="PYTHON")
    arguments = parser.parse_args()
    if arguments.pairs < 1:
        parser.error("--pairs is at least 1")
    print("TensorFlow    without   with plugin   more time   more memory   library")
    for python in arguments.pythons:
        print(row(python, [(run(python, False), run(python, True)) for _ in range(arguments.pairs + 1)][1:]))


def run(python, with_plugin):
    """Returns what a process has printed, with the seconds that it took."""
    environment = {**os.environ, "PYTHONPATH": str(STARTUP), "SP_HIDE_PLUGIN": str(int(not with_plugin)), "TF_CPP_MIN_LOG_LEVEL": "3"}
    start = time.monotonic()
    done = subprocess.run([python, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    seconds = time.monotonic() - start
    if done.returncode:
        sys.exit(f"{done.stderr}{python} ended with {done.returncode}")
    found = {**json.loads(done.stdout.splitlines()[-1]), "seconds": seconds}
    if with_plugin != (len(found["devices"]) > 1):
        print(f"{python} lists {found['devices']} {'with' if with_plugin else 'without'} the plugin: is one plugin installed?", file=sys.stderr)
        sys.exit(2)
    return found


def row(python, pairs):
    """Returns the medians of one environment; a difference is the median of those of the pairs."""
    medians = [statistics.median(it["seconds"] for it in side) for side in zip(*pairs)]
    more = statistics.median(plugin["seconds"] - none["seconds"] for none, plugin in pairs)
    memory = statistics.median(plugin["kilobytes"] - none["kilobytes"] for none, plugin in pairs)
    found = pairs[0][1]
    return (f"{found['release']:<11} {medians[0]:8.2f} s {medians[1]:11.2f} s {more:+9.2f} s {memory / 1024:+10.1f} MiB"
            f" {found['library'] / 1e6:6.1f} MB")


if __name__ == "__main__":
    main()
