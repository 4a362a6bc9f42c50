"""Compares each kernel of the plugin with TensorFlow's on the CPU: `sweep.py DEVICE EXAMPLES RESULTS [--variables] [OP..]`.

Each op of a registered kernel is swept in a process of its own, with EXAMPLES calls of each type; RESULTS is a file of JSON.
Exits with 1 if a result differs, if an op has no line in the table of ops.py, or if no call of an op and type is valid.
"""

import faulthandler
import gc
import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import traceback

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# With oneDNN the CPU's convolutions return wrong shapes, or end the process, for empty results.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "tensorflow")]
import tensorflow as tf  # noqa: E402  (the log level and the folders must be set before)
from tensorflow.python.framework import kernels, op_def_registry  # noqa: E402

import cells  # noqa: E402
import ops  # noqa: E402

PROCESSES = int(os.environ.get("SP_PROCESSES", os.cpu_count() or 1))
SECONDS = int(os.environ.get("SP_SECONDS", "1200"))
# The attribute that is the type of an op's data, by name; others are drawn.
TYPE_ATTRIBUTES = ["T", "Tparams", "dtype", "Tout", "Tidx"]


def registered_types(device):
    """Returns the types of each op's kernels, of the attribute that is the type of its data."""
    types = {}
    for kernel in kernels.get_all_registered_kernels().kernel:
        if kernel.device_type == device:
            of = {it.name: it.allowed_values.list.type for it in kernel.constraint}
            name = next((it for it in TYPE_ATTRIBUTES if it in of), None)
            names = [tf.as_dtype(it).name for it in (of[name] if name else [])]
            types.setdefault(kernel.op, set()).update(it for it in names if it != "variant")
            # Core has no VarHandleOp of int32 for a plugin's device.
            types[kernel.op] -= {"int32"} if has_variables(kernel.op) else set()
    return {op: sorted(names) or [type_of_input(op)] for op, names in sorted(types.items())}


def has_variables(op):
    return any(it.type == tf.resource for it in op_def_registry.get(op).input_arg)


def type_of_input(op):
    """Returns the type of the first input of an op whose kernels have none."""
    inputs = op_def_registry.get(op).input_arg
    return tf.as_dtype(inputs[0].type).name if inputs and inputs[0].type == tf.bool else "float32"


def start(device, op, types, examples, out):
    """Sweeps an op in a forked process; TensorFlow's devices do not exist before."""
    child = os.fork()
    if child:
        return child
    signal.alarm(SECONDS)
    status = 1
    os.dup2(os.open(out + ".log", os.O_WRONLY | os.O_CREAT), 2)
    faulthandler.enable()
    try:
        json.dump(cells.sweep(device, op, types, examples, out + ".last"), open(out, "w"))
        status = 0
    except BaseException:  # the parent reports it
        traceback.print_exc()
    sys.stderr.flush()
    # `sys.exit` would run the parent's exit handlers.
    os._exit(status)


def finished(op, status, out):
    """Returns an op's cells; one with a failure if its process ended."""
    if status == 0:
        return json.load(open(out))
    last = pathlib.Path(out + ".last")
    about = last.read_text() if last.exists() else "before the first call"
    end = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {os.WEXITSTATUS(status)}"
    log = pathlib.Path(out + ".log").read_text()
    log = log.partition("Fatal Python error")[2][:1500] or log[-1500:]
    return [{"op": op, "type": "", "largest": {}, "failures": [f"the process ended with {end} after {about}\n{log}"]}]


def sweep(device, examples, registered):
    """Returns the cells of all ops, and prints their failures."""
    results, running, waiting = [], {}, list(registered.items())
    gc.freeze()  # the children do not visit the objects of TensorFlow
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < PROCESSES:
                op, types = waiting.pop(0)
                out = f"{folder}/{op}.json"
                running[start(device, op, types, examples, out)] = op, out
            child, status = os.wait()
            op, out = running.pop(child)
            cells_of_op = finished(op, status, out)
            results += cells_of_op
            for cell in cells_of_op:
                print(*(f"{op} {cell['type']}: {failure}\n" for failure in cell["failures"]), sep="", end="", flush=True)
    return results


def without_line(names):
    """Returns the ops that the table does not have."""
    return [op for op in names if op not in ops.OPS and op not in ops.EXCLUDED]


def main(device, examples, path, *names):
    """Returns the exit status."""
    begin, types = time.monotonic(), registered_types(device)
    is_chosen = lambda op: op in names or not names or "--variables" in names and has_variables(op)
    chosen = {op: it for op, it in types.items() if is_chosen(op)}
    missing = without_line(chosen)
    for op in missing:
        print(f"{op}: no line in tests/kernel_sweep/ops.py says how it is called")
    found = sweep(device, int(examples), {op: it for op, it in chosen.items() if op in ops.OPS})
    pathlib.Path(path).write_text(json.dumps({"release": tf.__version__, "cells": found}))
    failed = [cell for cell in found if cell["failures"]]
    calls, seconds = sum(it.get("calls", 0) for it in found), time.monotonic() - begin
    print(f"{len(chosen)} ops, {len(found)} pairs of op and type, {calls} cases: {len(failed)} differ, {seconds:.0f} s")
    return 1 if failed or missing or not found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
