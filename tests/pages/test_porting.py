"""The tables of codegen/docs/porting.md and TensorFlow's header: `python -m pytest tests/pages`, with TensorFlow's Python."""

import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from pages.op_kernel import public_methods

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "codegen/docs/porting.md"
CLASSES = ["OpKernelConstruction", "OpKernelContext"]
SOURCES = ROOT / "codegen/port/tests/three_ways"
SECONDS = 900


def include_folder():
    """Returns the headers of the TensorFlow of this Python, which is not imported."""
    spec = importlib.util.find_spec("tensorflow")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("this Python has no TensorFlow")
    return pathlib.Path(spec.submodule_search_locations[0]) / "include"


def rows(page, name):
    """Returns the cells of the table of a class."""
    _, _, section = page.partition(f"\n## Methods of {name}\n")
    section = section.partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def spans(cell):
    return re.findall(r"`([^`]+)`", cell)


def first_releases():
    """Returns the first release that has each function of the C API."""
    first = {}
    for path in (ROOT / "generated/ir").glob("*/*.json"):
        release = tuple(int(number) for number in path.stem.split("."))
        for name, item in json.loads(path.read_text())["items"].items():
            if item.get("kind") == "function":
                first[name] = min(release, first.get(name, release))
    return first


@pytest.mark.parametrize("name", CLASSES)
def test_tables_have_each_method_of_the_header_and_no_other(name):
    header = (include_folder() / "tensorflow/core/framework/op_kernel.h").read_text()
    named = {method for row in rows(PAGE.read_text(), name) for method in spans(row[0])}
    methods = public_methods(header, name)
    assert len(methods) > 20
    assert sorted(methods - named) == [], "the page lacks methods of the header"
    assert sorted(named - methods) == [], "the header lacks methods of the page"


@pytest.mark.parametrize("name", CLASSES)
def test_releases_are_those_of_the_snapshots(name):
    first = first_releases()
    for method, functions, since, _ in rows(PAGE.read_text(), name):
        names = spans(functions)
        assert all(it in first for it in names), f"{method}: {functions}"
        expected = max((first[it] for it in names), default=None)
        assert since == ("" if expected is None else "{}.{}".format(*expected)), method
        assert names or functions == "none", method


@pytest.mark.parametrize("name", CLASSES)
def test_names_of_the_sdk_exist(name):
    sources = "\n".join(path.read_text() for folder in ("templates/sdk", "macros/runtime") for path in (ROOT / folder / "src").rglob("*.rs"))
    sources += (ROOT / "macros/expand/src/kernel/arguments.rs").read_text()
    words = set(re.findall(r"\w+", sources))
    for method, _, _, sdk in rows(PAGE.read_text(), name):
        unknown = [it for span in spans(sdk) for it in re.findall(r"[A-Za-z_]\w{2,}", span) if it not in words and it != "sp_cpu"]
        assert unknown == [], method


def test_blocks_are_the_compiled_sources():
    page = PAGE.read_text()
    for name, language in [("gather.cc", "cpp"), ("gather.c", "c"), ("gather.rs", "rust")]:
        assert f"```{language}\n// {name}\n{(SOURCES / name).read_text()}```\n" in page, name


def test_methods_are_found_without_a_compiler():
    header = """
    class Other;
    class Context final {
      int hidden();
     public:
      struct Params { int inner(); };
      explicit Context(int x);
      virtual ~Context();
      // int commented();
      int first(int a = f(1)) const { return g(a); }
      template <class T>
      T* second();
      virtual absl::Status third(int x, Map<int, int> y) TF_LOCKS_EXCLUDED(mu_);
      TF_MUST_USE_RESULT std::function<void()> fourth() { return {}; }
      std::function<void(std::function<void()>)>* fifth() const;
      typedef int (*Callback)(int);
      Context& operator=(const Context&) = delete;
     protected:
      int inherited();
     private:
      int x_ = f();
    };
    """
    assert public_methods(re.sub("^    ", "", header, flags=re.MULTILINE), "Context") == {"first", "second", "third", "fourth", "fifth"}


def test_cpp_block_is_a_kernel_of_tensorflow():
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("this machine has no C++ compiler")
    command = [compiler, "-std=c++17", "-fsyntax-only", "-w", "-I", include_folder(), SOURCES / "gather.cc"]
    process = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert process.returncode == 0, process.stderr[-3000:]
