"""A plugin in a release that is newer than its sp-abi. SP_KNOWN_UP_TO names its newest known release."""

import json
import os
import pathlib

import pytest

from conftest import DEVICE, RELEASE, run_program

KNOWN = os.environ.get("SP_KNOWN_UP_TO", "")
STEPS = f"""
import os, sys
sys.path.insert(0, FOLDER)
import first_steps
first_steps.main("{DEVICE}", compare=False)
"""

pytestmark = pytest.mark.skipif(
    not KNOWN or tuple(map(int, KNOWN.split("."))) >= RELEASE,
    reason="the plugin knows this release; `tests/run` builds one that does not",
)


def first_steps(**environment):
    run = run_program(STEPS, environment, FOLDER=pathlib.Path(__file__).parent)
    assert run.returncode == 0, run.stderr
    steps = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    return steps, [line for line in run.stderr.splitlines() if line.startswith("plugin ")]


def test_trains_with_layouts_from_hosts_headers():
    steps, lines = first_steps()
    assert len(steps) == 3 and DEVICE in steps[2]["variables"]
    assert not any("declined" in line for line in lines), lines


@pytest.mark.skipif(RELEASE < (2, 22), reason="all structs have the sizes of 2.21")
def test_declines_unknown_struct_size_if_headers_are_not_trusted():
    steps, lines = first_steps(SP_TRUST_HEADERS="0")
    assert [step["devices"] for step in steps] == [[]]
    assert "SP_StreamExecutor is 296 bytes, expected" in lines[-1]
