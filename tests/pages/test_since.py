"""Tests of release markers and of the hindcast page: `python -m pytest tests/pages`."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from pages.releases import ROOT, releases
from pages.hindcast_page import COUNTS, format_ranges, reason_of
from pages.since import cut, marked, markers


def test_removes_line_with_trailing_marker_of_later_release():
    text = "use a; // since 2.6\nuse b; // since 2.10\nuse c;\n"
    assert cut(text, "2.9") == "use a; // since 2.6\nuse c;\n"
    assert cut(text, "2.5") == "use c;\n"
    assert cut(text, "2.10") == text


def test_removes_toml_line():
    text = '    "x",\n    "y", # since 2.7\n'
    assert cut(text, "2.6") == '    "x",\n'


@pytest.mark.parametrize(
    "item",
    [
        "fn a<T: X<U>, V>(x: [u8; 2]) -> Y<T, V> {\n    if x < y { b(); }\n}",
        "/// Docs: ( { \"\n#[inline]\nfn a() {\n    '{'; \"}\\\"{\"; r#\"{\"#; /* { */ // {\n}",
        "fn a<T>(x: T)\nwhere\n    T: X<U>,\n    U: Y,\n{\n    b(x)\n}",
        "impl<'a> X for Y<'a> {\n    fn b() {}\n}",
        "use a::{b, c};",
        "let a = b(c, d)\n    .e();",
        "/// Docs.\nName = value,",
        "context if !a(b, c) => {\n    d;\n}",
        "Some(x) => {\n    d\n},",
    ],
)
def test_removes_item_after_marker_on_its_own_line(item):
    text = f"before();\n// since 2.9\n{item}\nafter();\n"
    assert cut(text, "2.8") == "before();\nafter();\n"
    assert cut(text, "2.9") == text


def test_removes_markers_inside_removed_item():
    text = "// since 2.7\nmod a {\n    b(); // since 2.9\n}\nc(); // since 2.8\n"
    assert cut(text, "2.6") == ""
    assert cut(text, "2.7") == "// since 2.7\nmod a {\n}\n"


@pytest.mark.parametrize("text", ["// since 2.9\n", "{\n    a();\n    // since 2.9\n}\n", "// since 2.9\nfn a() {\n"])
def test_rejects_marker_without_item(text):
    with pytest.raises(ValueError):
        cut(text, "2.8")


def test_ignores_since_in_prose():
    text = "/// As since 2.9 in all releases.\n// known since 2.9\nlet a = 1;\n"
    assert markers(text) == []
    assert cut(text, "2.5") == text


def test_every_marker_in_sources_names_a_known_release():
    sources = [*ROOT.glob("templates/sdk/**/*"), *ROOT.glob("templates/cpu/**/*")]
    marked = {
        (path.relative_to(ROOT), release)
        for path in sources
        if path.suffix in (".rs", ".toml")
        for release in markers(path.read_text())
    }
    assert marked
    assert not [(path, release) for path, release in marked if release not in releases()]


def test_yields_code_of_each_marker():
    text = "a(); // since 2.6\n// since 2.7\n/// Docs.\n#[x]\nfn b() {\n}\n"
    assert list(marked(text)) == [("2.6", "a();"), ("2.7", "fn b()")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("declined TensorFlow 2.7: it requires SP_StreamExecutor.memset, which the plugin does not provide", "required slot"),
        ("declined TensorFlow 2.30: its headers differ from the known ones: SP_Timer is gone", "changed declaration"),
        ("A: left to TensorFlow's own kernels, since TF_A is not exported by this process", "missing function"),
        ("declined TensorFlow 2.22: its SP_StreamExecutor is 296 bytes, expected 264 or 288", None),
    ],
)
def test_finds_reason_of_decline(line, reason):
    assert reason_of(f"plugin myaccel: {line}") == reason


@pytest.mark.parametrize(
    ("line", "is_count"),
    [
        ("registers 2210 kernels with TensorFlow 2.21", True),
        ("1 op has no kernel in TensorFlow 2.21, which lacks functions for it (SP_LOG=debug or sp-gen doctor lists them)", True),
        ("declined TensorFlow 2.7: it registers 1 kernels ", False),
    ],
)
def test_lines_of_counts_are_not_on_the_hindcast_page(line, is_count):
    assert bool(COUNTS.search(f"plugin myaccel: {line}")) == is_count


def test_formats_consecutive_releases_as_range():
    every = ["2.9", "2.10", "2.11", "2.12"]
    assert format_ranges(["2.10", "2.9", "2.12"], every) == "2.9 to 2.10, 2.12"
