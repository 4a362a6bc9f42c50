"""Tests of the structure measures: `python -m pytest tests/pages`."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from pages.structure import cycles, doc_openings, functions, module_edges, question_share, sources, top_edges


def test_finds_cycle_of_three_modules_and_ignores_tests():
    files = {
        "codegen/x/src/a.rs": "use crate::b::B;\n",
        "codegen/x/src/b.rs": "use super::c;\n",
        "codegen/x/src/c/mod.rs": "use crate::{d::D, a};\n",
        "codegen/x/src/d.rs": "#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n",
    }
    assert cycles(module_edges(files)["codegen/x"]) == [["a", "b", "c"]]


def test_finds_cycle_through_modules_inside_of_modules():
    files = {
        "codegen/x/src/a/mod.rs": "",
        "codegen/x/src/a/one.rs": "use crate::b::B;\n",
        "codegen/x/src/a/two.rs": "",
        "codegen/x/src/b.rs": "use crate::a::two::Two;\n",
    }
    edges = module_edges(files)["codegen/x"]
    assert cycles(edges) == []
    assert cycles(top_edges(edges)) == [["a", "b"]]


def test_modules_have_no_cycle():
    crates = module_edges(sources("."))
    assert len(crates["codegen/host"]) > 50 and len(crates["templates/sdk"]) > 50
    found = {name: cycles(edges) + cycles(top_edges(edges)) for name, edges in crates.items()}
    assert {name: it for name, it in found.items() if it} == {}


def uses_between(crate, parent, order):
    """Returns the uses between the modules in `parent`, and those of them that use a later one in `order`, a rank by name."""
    name = lambda module: module.split("::")[1] if module.startswith(f"{parent}::") else None
    edges = module_edges(sources("."))[crate].items()
    used = {(name(module), name(target)) for module, targets in edges for target in targets}
    used = {(user, it) for user, it in used if user in order and it in order and user != it}
    return used, {(user, it) for user, it in used if order[it] > order[user]}


def test_modules_of_kernel_use_only_those_above_them_in_its_list():
    text = sources(".")["templates/sdk/src/kernel/mod.rs"]
    listed = re.search(r"uses only those that are above.*?\|---\|---\|\n(.*?)\n(?!//! \|)", text, re.DOTALL)[1]
    rows = enumerate(line.split("|")[1] for line in listed.split("\n"))
    used, upward = uses_between("templates/sdk", "kernel", {name: rank for rank, row in rows for name in re.findall(r"`(\w+)`", row)})
    assert len(used) > 10
    assert upward == set()


def test_folders_of_compute_use_only_those_before_them():
    used, upward = uses_between("templates/cpu", "compute", {name: rank for rank, name in enumerate(["machine", "scalar", "loops", "ops"])})
    assert len(used) > 3
    assert upward == set()


def test_finds_functions_and_first_lines_of_doc_comments():
    text = "/// What it is.\n/// Where it is.\nfn of() {}\n\n/// Returns it.\nfn long() {\n    1\n}\n"
    assert list(functions(text)) == [("of", 1), ("long", 3)]
    assert list(doc_openings(text)) == ["What it is.", "Returns it."]
    assert question_share(doc_openings(text)) == "1 (50.0%)"
