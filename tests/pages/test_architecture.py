"""ARCHITECTURE.md is short, and names files that exist: `python -m pytest tests/pages`."""

import pathlib
import re
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "ARCHITECTURE.md"
LARGEST = 20_000
# Folders that git ignores.
CREATED = {"headers/store"}


def paths(text):
    """Returns the code spans outside of blocks that are paths."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return {span for span in re.findall(r"`([^`\n]+)`", text) if "/" in span and not re.search(r"[\s<>*()#]", span)}


def page_edges(block):
    """Returns the pairs (user, used) of chains such as `a -> b, c -> d`."""
    edges = set()
    for chain in re.split(r"\n|;|\s{3,}", block):
        steps = [re.findall(r"sp-[\w-]+", step) for step in chain.split("->")]
        edges.update((user, used) for users, useds in zip(steps, steps[1:]) for user in users for used in useds)
    return edges


def manifest_edges():
    """Returns the pairs (user, used) of our crates, without what only tests use."""
    edges = set()
    for path in [ROOT / "generated/Cargo.toml", *(path for folder in ("codegen", "macros", "templates") for path in (ROOT / folder).glob("*/Cargo.toml"))]:
        manifest = tomllib.loads(path.read_text())
        edges.update((manifest["package"]["name"], used) for used in manifest.get("dependencies", {}) if used.startswith("sp-"))
    return edges


def closure(edges):
    """Returns the pairs between which the edges have a path."""
    while True:
        longer = edges | {(a, d) for a, b in edges for c, d in edges if b == c}
        if longer == edges:
            return edges
        edges = longer


def test_page_is_short():
    assert len(PAGE.read_bytes()) <= LARGEST


def test_named_files_exist():
    named = paths(PAGE.read_text())
    assert len(named) > 100
    assert [path for path in sorted(named - CREATED) if not (ROOT / path).exists()] == []


def test_page_shows_the_dependencies_of_the_manifests():
    block = re.search(r"`A -> B` means.*?^```text\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)[1]
    manifests = manifest_edges()
    assert len(manifests) > 60
    assert closure(page_edges(block)) == closure(manifests)


def test_finds_edges_of_chains():
    found = page_edges("sp-a -> sp-b -> sp-c        sp-d, sp-e -> sp-f;  sp-c -> sp-g\na plugin -> sp-a")
    assert found == {("sp-a", "sp-b"), ("sp-b", "sp-c"), ("sp-d", "sp-f"), ("sp-e", "sp-f"), ("sp-c", "sp-g")}
    assert ("sp-a", "sp-g") in closure(found)


def test_finds_paths_outside_of_blocks():
    text = "`a/b.rs` is `one`, `a b/c` not\n```text\n`c/d`\n```\n`e/<f>`"
    assert paths(text) == {"a/b.rs"}


def test_macro_rejects_the_names_of_all_ops_that_the_sdk_defines():
    text = (ROOT / "macros/expand/src/op/parse.rs").read_text()
    rejected = re.findall(r'"(\w+)"', re.search(r"const SDK_OPS: .*? = \[(.*?)\];", text, re.DOTALL)[1])
    sources = (ROOT / "templates/cpu/src").rglob("*.rs")
    defined = {name for path in sources for name in re.findall(r"#\[op\(\s*(Sp[A-Z]\w*)", path.read_text())}
    assert defined and sorted(defined) == rejected
