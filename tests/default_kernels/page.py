"""Writes generated/docs/default-kernels.md from the results of the sweep."""

import pathlib
import sys

from pages import evidence

from . import sweep

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "generated" / "docs" / "default-kernels.md"

INTRODUCTION = """# TensorFlow's own kernels on a plugin's device

Written by `tests/default-kernels`; do not edit.

TensorFlow registers kernels of device type `DEFAULT`, which run on any device for which the plugin has no kernel of the op.
Which of them are right on a device whose memory the host cannot access, or whose queues have not finished?

Each op runs on the CPU and on the reference device in its four modes (`SP_CPU_MEMORY` and `SP_CPU_STREAMS`; the asynchronous
ones with `SP_CPU_JITTER=3000`): in eager mode, in a `tf.function` without TensorFlow's graph optimizations, or in a graph of
TensorFlow 1. The inputs are results of computations that the device may not have finished. The page has the releases of the last
run of the sweep.

| result | meaning |
|---|---|
| right | the results are those of the CPU |
| wrong | other results, without an error |
| crashes, hangs | the process ends, or does not return |
| rejected | an error of the plugin, which names what to use instead |
| no kernel | TensorFlow's error that no kernel is registered for the types or for an op that the case needs |
| error | another error |
"""


def main(pythons):
    """Sweeps the TensorFlow of each interpreter, and writes the page with the results."""
    if not pythons:
        print("usage: tests/default-kernels PYTHON...", file=sys.stderr)
        return 2
    try:
        sweeps = sorted((sweep.sweep(python) for python in pythons), key=release_of, reverse=True)
    except sweep.DeviceMissing as error:
        print(f"{error}; the page is not written", file=sys.stderr)
        return 2
    evidence.write(PAGE, page(sweeps))
    return 1 if any(is_dangerous(found) for found in sweeps) else 0


def release_of(found):
    return tuple(int(number) for number in found["release"].split(".")[:2])


def is_dangerous(found):
    """Returns true if an op is silently wrong, ends the process or does not return in a mode of the device."""
    results = (result for cases in found["results"].values() for runs in cases.values() for result, _ in runs.values())
    return any(result in ("wrong", "crashes", "hangs") for result in results)


def page(sweeps):
    return INTRODUCTION + "".join(section(found) for found in sweeps)


def section(found):
    modes = list(found["results"])
    rows, right, without_case, not_callable = {}, [], [], {}
    for op in sorted(set(found["ops"]) | (set(found["cases"]) - set(found["ops"]))):
        if op not in found["cases"]:
            reason = found["uncalled"].get(op)
            not_callable.setdefault(reason, []).append(op) if reason else without_case.append(op)
            continue
        name, executions = found["cases"][op]
        cells = [cell(found["results"][mode].get(name, {}), executions) for mode in modes]
        if set(cells) == {"right"}:
            right.append(op)
        else:
            rows.setdefault(tuple(cells), []).append(op)
    text = f"\n## {found['release']}\n\n{len(found['ops'])} ops have kernels of type `DEFAULT`.\n"
    text += "\n| ops | " + " | ".join(modes) + " |\n|---" + "|---" * len(modes) + "|\n"
    for cells, ops in sorted(rows.items(), key=lambda row: row[1]):
        text += f"| {names(ops)} | " + " | ".join(cells) + " |\n"
    text += f"\nRight in every mode ({len(right)}): {names(right)}.\n\nNot called:\n\n"
    for reason, ops in sorted(not_callable.items()):
        text += f"- {names(ops)}: {reason}\n"
    return text + (f"- {names(without_case)}: no case\n" if without_case else "")


def names(ops):
    return ", ".join(f"`{op}`" for op in ops)


def cell(runs, executions):
    """Returns the results of a mode: one word if all executions have the same."""
    results = {execution: text(*runs.get(execution, ("not run", ""))) for execution in executions}
    if len(set(results.values())) == 1:
        return next(iter(results.values()))
    return "; ".join(f"{execution}: {result}" for execution, result in results.items())


def text(result, detail):
    if result == "error" or result == "uncalled":
        return f"{'CPU: ' if result == 'uncalled' else ''}{detail.split(':')[0]}"
    return f"{result} ({detail.rsplit(' ', 1)[-1]})" if result == "crashes" else result
