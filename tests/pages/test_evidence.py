"""Tests of what pages state about their sources: `python -m pytest tests/pages`."""

import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from pages import evidence


@pytest.fixture
def root(tmp_path):
    """A checkout with one commit."""
    (tmp_path / "Cargo.toml").write_text('[workspace.package]\nversion = "1.2.3"\n')
    for name in ("macros/a.rs", "templates/b.rs", "generated/src/c.rs", "tests/traced_ops/d.py", "README.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", "-C", tmp_path, *command], check=True)
    return tmp_path


def test_page_is_of_the_present_sources_until_one_changes(root):
    text = f"# A page\n\n{evidence.stamp('traced-ops.md', root)}\n"
    assert "Made by sp-gen 1.2.3 of commit `" in text
    (root / "README.md").write_text("changed")
    (root / "macros" / "untracked.rs").write_text("new")
    assert evidence.problem("traced-ops.md", text, root) is None
    (root / "tests/traced_ops/d.py").write_text("changed")
    assert "its sources have changed since commit" in evidence.problem("traced-ops.md", text, root)


def test_removed_and_added_sources_are_changes(root):
    text = evidence.stamp("traced-ops.md", root)
    (root / "macros/a.rs").unlink()
    assert evidence.problem("traced-ops.md", text, root)
    (root / "macros/a.rs").write_text("macros/a.rs")
    assert evidence.problem("traced-ops.md", text, root) is None
    (root / "macros/e.rs").write_text("e")
    subprocess.run(["git", "-C", root, "add", "."], check=True)
    assert evidence.problem("traced-ops.md", text, root)


def test_page_without_a_statement_is_no_evidence(root):
    assert evidence.problem("matrix.md", "# A page", root) == "it does not state what it was made of"
