"""Runs the converters of TensorBoard's profile tools, and prints JSON: what the tools show of a profile.

It runs in an environment with the package `xprof`. Arguments: the profile, the names of tools; all by default.
"""

import json
import sys

from xprof.convert.raw_to_tool_data import xspace_to_tool_data


def convert(path, tool):
    """Returns the data of a tool."""
    data, _ = xspace_to_tool_data([path], tool, {"session_id": "session", "use_saved_result": False})
    return json.loads(data)


def rows(table):
    """Returns the rows of a table, as dictionaries by the id of the column."""
    columns = [column["id"] for column in table["cols"]]
    return [dict(zip(columns, [cell.get("v") for cell in row["c"]])) for row in table["rows"]]


def properties(tables):
    """Returns the properties of all tables."""
    return {name: value for table in tables for name, value in table.get("p", {}).items()}


def overview_page(path):
    return properties(convert(path, "overview_page"))


def input_pipeline_analyzer(path):
    tables = convert(path, "input_pipeline_analyzer")
    steps = [table for table in tables if "stepnum" in [column["id"] for column in table["cols"]]]
    return {"steps": rows(steps[0]), "properties": properties(tables)}


def framework_op_stats(path):
    return rows(convert(path, "framework_op_stats")[0])


def kernel_stats(path):
    table = convert(path, "kernel_stats")
    return rows(table[0] if isinstance(table, list) else table)


def op_profile(path):
    profile = convert(path, "op_profile")
    root = profile["byProgram"]
    categories = [child["name"] for program in root["children"] for child in program["children"]]
    return {"device": profile.get("deviceType"), "picoseconds": root["metrics"]["rawTime"], "categories": categories}


def memory_profile(path):
    allocators = convert(path, "memory_profile")["memoryProfilePerAllocator"]
    return {name: allocator["profileSummary"] for name, allocator in allocators.items()}


def trace_viewer(path):
    events = convert(path, "trace_viewer")["traceEvents"]
    names = {event["pid"]: event["args"]["name"] for event in events if event.get("name") == "process_name"}
    by_process = {}
    for event in events:
        if event.get("ph") == "X":
            by_process.setdefault(names[event["pid"]], set()).add(event["name"])
    return {name: sorted(found) for name, found in by_process.items()}


TOOLS = [
    overview_page, input_pipeline_analyzer, framework_op_stats, kernel_stats, op_profile, memory_profile, trace_viewer,
]  # fmt: skip

if __name__ == "__main__":
    path, *selected = sys.argv[1:]
    print(json.dumps({tool.__name__: tool(path) for tool in TOOLS if not selected or tool.__name__ in selected}))
