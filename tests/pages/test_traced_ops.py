"""Tests of the page of traced ops: `python -m pytest tests/pages`."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from traced_ops.page import page


def row(op, kernel, models, **types):
    return {"op": op, "types": types, "attributes": {"padding": ["VALID", "SAME"]}, "models": models, "kernel": kernel}


def test_rows_that_most_models_have_come_first():
    rows = [row("Conv3D", "none", ["a"], T="float"), row("Equal", "none", ["a", "b", "c"], T="float"), row("Mul", "plugin", ["a"])]
    text = page({"release": "2.21.0", "traced": ["a", "b", "c"], "failed": {"d": "ValueError: x"}, "rows": rows})
    missing = text.partition("### Without a kernel")[2]
    assert missing.index("`Equal`") < missing.index("`Conv3D`") < missing.index("`Mul`")
    assert "| `Equal` | T = float | padding = SAME or VALID | 3 | a, b, ... |" in text
    assert "3 models have 3 ops: the plugin has kernels of 1, TensorFlow of 0 more. The SDK replaces 0 in graphs. 2 have no kernel" in text
    assert "- d: ValueError: x" in text
