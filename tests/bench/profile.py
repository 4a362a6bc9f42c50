"""Measures what a profile adds to a step of a CNN: `profile.py PYTHON [--rounds N]`, in an environment with TensorFlow and the plugin.

In a process, sessions alternate: none, one with `device_tracer_level` 0, in which releases up to 2.18 start no profiler of a plugin, and
one with level 1. The figure of a session is the tenth percentile of the time of a step, which other programs disturb least; the results
are the medians over the sessions.
"""

import argparse
import json
import statistics
import subprocess

from cnn import STEP

PROGRAM = STEP + """
import contextlib, json, sys, tempfile
reduce = lambda x, kernel: tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "SAME")), 2, 2, "SAME")
with tf.device(f"/device:{device}:0"):
    step = create_step(64, reduce)
LEVELS = {"no profile": None, "level 0": 0, "level 1": 1}
tenth_percentile(step, 30)
found = {name: [] for name in LEVELS}
with tempfile.TemporaryDirectory() as folder:
    for _ in range(int(sys.argv[1])):
        for name, level in LEVELS.items():
            options = level is not None and tf.profiler.experimental.ProfilerOptions(device_tracer_level=level)
            with tf.profiler.experimental.Profile(folder, options) if options else contextlib.nullcontext():
                found[name].append(tenth_percentile(step, 60))
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
