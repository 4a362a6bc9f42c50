"""`python -m pytest tests/pages`: the matrix page."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from pages.matrix import Matrix

PLAYED = {
    "version": "2.21.0", "python": "3.11", "devices": 1, "passed": 60, "failed": [], "skipped": ["test_a", "test_b"],
    "variables": "/device:MYACCEL:0", "traced": True, "loss": [2.0, 1.0], "apart": 0.0,
}  # fmt: skip


def written(tmp_path, rows):
    page = Matrix()
    page.page, page.library, page.sha = tmp_path / "matrix.md", tmp_path / "lib.so", "0" * 64
    page.library.touch()
    return page.write(rows), page.page.read_text()


def test_counts_releases_with_skipped_tests_and_no_withdrawn_ones(tmp_path):
    good, text = written(tmp_path, {"2.21": PLAYED, "2.22": {"withdrawn": "the index no longer has it"}})
    assert good
    assert "1 of 1 releases" in text
    assert "| 60 passed, 2 skipped |" in text and "test_a" not in text
    assert "the index no longer has it" in text


def test_counts_no_release_with_a_failed_test(tmp_path):
    good, text = written(tmp_path, {"2.21": PLAYED | {"failed": ["test_c"]}})
    assert not good
    assert "0 of 1 releases" in text and "failed: test_c" in text
