"""Tests of the page of errors: `python -m pytest tests/pages`."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from kernel_sweep.page import page


def cell(op, type, result, missing=(), **largest):
    errors = {name.replace("_", " "): error for name, error in largest.items()}
    return {"op": op, "type": type, "result": result, "unit": "element", "largest": errors, "missing": missing, "calls": 10}


def test_rows_have_errors_of_plugin_and_cpu():
    cells = [
        cell("Tanh", "bfloat16", "close", forward_plugin=0.5, forward_CPU=123456, gradient_plugin=12.3, gradient_CPU=2),
        cell("Tanh", "float32", "close", forward_plugin=0.512, forward_CPU=1.5),
        cell("Tile", "int64", "bits"),
        cell("Digamma", "float64", "close", ["Polygamma"], forward_plugin=3),
    ]
    text = page([{"release": "2.21.0", "cells": cells}, {"release": "2.18.1", "cells": [cells[0], cell("ResourceGather", "half", "bits")]}])
    float32, bfloat16 = "| `Tanh` | float32 | element | 0.51 | 1.50 | - | - |\n", "| `Tanh` | bfloat16 | element | 0.50 | 1e+05 | 12 | 2.00 |\n"
    assert float32 + bfloat16 in text and "float64 |" not in text
    assert "40 cases of 3 ops with 4 pairs of op and type." in text
    assert "No tolerance: `Tile`." in text
    assert "## 2.18.1\n\n10 cases of 1 ops" in text
    assert "| `Polygamma` | `Digamma` |" in text
