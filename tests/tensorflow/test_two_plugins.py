"""A second plugin beside the installed one: the table of codegen/docs/devices.md states what each release does."""

import json
import os
import subprocess
import sys

import pytest

from conftest import RELEASE, ROOT, example

PROGRAM = ROOT / "tests/tensorflow/two_plugins_program.py"
GUIDE = ROOT / "codegen/docs/devices.md"
# The cells of the table, and how an outcome begins and which text it contains.
CELLS = {
    "works": ("works", ""),
    "works, both devices": ("works, 2 devices", ""),
    "works, one device": ("works, 1 devices", ""),
    "error 1": ("InvalidArgumentError", "'visible_device_list' listed an invalid Device id '1' but visible device count is 1"),
    "ends 1": ("ends the process", ""),
    "declined": ("works", ""),
}
# The rows of the table, in its order.
WAYS = [
    "two_types",
    "first_of_two_types_visible",
    "different_passes_in_different_graphs",
    "different_passes_in_one_graph",
    "different_passes_without_plugin_optimizers",
    "one_type_twice",
    "one_platform_name_twice",
    "installed_library_again",
    "copy_of_installed_library",
]


def column(release):
    """Returns the cells of a release in the page's table of two plugins."""
    lines = iter(GUIDE.read_text().splitlines())
    head = next(line for line in lines if line.startswith("| two plugins |"))
    index = [cell.strip() for cell in head.split("|")].index(release)
    assert next(lines).startswith("|---")
    rows = [line.split("|") for _, line in zip(WAYS, lines)]
    return [row[index].strip() for row in rows]


def test_second_plugin_has_outcome_of_table():
    release = "{}.{}".format(*RELEASE)
    if release not in ["2.12", "2.18", "2.21", "2.22"]:
        pytest.skip("the table does not have this release")
    folder = {example(name).parent for name in ["second_type", "type_gpu", "same_type", "same_platform"]}
    command = [sys.executable, PROGRAM, *folder]
    process = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"}, timeout=300)
    assert process.returncode == 0, process.stderr[-3000:]
    outcomes = json.loads(process.stdout.splitlines()[-1])
    assert list(outcomes) == WAYS
    for way, cell in zip(WAYS, column(release)):
        start, text = CELLS[cell]
        found = outcomes[way]
        assert found.startswith(start) and text in found, f"{way}, the page states {cell}: {found}"
        # `works` is the whole outcome, not the start of another one.
        assert start != "works" or found == "works", found


def test_plugin_that_is_loaded_from_a_second_path_names_both_paths(tmp_path):
    copy = tmp_path / "copy.so"
    program = (
        "import shutil, sys\n"
        f"sys.path.insert(0, {str(PROGRAM.parent)!r})\n"
        "import two_plugins_program as program\n"
        f"shutil.copy(program.installed_library(), {str(copy)!r})\n"
        f"program.load_library.load_pluggable_device_library({str(copy)!r})\n"
        "print(program.installed_library())\n"
    )
    process = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, timeout=300)
    assert process.returncode == 0, process.stderr[-3000:]
    installed = process.stdout.splitlines()[-1]
    line = f"{installed} has registered MYACCEL, and this is {copy}: load one of them"
    assert line in process.stderr, process.stderr[-3000:]
