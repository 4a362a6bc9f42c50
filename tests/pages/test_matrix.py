"""Tests of the matrix page: `python -m pytest tests/pages`."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from pages.matrix import Matrix

ROW = {
    "version": "2.21.0", "python": "3.11", "others": {"python3.12": "runs", "tensorflow": "runs"}, "passed": 60, "failed": [], "skipped": ["test_a", "test_b"],
    "variables": "/device:MYACCEL:0", "traced": True, "loss": [2.0, 1.0], "difference": 0.0,
}  # fmt: skip


def write_page(tmp_path, rows):
    """Returns the result of `write` and the text of the page."""
    page = Matrix()
    page.page, page.library, page.sha = tmp_path / "matrix.md", tmp_path / "lib.so", "0" * 64
    page.library.touch()
    return page.write(rows), page.page.read_text()


def test_counts_release_with_skipped_tests_but_not_withdrawn_release(tmp_path):
    good, text = write_page(tmp_path, {"2.21": ROW, "2.22": {"withdrawn": "the index no longer has it"}})
    assert good
    assert "1 of 1 releases pass" in text
    assert "| 3.11 | 3.12 | runs | 60 passed, 2 skipped |" in text and "test_a" not in text
    assert "the index no longer has it" in text


def test_does_not_count_release_with_a_problem_in_another_environment(tmp_path):
    good, text = write_page(tmp_path, {"2.21": ROW | {"others": {"python3.13": "Aborted"}}})
    assert not good and "python3.13: Aborted" in text


def test_does_not_count_release_with_failed_test(tmp_path):
    good, text = write_page(tmp_path, {"2.21": ROW | {"failed": ["test_c"]}})
    assert not good
    assert "0 of 1 releases pass" in text and "failed: test_c" in text
