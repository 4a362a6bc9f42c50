"""Runs the sweep in an interpreter, and writes generated/docs/accuracy.md from its results."""

import json
import pathlib
import subprocess
import sys
import tempfile

from pages import evidence

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "generated" / "docs" / "accuracy.md"
PROGRAM = pathlib.Path(__file__).with_name("sweep.py")
USAGE = "usage: tests/kernel-sweep [--long | --calls=N] [--page] [--variables] PYTHON.. [OP..]"
# The number of calls of an op and type in eager mode; the other modes have a part of it.
SHORT, LONG = 8, 150
TYPES = ["float32", "float16", "bfloat16"]

INTRODUCTION = """# Accuracy of the reference device's kernels

Written by `tests/kernel-sweep --page PYTHON..`; do not edit.

How far are the results of the reference device from the precise ones, and how far are those of TensorFlow's kernels on the CPU?

An error is in units in the last place (ulp) of the type: the distance between neighboring numbers. The precise result is that of
TensorFlow's kernel of float64 for the same inputs. 0.5 is the best that a type can have. The unit is that of

- `element`: the element itself,
- `terms`: the sum of the magnitudes of the terms whose sum the element is,
- `tensor`: the largest element of the tensor.

A gradient's is the largest element of the gradient, or of the gradient that it is computed from.

A cell has the largest error of all calls of the sweep, whose shapes, attributes and values hypothesis draws. An error of a
gradient is that of all ops that compute it. `-` is a result without a float, or an op without a gradient. An error of 0 in a
column of the CPU, beside one of the plugin, is that of an op that the CPU computes in no wider type: its own result is the reference.
"""


def main(arguments):
    """Sweeps in each interpreter, and writes the page if it is asked for; returns the exit status."""
    options = {it for it in arguments if it.startswith("--")}
    pythons = [it for it in arguments if "/" in it]
    calls = [calls_of(it) for it in options - {"--page", "--variables"}] or [SHORT]
    if not pythons or len(calls) > 1 or not calls[0]:
        print(USAGE, file=sys.stderr)
        return 2
    names = [it for it in arguments if it not in options and it not in pythons] + ["--variables"] * ("--variables" in options)
    runs = [sweep(python, calls[0], names) for python in pythons]
    if "--page" in options:
        evidence.write(PAGE, page([swept for _, swept in runs]))
    return max(status for status, _ in runs)


def calls_of(option):
    """Returns the number of calls that an option asks for, or None if it is no such option."""
    if option == "--long":
        return LONG
    name, _, number = option.partition("=")
    return int(number) if name == "--calls" and number.isdecimal() else None


def sweep(python, examples, names):
    """Returns the exit status and the results of the sweep in an interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results.json"
        status = subprocess.call([python, str(PROGRAM), "MYACCEL", str(examples), str(results), *names])
        return status, json.loads(results.read_text()) if results.exists() else {"release": "?", "cells": []}


def page(sweeps):
    """Returns the page: all ops in the first release, and what the others have besides."""
    text, listed = INTRODUCTION, set()
    for swept in sweeps:
        cells = [cell for cell in swept["cells"] if cell["op"] not in listed]
        listed |= {cell["op"] for cell in cells}
        rows = [cell for cell in cells if cell["type"] in TYPES and cell["largest"]]
        rows.sort(key=lambda cell: (cell["op"], TYPES.index(cell["type"])))
        text += f"\n## {swept['release']}\n\n{summary(cells)}\n" + table(rows) + exact(cells) + missing(cells)
    return text


def summary(cells):
    calls = sum(cell.get("calls", 0) for cell in cells)
    return f"{calls} cases of {len({cell['op'] for cell in cells})} ops with {len(cells)} pairs of op and type."


def table(rows):
    text = "\n| op | type | unit | forward: plugin | CPU | gradient: plugin | CPU |\n|---|---|---|---|---|---|---|\n"
    for cell in rows:
        errors = [cell["largest"].get(f"{kind} {device}") for kind in ("forward", "gradient") for device in ("plugin", "CPU")]
        unit = cell["unit"] if errors[0] is not None else "tensor"
        text += f"| `{cell['op']}` | {cell['type']} | {unit} | {' | '.join(map(number, errors))} |\n"
    return text


def number(error):
    if error is None:
        return "-"
    return f"{error:.2f}" if error < 10 else f"{error:.0f}" if error < 1e5 else f"{error:.0e}"


def exact(cells):
    ops = sorted({cell["op"] for cell in cells if cell.get("result") in ("bits", "equal")})
    return f"\n### Results that are those of the CPU\n\nNo tolerance: {names(ops)}.\n"


def missing(cells):
    """Returns the ops whose gradient needs an op that the plugin has no kernel of."""
    needs = {}
    for cell in cells:
        for op in cell.get("missing", []):
            needs.setdefault(op, set()).add(cell["op"])
    if not needs:
        return ""
    text = "\n### Gradients that need the CPU\n\n| op without a kernel of the plugin | gradient of |\n|---|---|\n"
    return text + "".join(f"| `{op}` | {names(sorted(ops))} |\n" for op, ops in sorted(needs.items()))


def names(ops):
    return ", ".join(f"`{op}`" for op in ops)
