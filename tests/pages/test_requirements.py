"""Each row of codegen/docs/requirements.md names tests, checks or texts of pages that exist: `python -m pytest tests/pages`."""

import functools
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "codegen/docs/requirements.md"
LARGEST = 40_000
LONGEST_LINE = 140
# The documents, and how many requirements each has.
COUNTS = {"A": 84, "B": 42, "C": 67, "D": 22, "E": 38}
OPEN, IN_PART = "nothing yet: ", "not shown: "
RUST_TEST = re.compile(r"#\[test\]\s+(?:#\[.*\]\s+)*fn (\w+)\(")
# A test of a plugin, which `main` passes to sp-host.
HOST_TEST = re.compile(r"^fn (\w+)\(_?host: &Host\)", re.MULTILINE)
# A plugin of the tests of sp-host with a defect, in a table of text or of tuples.
DEFECT = re.compile(r'(?:^|\(\s*")([A-Z][A-Z_0-9 =]+)(?: \| |",)', re.MULTILINE)
# A program that `test_unchanged.py` or `test_distributed.py` runs.
PROGRAM = re.compile(r"tests/tensorflow/(unchanged|distributed)/\w+\.py")
HEADING = re.compile(r"^(#+) (.*)$")
LINK = re.compile(r"\[([^\]]+)\]\(([^)#]*)#([^)]+)\)")


def tracked_files():
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [name for name in names.split("\0") if (ROOT / name).is_file()]


def ends_with(path, suffix):
    """Returns true if `suffix` is the last parts of the path."""
    return path == suffix or path.endswith(f"/{suffix}")


class Names:
    """The names that a row may use.

    `functions` has the tests with their files, those in Rust without the suffix. `files` are the tests that have one file: of pytest, in
    Rust with a `main`, of the macros' messages, and programs. `defects` are those that tests of sp-host plant.
    """

    def __init__(self, files):
        """Reads the names in the texts of files, by path."""
        self.functions, self.scripts = [], []
        for path, text in files.items():
            stem, _, suffix = path.partition(".rs")
            if suffix in ("", ".jinja") and path != stem:
                names = RUST_TEST.findall(text)
                names += HOST_TEST.findall(text) if "fn main()" in text else []
                self.functions += [(stem, name) for name in names]
            if path.endswith(".py") and path.rpartition("/")[2].startswith("test_"):
                self.functions += [(path, name) for name in re.findall(r"^def (test_\w+)\(", text, re.MULTILINE)]
            if path.startswith("tests/") and os.access(ROOT / path, os.X_OK):
                self.scripts.append(path)
        checks = files.get("codegen/host/src/check/list.rs", "").partition("\nchecks! {")[2]
        self.checks = re.findall(r"^    (\w+): [\w:]+,$", checks, re.MULTILINE)
        defects = [text for path, text in files.items() if path.startswith("codegen/host/tests/") and path.endswith(".rs")]
        self.defects = {name for text in defects for name in re.findall(DEFECT, text)}
        python = {path for path, _ in self.functions if path.endswith(".py")}
        rust = [path for path in files if path.endswith(".rs") and "/tests/" in path and "fn main()" in files[path]]
        self.files = [*python, *rust, *filter(PROGRAM.fullmatch, files)]

    def find(self, name):
        """Returns how many things have the name."""
        if "::" in name:
            path, _, function = name.rpartition("::")
            return sum(found == function and ends_with(stem, path) for stem, found in self.functions)
        if name.endswith((".py", ".rs")):
            return sum(ends_with(path, name) for path in self.files)
        if "/" in name:
            return self.scripts.count(name)
        if name.isupper():
            return int(name in self.defects)
        of_rust = sum(found == name and not stem.endswith(".py") for stem, found in self.functions)
        return of_rust + self.checks.count(name)


@functools.cache
def names():
    suffixes = (".rs", ".py", ".rs.jinja")
    paths = [path for path in tracked_files() if path.endswith(suffixes) or path.startswith("tests/") and "." not in path]
    return Names({path: (ROOT / path).read_text(errors="replace") for path in paths})


def anchor(heading):
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def section(text, name):
    """Returns a section of a page with its heading and those below it, or None."""
    lines, level, is_code = [], 0, False
    for line in text.splitlines():
        is_code ^= line.startswith("```")
        heading = None if is_code else HEADING.match(line)
        if heading and level and len(heading[1]) <= level:
            break
        if heading and not level and anchor(heading[2]) == name:
            level = len(heading[1])
        if level:
            lines.append(line)
    return "\n".join(lines) if lines else None


def plain(text):
    return text.replace("`", "").replace("\\", "")


def problems(number, evidence, known, folder=PAGE.parent):
    """Returns what is wrong with the evidence of a row."""
    found = []
    links = LINK.findall(evidence)
    for text, path, name in links:
        file = folder / path
        part = section(file.read_text(), name) if file.is_file() else None
        if part is None or plain(text) not in plain(part):
            found.append(f"{number}: {path}#{name} does not have `{text}`")
    spans = re.findall(r"`([^`]+)`", LINK.sub("", evidence))
    counts = {span: known.find(span) for span in spans}
    found += [f"{number}: `{span}` is the name of {count} things" for span, count in counts.items() if count != 1]
    if LINK.sub("", evidence).count("]("):
        found.append(f"{number}: a link without an anchor")
    is_open = evidence.startswith(OPEN) and evidence != OPEN
    if not spans and not links and not is_open:
        found.append(f"{number}: names nothing")
    return found


def rows(text):
    """Returns the rows of the page: numbers, requirement, evidence."""
    cells = [line.strip("|").split(" | ") for line in text.splitlines() if re.match(r"\| [A-E]\d\d", line)]
    assert all(len(row) == 3 for row in cells), [row for row in cells if len(row) != 3]
    return [(re.findall(r"[A-E]\d\d", row[0]), row[1].strip(), row[2].strip()) for row in cells]


def test_names_of_each_row_exist():
    found = [problem for numbers, _, evidence in rows(PAGE.read_text()) for problem in problems(numbers[0], evidence, names())]
    assert found == []


def test_each_requirement_is_in_one_row():
    found = sorted(number for numbers, _, _ in rows(PAGE.read_text()) for number in numbers)
    assert found == [f"{document}{index:02}" for document, count in COUNTS.items() for index in range(1, count + 1)]


def test_head_of_page_has_the_counts_and_the_rows_that_nothing_shows():
    text = PAGE.read_text()
    head, found = text.partition("\n## ")[0], rows(text)
    is_open = [(numbers, evidence.startswith(OPEN)) for numbers, _, evidence in found]
    shown = sum(len(numbers) for numbers, is_open in is_open if not is_open)
    not_shown = [number for numbers, is_open in is_open if is_open for number in numbers]
    counts = f"{sum(COUNTS.values())} requirements in {len(found)} rows: {shown} are shown, {len(not_shown)} are not."
    assert counts in head
    listed = [number for line in head.splitlines() if line.startswith("- ") for number in re.findall(r"\b[A-E]\d\d\b", line)]
    assert sorted(listed) == sorted(not_shown)
    in_part = re.findall(r"\b[A-E]\d\d\b", re.search(r"^Shown in part: (.*?);", head, re.MULTILINE)[1])
    rows_in_part = [numbers for numbers, _, evidence in found if IN_PART in evidence]
    assert len(in_part) == len(rows_in_part)
    assert all(len(set(numbers) & set(in_part)) == 1 for numbers in rows_in_part)


def test_page_is_short():
    text = PAGE.read_text()
    assert len(text.encode()) <= LARGEST
    assert [line for line in text.splitlines() if len(line) > LONGEST_LINE and not line.startswith("|")] == []


PLANTED = Names(
    {
        "a/src/x.rs": "#[test]\n#[ignore]\nfn works() {}\n\nfn helper() {}\n",
        "a/src/y.rs": "#[test]\nfn works() {}\n#[test]\nfn copies() {}\n",
        "a/tests/z.rs": "fn main() {}\nfn adds(host: &Host) {}\n",
        "tests/pages/test_p.py": "def test_one():\n    pass\n\n\ndef helper():\n    pass\n",
        "codegen/host/src/check/list.rs": "\nchecks! {\n    copies: copy::all,\n    fills: copy::fills,\n}\n",
        "codegen/host/tests/defects/mod.rs": "LOST_COPY | copies | words",
    }
)


def test_right_names_are_found():
    for name in ["x::works", "src/y::works", "adds", "z::adds", "a/tests/z.rs", "test_p.py", "test_p.py::test_one", "fills", "LOST_COPY"]:
        assert problems("A01", f"words, `{name}`", PLANTED) == [], name


def test_wrong_names_are_reported():
    of_rust = ["x::copies", "helper", "z::main", "x.rs", "fill", "LOST"]
    absent = [*of_rust, "test_p.py::test_two", "test_p.py::helper", "test_q.py", "tests/absent"]
    for name in absent:
        assert problems("A01", f"`adds`, `{name}`", PLANTED) == [f"A01: `{name}` is the name of 0 things"]
    for name in ["works", "copies"]:
        assert problems("A01", f"`{name}`", PLANTED) == [f"A01: `{name}` is the name of 2 things"]


def test_wrong_evidence_is_reported(tmp_path):
    page = "# Page\n\n## One `part`\n\n| `a` b | c |\n\n```sh\n# no heading\n```\n\n### Below\n\nmore\n\n## Two\n\nlast\n"
    (tmp_path / "page.md").write_text(page)
    for evidence in ["[a b](page.md#one-part)", "[more](page.md#one-part)", "[last](page.md#page)", "nothing yet: no device has it"]:
        assert problems("A01", evidence, PLANTED, tmp_path) == [], evidence
    for evidence in [
        "[last](page.md#one-part)", "[a b](page.md#no-heading)", "[a b](page.md#three)", "[a](other.md#one-part)", "[a](page.md)",
        "it works", "", OPEN, "nothing yet: as `helper`",
    ]:
        assert len(problems("A01", evidence, PLANTED, tmp_path)) >= 1, evidence
