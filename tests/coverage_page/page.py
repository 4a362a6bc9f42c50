"""Writes generated/docs/coverage.md from reports of `sp-gen coverage`, one for each group of models and plugin."""

import collections
import json
import os
import pathlib
import subprocess
import sys

from pages import evidence

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "generated" / "docs" / "coverage.md"
PROGRAM = pathlib.Path(__file__).with_name("program.py")
CLASSES = ["own", "reference", "staged", "core", "cpu", "absent"]
# The rows of the list of ops of each plugin.
LONGEST = 25

INTRODUCTION = """# Which kernel computes each op of a model

Written by `tests/coverage-page`; do not edit.

Which part of a model does a plugin compute itself, and which kernel would save most?

Each row is a report of `sp-gen coverage`: three steps of training and of inference, with random weights and small inputs. The
applications are those of Keras, the networks those of `tests/traced_ops/networks.py`. A percentage is the share of the time of all ops
that ran, without those of tf.data and of TensorFlow's own kernels for every device. The classes are those of
[the command](../../codegen/docs/commands.md#which-kernel-do-i-write-next).
"""


def main(arguments):
    """Records the models in each environment, and writes the page."""
    if not arguments:
        print("usage: tests/coverage-page PYTHON...", file=sys.stderr)
        return 2
    evidence.write(PAGE, INTRODUCTION + "".join(section(python) for python in arguments))
    return 0


def section(python):
    reports, failed = {}, []
    listed = subprocess.run([python, PROGRAM, "--list"], stdout=subprocess.PIPE, check=True, text=True)
    for name in listed.stdout.split("\n")[:-1]:
        reports[name], failures = record(python, name)
        failed += failures
    return heading(reports) + models_table(reports) + ops_table(reports) + failures_list(failed)


def record(python, name):
    """Returns the report of a group, and the models that could not run."""
    sp_gen = os.environ.get("SP_GEN", ROOT / "target" / "release" / "sp-gen")
    command = [sp_gen, "--quiet", "coverage", "--format", "json", "--", python, PROGRAM, name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"coverage of {name} ended with {done.returncode}: {done.stderr[-1000:]}")
    failures = [line.removeprefix("failed: ") for line in done.stderr.splitlines() if line.startswith("failed: ")]
    return json.loads(done.stdout), failures


def heading(reports):
    first = next(iter(reports.values()))
    return f"\n## {', '.join(first['device_types'])} in TensorFlow {first['release']}\n"


def models_table(reports):
    text = "\n| models | " + " | ".join(CLASSES) + " | ops and types absent |\n|---|" + "---|" * (len(CLASSES) + 1) + "\n"
    return text + "".join(model_line(name, report) for name, report in reports.items())


def model_line(name, report):
    sums = {row["class"]: row for row in report["classes"]}
    cells = [cell(sums[key], report["nanoseconds"]) for key in CLASSES]
    absent = sum(row["class"] == "absent" for row in report["rows"])
    return f"| {name} | " + " | ".join([*cells, str(absent)]) + " |\n"


def cell(row, total):
    """Returns the share of the time with the calls. TensorFlow's own kernels have no time."""
    if not row["calls"]:
        return "-"
    share = "" if row["class"] == "core" else f"{100 * row['nanoseconds'] / max(total, 1):.1f}%, "
    return f"{share}{row['calls']} calls"


def ops_table(reports):
    """Returns the list of the ops without an own kernel, those that an own kernel saves most first."""
    found = collections.defaultdict(lambda: [0, 0, 0, set()])
    for name, report in reports.items():
        for row in report["rows"]:
            if row["class"] in ("reference", "staged", "cpu", "absent"):
                add(found[row["op"], row["types"], row["class"]], row, name)
    total = sum(report["nanoseconds"] for report in reports.values())
    ordered = sorted(found.items(), key=lambda item: -item[1][0])[:LONGEST]
    text = f"\nThe {len(ordered)} longest of {len(found)} ops and types without a kernel of the plugin's author, over all models:\n\n"
    text += "| op | types | kernel | share | calls | bytes copied | models |\n|---|---|---|---|---|---|---|\n"
    return text + "".join(op_line(key, sums, total) for key, sums in ordered)


def add(sums, row, name):
    for at, key in enumerate(("nanoseconds", "calls", "staged_bytes")):
        sums[at] += row[key]
    sums[3].add(name)


def op_line(key, sums, total):
    op, types, kernel = key
    nanoseconds, calls, copied, names = sums
    return f"| `{op}` | {types} | {kernel} | {100 * nanoseconds / max(total, 1):.1f}% | {calls} | {copied} | {len(names)} |\n"


def failures_list(failed):
    return "\nModels that did not run:\n\n" + "".join(f"- {line}\n" for line in failed) if failed else ""
