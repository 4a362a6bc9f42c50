"""The tables of codegen/docs/performance.md: `python -m pytest tests/pages`."""

import importlib.util
import json
import pathlib

BENCH = pathlib.Path(__file__).resolve().parents[1] / "bench"
SPEC = importlib.util.spec_from_file_location("bench_page", BENCH / "page.py")
page = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(page)

KERNELS = f"""TensorFlow 2.21.0, 2 cores; microseconds for one call
{'':48} {'plugin':>10} {'TensorFlow':>10} {'ratio':>6}
{'Relu 8':48} {4.0:10.1f} {8.0:10.1f} {0.5:6.2f}
{'Erf 1000x1000':48} {12.0:10.1f} {6.0:10.1f} {2.0:6.2f}
2 cases: geometric mean 1.00, largest 2.00, 1 above 1.10
"""
MODELS = f"{'':12} {'plugin':>9} {'CPU':>9}\n{'lstm':12} {1.0:9.2f} {2.0:9.2f} {0.5:6.2f} {1.01:6.2f} {3.0:9.1f} {3.0:9.1f} {1.0:6.2f}\n"


def test_page_has_the_figures():
    text = page.PAGE.read_text()
    assert page.with_tables(text, json.loads(page.FIGURES.read_text())) == text


def test_each_figure_states_section_task_value_machine_and_date():
    for figure in json.loads(page.FIGURES.read_text()):
        assert {"section", "task", "value", "machine", "date"} <= set(figure), figure


def test_reads_ratios_of_both_benches():
    assert page.ratios(KERNELS) == {"Relu 8": 0.5, "Erf 1000x1000": 2.0, "all cases": 1.0, "above 1.10": "1 of 2"}
    assert page.ratios(MODELS) == {"lstm": 0.5}


def test_replaces_figures_that_every_run_has_measured():
    figures = [{"machine": machine, "value": "1.00", "cases": cases} for machine, cases in (("amd", ["Relu 8"]), ("intel", ["Relu 8"]), ("amd", ["Exp 8"]))]
    runs = [page.ratios(KERNELS), {**page.ratios(KERNELS), "Relu 8": 0.75}]
    new, other, absent = page.updated(figures, "amd", "2026-12-01", runs)
    assert (new["value"], new["runs"], new["date"]) == ("0.50 to 0.75", 2, "2026-12-01")
    assert (other, absent) == tuple(figures[1:])
