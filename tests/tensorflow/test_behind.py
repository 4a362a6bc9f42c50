"""Reference kernels that run behind their calls, on an asynchronous device: they compute what calls that wait compute.

Each part of `behind_program.py` runs in a process with `SP_BEHIND=1`, and in one with `SP_BEHIND=0`.
"""

import functools
import json
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import RELEASE, ROOT

PROGRAM = pathlib.Path(__file__).with_name("behind_program.py")
KNOWN_SHAPES = ROOT / "templates/cpu/src/kernels/known_shapes.rs"
each_memory = pytest.mark.parametrize("memory", ["opaque", "host"])
needs_functions = pytest.mark.skipif(RELEASE < (2, 8), reason="2.6 and 2.7 pass no tensor of another device type to a function")


@functools.cache
def run(part, memory, behind, jitter=200):
    """Returns what a part of the program finds, and the number of calls of each op that have run behind."""
    modes = {"SP_CPU_MEMORY": memory, "SP_CPU_STREAMS": "async", "SP_CPU_JITTER": str(jitter), "SP_BEHIND": str(behind)}
    command = [sys.executable, PROGRAM, part]
    process = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **modes}, timeout=600)
    assert process.returncode == 0, process.stdout[-1000:] + process.stderr[-3000:]
    answer = json.loads(process.stdout.splitlines()[-1])
    return answer["found"], answer["behind"]


def both(part, memory, key=None, **options):
    """Returns what a part finds, or its entry `key`, if kernels run behind, and if they wait. Checks that they do."""
    (found, behind), (expected, waiting) = [run(part, memory, it, **options) for it in (1, 0)]
    assert sum(behind.values()) > 0 and not waiting, (behind, waiting)
    return (found[key], expected[key]) if key else (found, expected)


@each_memory
def test_results_are_those_of_calls_that_wait(memory):
    found, expected = both("checks", memory, "results")
    assert len(found) == len(expected) > 800
    differing = [(it, other) for it, other in zip(found, expected) if it != other]
    assert not differing, differing[:5]


@each_memory
def test_each_op_of_program_runs_behind(memory):
    found, behind = run("checks", memory, 1)
    ops = {op for op, *_ in found["results"]}
    assert not ops - set(behind), sorted(ops - set(behind))


def test_program_calls_most_ops_with_known_shapes():
    listed = KNOWN_SHAPES.read_text().split("pub const OPS")[1].split("];")[0]
    listed = {line.strip(' ",') for line in listed.splitlines()[1:] if line.strip()}
    found, _ = run("checks", "opaque", 1)
    called = listed & {op for op, *_ in found["results"]}
    assert len(listed) > 80 and len(called) > len(listed) / 2, sorted(listed - called)


@each_memory
def test_wrong_shapes_are_errors_of_op(memory):
    found, expected = both("checks", memory, "errors")
    assert found == expected
    assert len(found["errors"]) > 10
    for op, error in found["errors"]:
        assert error.startswith("InvalidArgumentError") and f"__wrapped__{op}" in error, error


@each_memory
@needs_functions
def test_results_of_functions_are_those_of_calls_that_wait(memory):
    found, expected = both("checks", memory, "functions")
    assert found == expected


def test_enqueueing_takes_less_than_half_of_time():
    found, expected = both("enqueue", "opaque", jitter=20000)
    print(f"20 additions: {found['enqueued']:.3f} of {found['done']:.3f} s; with SP_BEHIND=0 {expected['enqueued']:.3f} of {expected['done']:.3f} s")
    assert found["value"] == expected["value"] == 20.0
    assert found["enqueued"] < found["done"] / 2, found
    assert found["enqueued"] < expected["enqueued"] / 2, (found, expected)


@each_memory
@needs_functions
def test_deleted_kernels_complete_their_pending_calls(memory):
    found, expected = both("released", memory, jitter=5000)
    assert found == expected
