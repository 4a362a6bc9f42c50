"""ARCHITECTURE.md is short, and names files that exist: `python -m pytest tests/pages`."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "ARCHITECTURE.md"
LARGEST = 20_000
# Folders that git ignores.
CREATED = {"headers/store"}


def paths(text):
    """Returns the code spans outside of blocks that are paths."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return {span for span in re.findall(r"`([^`\n]+)`", text) if "/" in span and not re.search(r"[\s<>*()#]", span)}


def test_page_is_short():
    assert len(PAGE.read_bytes()) <= LARGEST


def test_named_files_exist():
    named = paths(PAGE.read_text())
    assert len(named) > 100
    assert [path for path in sorted(named - CREATED) if not (ROOT / path).exists()] == []


def test_finds_paths_outside_of_blocks():
    text = "`a/b.rs` is `one`, `a b/c` not\n```text\n`c/d`\n```\n`e/<f>`"
    assert paths(text) == {"a/b.rs"}


def test_macro_rejects_the_names_of_all_ops_that_the_sdk_defines():
    text = (ROOT / "macros/expand/src/op/parse.rs").read_text()
    rejected = re.findall(r'"(\w+)"', re.search(r"const SDK_OPS: .*? = \[(.*?)\];", text, re.DOTALL)[1])
    sources = (ROOT / "templates/cpu/src").rglob("*.rs")
    defined = {name for path in sources for name in re.findall(r"#\[op\(\s*(Sp[A-Z]\w*)", path.read_text())}
    assert defined and sorted(defined) == rejected
