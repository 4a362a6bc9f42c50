"""Tests of the structure measures: `python -m pytest tests/pages`."""

import pathlib
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


FOLDERS = ["machine", "scalar", "loops", "ops"]


def test_folders_of_compute_use_only_those_before_them():
    edges = module_edges(sources("."))["templates/cpu"]
    folder_of = lambda module: module.split("::")[1] if module.startswith("compute::") else None
    used = {(folder_of(module), folder_of(target), target) for module, targets in edges.items() for target in targets}
    found = {(user, target) for user, folder, target in used if user in FOLDERS and folder in FOLDERS and user != folder}
    assert len(found) > 30
    assert {(user, target) for user, target in found if FOLDERS.index(folder_of(target)) > FOLDERS.index(user)} == set()


def test_finds_functions_and_first_lines_of_doc_comments():
    text = "/// What it is.\n/// Where it is.\nfn of() {}\n\n/// Returns it.\nfn long() {\n    1\n}\n"
    assert list(functions(text)) == [("of", 1), ("long", 3)]
    assert list(doc_openings(text)) == ["What it is.", "Returns it."]
    assert question_share(doc_openings(text)) == "1 (50.0%)"
