"""Tests of the comparison that `tests/keras` and `tests/tensorflow-sources` print: `python -m pytest tests/pages`."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from suites import exceptions
from suites.compare import difference, failing, passing, report, without_left_out
from suites.keras_suite import is_chosen, parse

FILE = "keras/src/a_test.py"


def outcomes(**tests):
    return {FILE: {name: {"outcome": outcome, "error": f"error of {name}"} for name, outcome in tests.items()}}


def test_test_that_fails_with_plugin_only_is_a_difference():
    passed = {FILE: passing(outcomes(a="passed", b="passed", c="failed")[FILE])}
    assert difference(passed, outcomes(a="passed", b="failed", c="failed")) == {FILE: {"b": "error of b"}}


def test_tests_that_do_not_pass_run_without_the_plugin():
    assert failing(outcomes(a="passed", b="failed", c="skipped"), {FILE: []}) == {FILE: ["b", "c"]}
    assert failing(outcomes(a="passed"), {FILE: []}) == {}
    ended = {FILE: {FILE: {"outcome": "failed", "error": "the process ended with signal 11"}}}
    assert failing(ended, {FILE: ["fit"]}) == {FILE: ["fit"]}
    assert failing({}, {FILE: []}) == {FILE: []}


def test_test_without_outcome_is_a_difference():
    passed = {FILE: {"a"}}
    assert difference(passed, {}) == {FILE: {"a": "the test did not run"}}
    ended = {FILE: {FILE: {"outcome": "failed", "error": "the process ended with signal 11"}}}
    assert difference(passed, ended) == {FILE: {"a": "the process ended with signal 11"}}


def test_status_is_that_of_differences_and_of_exceptions_that_pass():
    passed, failed = {FILE: {"a", "b"}}, {FILE: {"b": "error"}}
    assert report(passed, {}, {}, {}) == 0
    assert report(passed, failed, failed, {}) == 1
    assert report(passed, failed, {}, {}) == 0, "a second run passes"
    assert report({FILE: set()}, {}, {}, {}) == 2
    assert report(passed, failed, failed, {"b": "reason"}) == 0
    assert report(passed, {}, {}, {"b": "reason"}) == 1


def test_words_of_errors_differ_where_none_are_expected():
    passed, failed = {FILE: {"a"}}, {FILE: {"a": 'AssertionError: "too large" does not match "it has no room"'}}
    assert report(passed, failed, failed, {}, expects_words=False) == 0
    assert report(passed, failed, failed, {}) == 1
    failed = {FILE: {"a": "AssertionError: InvalidArgumentError not raised"}}
    assert report(passed, failed, failed, {}, expects_words=False) == 1


def test_tests_that_leave_themselves_out_on_a_gpu_are_no_differences():
    found = outcomes(a="skipped", b="failed")
    different = {FILE: {"a": "the test is skipped", "b": "error of b"}}
    assert without_left_out(different, found, True) == ({FILE: {"b": "error of b"}}, ["a"])
    assert without_left_out(different, found, False) == (different, [])
    assert without_left_out({FILE: {"a": "the test is skipped"}}, found, True) == ({}, ["a"])


def test_exceptions_are_those_of_the_release():
    text = "# comment\n2.16,2.18 x::A::b it is so\n2.21 y no kernel\n"
    assert exceptions.parse(text, "2.18") == {"x::A::b": "it is so"}
    assert exceptions.parse(text, "2.2") == {}


def test_each_release_has_at_most_five_exceptions_with_a_reason():
    for release in ["2.16", "2.18", "2.21", "2.22", "2.23"]:
        assert len(exceptions.parse(exceptions.PATH.read_text(), release)) <= 5


def test_files_of_other_backends_are_left_out():
    options = parse(["python", "--only", "trainer"])
    assert is_chosen("keras/src/trainers/trainer_test.py", options)
    assert not is_chosen("keras/src/backend/jax/trainer_test.py", options)
    assert not is_chosen("keras/src/layers/layer_test.py", options)


def test_modules_that_turn_on_modes_of_tensorflows_tests_are_hidden(tmp_path, monkeypatch):
    pytest.importorskip("absl", reason="the hooks use a package that TensorFlow installs")
    monkeypatch.syspath_prepend(pathlib.Path(__file__).resolve().parents[1] / "suites" / "in_tensorflow")
    import sources

    folder = tmp_path / "tensorflow" / "python"
    folder.mkdir(parents=True)
    for name in ["helper", "is_xla_test_true"]:
        (folder / f"{name}.py").touch()
    finder = sources.Sources(tmp_path)
    assert finder.find_spec("tensorflow.python.helper").origin == str(folder / "helper.py")
    assert finder.find_spec("tensorflow.python.is_xla_test_true") is None
    assert finder.find_spec("tensorflow.python.absent") is None
