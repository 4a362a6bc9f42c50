#!/usr/bin/env python3
"""Writes the tables of codegen/docs/performance.md from figures.json.

    tests/bench/page.py [--check]
    tests/bench/page.py --machine amd [--date 2026-12-01] OUTPUT..

Without outputs it writes the tables; `--check` compares them with the page instead. OUTPUT is a file with what one run of
`kernels.py` or `models.py` has printed. The figures of that machine whose cases all have a row in an output are replaced first, by
those of all outputs. Other benches have few figures: write them into figures.json, a line for each.
"""

import argparse
import datetime
import json
import math
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "codegen/docs/performance.md"
FIGURES = HERE / "figures.json"
COLUMNS = {"task": "task", "value": "figure", "beside": "compared with", "machine": "machine", "runs": "runs", "date": "measured"}
# The ratio is the last number of a row of kernels.py. In one of models.py it precedes the spread and the memory.
KERNEL = re.compile(r"^(?P<case>.{48}) +[\d.]+ +[\d.]+ +(?P<ratio>[\d.]+)$")
MODEL = re.compile(r"^(?P<case>\w+) +\d+\.\d\d +\d+\.\d\d +(?P<ratio>[\d.]+) +[\d.]+(?: .*)?$")
SUMMARY = "all cases"
ABOVE = "above 1.10"


def ratios(text):
    """Returns the ratio of each case that a bench has printed, and the summary of all cases of `kernels.py`."""
    found = {}
    for line in text.splitlines():
        match = MODEL.match(line) or KERNEL.match(line)
        if match:
            found[match["case"].strip()] = float(match["ratio"])
    if "geometric mean" in text:
        cases = list(found.values())
        found[SUMMARY] = round(math.exp(sum(map(math.log, cases)) / len(cases)), 2)
        found[ABOVE] = f"{sum(ratio > 1.1 for ratio in cases)} of {len(cases)}"
    return found


def span(values):
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def measured(figure, runs):
    """Returns the value of a figure in the ratios of some runs, or None if a case was not measured in one of them."""
    cases = figure.get("cases")
    if not cases or not runs or not all(case in run for run in runs for case in cases):
        return None
    if cases == [ABOVE]:
        return ", ".join(dict.fromkeys(run[ABOVE] for run in runs))
    if figure.get("largest"):
        return ", ".join(f"{max(run[case] for run in runs):.2f}" for case in cases)
    return span([run[case] for run in runs for case in cases])


def updated(figures, machine, date, runs):
    """Returns the figures with those of a machine that the runs have measured."""
    result = []
    for figure in figures:
        value = measured(figure, runs) if figure["machine"] == machine else None
        result.append(figure if value is None else {**figure, "value": value, "runs": len(runs), "date": date})
    return result


def table(figures, section):
    """Returns the rows of a section as Markdown."""
    rows = [figure for figure in figures if figure["section"] == section]
    columns = [key for key in COLUMNS if any(key in row for row in rows)]
    lines = [[COLUMNS[key] for key in columns], ["---"] * len(columns)]
    lines += [[str(row.get(key, "")) for key in columns] for row in rows]
    return "\n".join("|" + "|".join(f" {cell} " if cell else " " for cell in line) + "|" for line in lines).replace(" --- ", "---")


def with_tables(page, figures):
    """Returns the page with the table of each section between its marks."""
    sections = re.findall(r"<!-- figures: (\w+) -->", page)
    absent = {figure["section"] for figure in figures} - set(sections)
    if absent:
        raise SystemExit(f"{PAGE.name} has no mark of the sections {sorted(absent)}")
    for section in sections:
        start, end = f"<!-- figures: {section} -->\n", "<!-- end of figures -->"
        before, rest = page.split(start, 1)
        after = rest.split(end, 1)[1]
        page = f"{before}{start}\n{table(figures, section)}\n\n{end}{after}"
    return page


def written(figures):
    """Returns the figures as JSON, one a line."""
    return "[\n" + ",\n".join(json.dumps(figure, ensure_ascii=False) for figure in figures) + "\n]\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outputs", nargs="*", type=pathlib.Path, metavar="OUTPUT")
    parser.add_argument("--machine", choices=["intel", "amd"])
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("--check", action="store_true", help="exit with 1 if the page has other tables")
    arguments = parser.parse_args()
    if bool(arguments.outputs) != bool(arguments.machine):
        parser.error("outputs need --machine, the machine that has printed them")
    figures = json.loads(FIGURES.read_text())
    if arguments.outputs:
        runs = [ratios(output.read_text()) for output in arguments.outputs]
        figures = updated(figures, arguments.machine, arguments.date, runs)
        FIGURES.write_text(written(figures))
    page = PAGE.read_text()
    wanted = with_tables(page, figures)
    if arguments.check:
        sys.exit(f"{PAGE.name} has other tables than figures.json: tests/bench/page.py writes them" if page != wanted else 0)
    PAGE.write_text(wanted)


if __name__ == "__main__":
    main()
