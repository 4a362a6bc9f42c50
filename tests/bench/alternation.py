"""What the benches of traced functions share: functions that alternate in one process, and the options of the programs.

Import it before TensorFlow: `--cpu-time` sets the numbers of threads.
"""

import argparse
import os
import statistics
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
if "--cpu-time" in sys.argv:
    os.environ.update(SP_CPU_THREADS="1", OMP_NUM_THREADS="1", TF_NUM_INTRAOP_THREADS="1", TF_NUM_INTEROP_THREADS="1")

PLUGIN, CPU = "/device:MYACCEL:0", "/CPU:0"
WARM_UP = 3
RUN_SECONDS = 0.05


def parser(description, runs):
    """Returns a parser of the common options."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--cpu-time", action="store_true", help="count time on the cores, with one thread")
    return parser


def clock(arguments):
    return time.process_time if arguments.cpu_time else time.perf_counter


def chosen(names, arguments):
    """Returns the names that `--only` selects; the program ends if there are none."""
    found = [name for name in names if arguments.only in name]
    if not found or arguments.runs < 1:
        sys.exit(f"nothing to measure: --only {arguments.only!r}, --runs {arguments.runs}; the cases are {', '.join(names)}")
    return found


def seconds(step, calls, clock):
    """Returns the time of a call, after one that is not counted."""
    step()
    start = clock()
    for _ in range(calls):
        result = step()
    result.numpy()
    return (clock() - start) / calls


def medians(timers, runs):
    """Returns the median for each timer, a function from a number of calls to the time of one; they alternate."""
    figures, calls = [[] for _ in timers], 1
    for run in range(-WARM_UP, runs):
        took = [timer(calls) for timer in timers]
        if run < 0:
            calls = max(1, min(1000, int(RUN_SECONDS / max(took))))
            continue
        for list_of_timer, figure in zip(figures, took):
            list_of_timer.append(figure)
    return [statistics.median(it) for it in figures]
