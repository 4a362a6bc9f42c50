"""Writes generated/docs/traced-ops.md from the ops of the traced models."""

import json
import pathlib
import subprocess
import sys

from pages import evidence

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "generated" / "docs" / "traced-ops.md"
PROGRAM = pathlib.Path(__file__).with_name("program.py")

INTRODUCTION = """# The ops of models

Written by `tests/traced-ops`; do not edit.

Which ops, with which types and attributes, do models execute, and has the reference device a kernel for each?

The models are Keras layers, losses, optimizers, metrics and applications, and the networks of `tests/traced_ops/networks.py`:
a step of training and inference each, traced with random weights and small inputs. TensorFlow's optimizations of graphs are not
applied. A row is an op with its types; the rows that most models have come first.

| kernel | meaning |
|---|---|
| plugin | the reference device has a kernel |
| core | TensorFlow has a kernel of type `DEFAULT`, which every device uses |
| graph | in this release a plugin cannot use a variable: in graphs the plugin's optimizer replaces the op; elsewhere it is an error |
| none | the op runs on the CPU, or is an error if no other device is permitted |
"""

# The sections by the kernel of their rows.
TITLES = {
    "none": "Without a kernel", "graph": "Replaced in graphs", "plugin": "Kernels of the plugin", "core": "Kernels of TensorFlow",
}


def main(arguments):
    """Traces in the TensorFlow of an interpreter, and writes the page."""
    if len(arguments) != 1:
        print("usage: tests/traced-ops PYTHON", file=sys.stderr)
        return 2
    command = [arguments[0], str(PROGRAM)]
    result = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    evidence.write(PAGE, page(json.loads(result.stdout.splitlines()[-1])))
    return 0


def page(traced):
    rows = sorted(traced["rows"], key=lambda row: (-len(row["models"]), row["op"], str(row["types"])))
    text = INTRODUCTION + f"\n## {traced['release']}\n\n{summary(traced, rows)}\n"
    for kernel, title in TITLES.items():
        text += section(title, [row for row in rows if row["kernel"] == kernel])
    return text + failures(traced["failed"])


def summary(traced, rows):
    ops = {kernel: {row["op"] for row in rows if row["kernel"] == kernel} for kernel in TITLES}
    count = len({row["op"] for row in rows})
    only_core = len(ops["core"] - ops["plugin"])
    return (
        f"{len(traced['traced'])} models have {count} ops: the plugin has kernels of {len(ops['plugin'])}, TensorFlow of "
        f"{only_core} more. The SDK replaces {len(ops['graph'])} in graphs. {len(ops['none'])} have no kernel for some of their types."
    )


def section(title, rows):
    text = f"\n### {title}\n\n| op | types | attributes | models | from |\n|---|---|---|---|---|\n"
    return text + "".join(line(row) for row in rows)


def line(row):
    types = ", ".join(f"{name} = {value}" for name, value in row["types"].items())
    attributes = ", ".join(f"{name} = {choice(values)}" for name, values in sorted(row["attributes"].items()))
    names = ", ".join(row["models"][:2]) + (", ..." if len(row["models"]) > 2 else "")
    cells = [f"`{row['op']}`", types, attributes, str(len(row["models"])), names]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def choice(values):
    """Returns the values of an attribute, the first of them if there are many."""
    values = sorted(values)
    return " or ".join(values[:4]) + (" or ..." if len(values) > 4 else "")


def failures(failed):
    if not failed:
        return ""
    return "\n### Not traced\n\n" + "".join(f"- {name}: {reason}\n" for name, reason in sorted(failed.items()))
