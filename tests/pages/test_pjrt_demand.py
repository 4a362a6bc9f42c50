"""Tests of the measured demands of PJRT hosts and of their page: `python -m pytest tests/pages`."""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "pjrt"))

import data
import declarations
import environment
import page
from host import Answer, clean

OK, CRASH = {"outcome": "ok"}, {"outcome": "crash", "message": "SIGSEGV"}


def test_page_is_written_from_the_data():
    assert page.PAGE.read_text() == page.text(), "run `tests/pjrt-demand --page`"


def test_files_are_as_the_command_writes_them():
    for host in ("jaxlib", "tensorflow"):
        for demand in data.read_all(host):
            path = data.path_of(host, demand["release"])
            assert path.read_text() == data.format_rows(demand) + "\n", path


def test_every_slot_of_the_newest_header_is_judged():
    items, _ = declarations.read_snapshot(ROOT / "generated" / "ir" / "pjrt" / "2.22.json")
    slots = declarations.slots(items)
    demands = [*data.read_all("jaxlib"), *data.read_all("tensorflow")]
    assert len(data.read_all("jaxlib")) >= 12
    for demand in demands:
        assert list(demand["slots"]) == slots, demand["release"]


def test_differences_name_the_slot_and_ignore_messages():
    old = data.read("jaxlib", "0.10.2")
    new = json.loads(json.dumps(old))
    new["slots"]["PJRT_Plugin_Attributes"]["null"]["message"] = "SIGBUS"
    assert data.differences(old, new) == []
    new["slots"]["PJRT_Plugin_Attributes"]["demand"] = "unused"
    assert data.differences(old, new) == ["PJRT_Plugin_Attributes: demand required is now unused"]


def test_answer_attributes_a_signal_to_the_running_program():
    reports = [{"program": "devices"}, {"program": "devices", "outcome": "ok"}, {"program": "profile"}]
    answer = Answer({"reports": reports, "end": "SIGSEGV", "stderr": ""}, ["begin devices", "call A 24 0 lib.so main x y"])
    assert answer.outcomes == {"devices": OK, "profile": CRASH}
    assert list(answer.calls()) == [("devices", "A", 24, ["x", "y"])]


def test_messages_have_no_time_path_or_address():
    assert clean("2026-11-30 22:00:41.6: F external/xla/xla/pjrt/pjrt_layout.h:106] Check failed: 0x7f01") == "pjrt_layout.h:106] Check failed: 0x.."


def test_newest_patch_of_each_minor_is_measured():
    listing = "Available versions: 0.10.2, 0.10.1, 0.9.0.1, 0.9.0, 0.4.38, 0.4.36, 0.4.30, 0.4.29"
    assert environment.newest_patches(listing) == ["0.4.30", "0.4.36", "0.4.38", "0.9.0.1", "0.10.2"]


def test_releases_are_printed_as_runs():
    releases = ["0.4.30", "0.5.0", "0.6.2", "0.7.2"]
    assert page.ranges(releases, releases) == "all"
    assert page.ranges(["0.4.30", "0.5.0", "0.7.2"], releases) == "0.4.30 to 0.5.0, 0.7.2"
