"""Writes the C declarations of the PJRT API, and tables of its slots and extensions, from a snapshot of the IR.

`probe/` is compiled with both files. Nothing else of the probe depends on a header's minor version: between minors 40 and 115 the
table and the argument structs only had fields appended.
"""

import json
import re

SLOT = """static void* slot_{name}(void* arguments)
{{
    return call_slot({index}, arguments, (implementation)implement_{name}, __builtin_return_address(0));
}}
"""
EXTENSION_SLOT = """extern PJRT_Error* extend_{kind}_{name}(void* arguments) __attribute__((weak));
static void* extension_{kind}_{index}(void* arguments)
{{
    return call_extension("{kind}.{name}", arguments, (implementation)extend_{kind}_{name}, __builtin_return_address(0));
}}
"""
# Functions of an extension whose struct is not in the snapshot.
UNKNOWN_FUNCTIONS = 16


def read_snapshot(path):
    """Returns the items of a snapshot, and its minor version."""
    snapshot = json.loads(path.read_text())
    return snapshot["items"], int(snapshot.get("version", "0.0").split(".")[1])


def declare(type_, name):
    """Returns the C declaration of a field or parameter."""
    if isinstance(type_, dict):
        function = type_["function"]
        parameters = ", ".join(declare(p["type"], "") for p in function["params"]) or "void"
        return f"{function['ret']} (*{name})({parameters})"
    base, bracket, size = type_.partition("[")
    return f"{base} {name}{bracket}{size}".rstrip()


def by_value(fields):
    """Returns the names of the types that fields embed."""
    return [f["type"].partition("[")[0] for f in fields if isinstance(f["type"], str) and not f["type"].endswith("*")]


def declare_fields(kind, name, item):
    lines = [f"    {declare(f['type'], f['name'])};" for f in item["fields"]]
    checks = [
        f'_Static_assert(__builtin_offsetof({kind} {name}, {f["name"]}) == {f["offset"]}, "{name}.{f["name"]}");'
        for f in item["fields"]
    ]
    return "\n".join([f"{kind} {name} {{", *lines, "};", *checks])


def declarations(items):
    """Returns a header with all types of the API."""
    parts = ["#include <stdbool.h>", "#include <stddef.h>", "#include <stdint.h>"]
    for name, item in items.items():
        if item["kind"] in ("struct", "union", "handle"):
            kind = "union" if item["kind"] == "union" else "struct"
            parts.append(f"typedef {kind} {name} {name};")
        elif item["kind"] == "enum":
            parts.append(f"typedef {item['repr']} {name};")
            parts += [f"#define {v['name']} {v['value']}" for v in item["variants"]]
    for name, item in items.items():
        if item["kind"] == "alias":
            parts.append(f"typedef {item['type']} {name};")
        elif item["kind"] == "callback":
            signature = item["signature"]
            parts.append(f"typedef {declare({'function': signature}, name)};")
    declared = set()

    def emit(name):
        item = items.get(name, {})
        if name in declared or item.get("kind") not in ("struct", "union"):
            return
        declared.add(name)
        for other in by_value(item["fields"]):
            emit(other)
        parts.append(declare_fields(item["kind"], name, item))

    for name in items:
        emit(name)
    return "\n".join(parts) + "\n"


def slots(items):
    """Returns the names of the table's slots, in their order."""
    return [f["name"] for f in items["PJRT_Api"]["fields"][3:]]


def field_rows(items, name):
    """Returns the rows of the table of the fields that the caller fills, without the first two."""
    fields = [f for f in items[f"{name}_Args"]["fields"][2:] if "direction" not in f]
    return "".join(f'{{"{f["name"]}", {f["offset"]}, {f["size"]}}}, ' for f in fields)


def extensions(items):
    """Returns the number, the name and the names of the functions of each type of extension."""
    for variant in items["PJRT_Extension_Type"]["variants"]:
        kind = variant["name"].removeprefix("PJRT_Extension_Type_")
        item = items.get(f"PJRT_{kind}_Extension")
        if item is None:
            yield variant["value"], kind, [f"function_{i}" for i in range(UNKNOWN_FUNCTIONS)]
            continue
        fields = [f for f in item["fields"] if f["name"] not in ("base", "struct_size", "type", "next")]
        pointers = [f for f in fields if items.get(f["type"], {}).get("kind") == "callback"]
        if len(pointers) == len(fields):
            yield variant["value"], kind, [f["name"] for f in pointers]
        else:
            # Members that are no functions have a meaning: `extend_` and the name of the extension returns them.
            yield variant["value"], kind, []


def tables(items, minor):
    """Returns the source of the trampolines and of the tables over them."""
    parts = [f"#define HEADER_MINOR {minor}", f"#define SLOT_COUNT {len(slots(items))}"]
    for index, name in enumerate(slots(items)):
        parts.append(f"extern PJRT_Error* implement_{name}({name}_Args* arguments) __attribute__((weak));")
        parts.append(f"static const struct field fields_{name}[] = {{ {field_rows(items, name)}{{0}} }};")
        parts.append(SLOT.format(name=name, index=index))
    rows = ", ".join(f'{{"{n}", slot_{n}, fields_{n}}}' for n in slots(items))
    parts.append(f"static const struct slot slots[SLOT_COUNT] = {{ {rows} }};")
    rows = []
    for number, kind, functions in extensions(items):
        assert re.fullmatch(r"\w+", kind)
        parts += [EXTENSION_SLOT.format(kind=kind, name=f, index=i) for i, f in enumerate(functions)]
        pointers = "".join(f"extension_{kind}_{i}, " for i in range(len(functions)))
        parts.append(f"static void* (*const functions_{kind}[])(void*) = {{ {pointers}0 }};")
        parts.append(f"extern size_t extend_{kind}(void* body) __attribute__((weak));")
        rows.append(f'{{{number}, "{kind}", functions_{kind}, {len(functions)}, extend_{kind}}}')
    parts.append(f"static const struct extension extensions[] = {{ {', '.join(rows)} }};")
    parts.append(f"#define EXTENSION_COUNT {len(rows)}")
    return "\n".join(parts) + "\n"


def next_pluggable_device(snapshot):
    """Returns the declarations of the table that TensorFlow takes beside that of PJRT, and of no function of core."""
    items, _ = read_snapshot(snapshot)
    selected = {n: i for n, i in items.items() if n.startswith(("TFNPD_", "XLA_LayoutPreference")) and i["kind"] != "function"}
    opaque = "".join(f"typedef struct {name} {name};\n" for name in ("TF_Status", "TF_Tensor"))
    text = "typedef struct TF_StringView { const char* data; size_t len; } TF_StringView;\n"
    return opaque + text + declarations(selected)


def write(folders, release, folder):
    """Writes `pjrt.h`, `slots.h` and `tfnpd.h` from the snapshots of a release to the folder."""
    items, minor = read_snapshot(folders / "pjrt" / f"{release}.json")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pjrt.h").write_text(declarations(items))
    (folder / "slots.h").write_text(tables(items, minor))
    (folder / "tfnpd.h").write_text(next_pluggable_device(folders / "next_pluggable_device" / f"{release}.json"))
