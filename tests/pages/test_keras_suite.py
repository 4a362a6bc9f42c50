"""Tests of the comparison that `tests/keras` prints: `python -m pytest tests/pages`."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from keras_suite import exceptions
from keras_suite.main import difference, failing, parse, is_chosen, passing, report

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


def test_status_is_that_of_differences_and_of_exceptions_that_pass(monkeypatch):
    passed, failed = {FILE: {"a", "b"}}, {FILE: {"b": "error"}}
    monkeypatch.setattr(exceptions, "of_release", lambda release: {})
    assert report(passed, {}, {}, "2.21.0") == 0
    assert report(passed, failed, failed, "2.21.0") == 1
    assert report(passed, failed, {}, "2.21.0") == 0, "a second run passes"
    assert report({FILE: set()}, {}, {}, "2.21.0") == 2
    monkeypatch.setattr(exceptions, "of_release", lambda release: {"b": "reason"})
    assert report(passed, failed, failed, "2.21.0") == 0
    assert report(passed, {}, {}, "2.21.0") == 1


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
