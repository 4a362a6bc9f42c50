"""Each cell of generated/docs/features.md, compared with the running TensorFlow."""

import ctypes
import pathlib
import re

import pytest
import tensorflow as tf

PAGE = pathlib.Path(__file__).parents[2] / "generated/docs/features.md"
RELEASE = ".".join(tf.__version__.split(".")[:2])


def rows(heading):
    """Returns the cells of each row of the table with this first column."""
    lines = [line.strip("|").split("|") for line in PAGE.read_text().splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line] for line in lines]
    start = next(index for index, line in enumerate(cells) if line[0] == heading and len(line) > 2)
    table = [cells[start]]
    for line in cells[start + 2 :]:
        if len(line) != len(table[0]):
            break
        table.append(line)
    return table


def stated():
    """Returns the title of each row with what it needs, and true if the page states that this release has it."""
    releases, *marks = rows("")
    column = releases.index(RELEASE)
    needs = {line[0]: line[2] for line in rows("row")[1:]}
    return [(line[0], needs[line[0]], line[column] == "x") for line in marks]


def tensorflow_libraries():
    maps = pathlib.Path("/proc/self/maps").read_text()
    paths = set(re.findall(r"/\S*tensorflow/\S*\.so\S*", maps))
    return [ctypes.CDLL(path) for path in sorted(paths) if pathlib.Path(path).exists()]


def has_field(record, field):
    headers = pathlib.Path(tf.sysconfig.get_include(), "tensorflow/c").rglob("*.h")
    return any(record in text and re.search(rf"\b{field}\b", text) for text in (header.read_text() for header in headers))


@pytest.mark.skipif(RELEASE not in rows("")[0], reason="the page does not have this release")
@pytest.mark.parametrize("title, needs, is_stated", stated() if RELEASE in rows("")[0] else [])
def test_cell_agrees_with_this_tensorflow(title, needs, is_stated):
    functions = re.findall(r"`(TF_\w+)`", needs)
    fields = re.findall(r"`(\w+)\.(\w+)`", needs)
    assert functions or fields
    libraries = tensorflow_libraries()
    exported = all(any(hasattr(library, name) for library in libraries) for name in functions)
    has_all = exported and all(has_field(*field) for field in fields)
    if "(observed)" in needs:
        # The functions are there earlier; only a later release can lack them.
        assert has_all or not is_stated
    else:
        assert has_all == is_stated
