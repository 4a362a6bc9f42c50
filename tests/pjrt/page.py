"""Writes generated/docs/pjrt-demand.md from the data."""

import data

PAGE = data.ROOT / "generated" / "docs" / "pjrt-demand.md"

INTRODUCTION = """# What hosts demand of a PJRT plugin

Which functions must my plugin have, for which release of JAX or TensorFlow, and what happens without one? `tests/pjrt-demand` has run each
release with a probe: a plugin whose slots record their calls, and can be null or fail. `tests/pjrt/page.py` writes this page from
`generated/pjrt`.

`sp-gen diff jaxlib:0.9 jaxlib:0.10` prints what changed between two releases, `sp-gen history pjrt --host jaxlib` all changes, and
`sp-gen history PJRT_Device_DefaultMemory --host jaxlib` those of a slot.

| word | meaning |
|---|---|
| required | a program of the measurement that calls the slot fails if it is null; without a note it ends the process |
| optional | the slot is called, and its programs run if it is null |
| never called | no program calls the slot, and all programs run if it is null |
| on an error | what happens if the slot returns an error of the code INTERNAL: the program gets the error, the process ends, or nothing |

A slot counts only for plugins whose table has it: a plugin that was built with an older header has a shorter table, and hosts test that.

"""

HOSTS = """## Releases

The header is that which the host was built with, as it states in its log. "Accepts" are the minor versions that a table may state; the
column of plugins lists the headers, of those in TensorFlow's wheels, with whose table all programs run.

| host | header | accepts | plugins of header | StableHLO of programs | called | required | programs that fail |
|---|---|---|---|---|---|---|---|
"""

SLOTS = """
## Slots that are called

Releases of jaxlib, {first} to {last}. The size is that of the argument struct which the host passes.

| slot | required | optional | size in bytes | on an error |
|---|---|---|---|---|
"""

TENSORFLOW = """
TensorFlow {releases} calls these slots, with a next pluggable device that compiles each op: {slots}. It calls no slot but
`PJRT_Plugin_Initialize` in {others}, where core has no function that creates a client
([next-pluggable-device.md](../../codegen/docs/next-pluggable-device.md)).
"""

EXTENSIONS = """
## Extensions

A host reads the type of each extension in the chain. These are read further.

| extension | read by jaxlib | functions that are called | without it |
|---|---|---|---|
"""


# What a host sends, by the format of its programs.
PROGRAM_FORMATS = {"mlir": lambda text: text.split()[1], "hlo": lambda _: "HLO"}


def ranges(releases, all_releases):
    """Returns releases as runs of neighbors: 0.4.30-0.6.2, 0.8.3."""
    runs = []
    for index, release in enumerate(all_releases):
        if release not in releases:
            continue
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    if runs == [[0, len(all_releases) - 1]]:
        return "all"
    texts = [all_releases[a] if a == b else f"{all_releases[a]} to {all_releases[b]}" for a, b in runs]
    return ", ".join(texts)


def by_value(demands, value):
    """Returns the runs of releases by a value of each release; releases without one are left out."""
    names = [demand["release"] for demand in demands]
    found = {}
    for demand in demands:
        if (key := value(demand)) is not None:
            found.setdefault(key, []).append(demand["release"])
    return {key: ranges(releases, names) for key, releases in found.items()}


def describe(values):
    """Returns values with their releases, or the value alone if it is that of all."""
    return ", ".join(str(key) if releases == "all" else f"{key}: {releases}" for key, releases in values.items()) or "-"


def host_row(demand):
    table, slots = demand["table"], demand["slots"].values()
    required = sum(slot["demand"] == "required" for slot in slots)
    called = required + sum(slot["demand"] == "optional" for slot in slots)
    accepts = f"{table['least_minor']} and later" if table["accepts_newer_minor"] else f"{table['least_minor']} only"
    headers = [minor for minor, outcome in sorted(table["headers"].items(), key=lambda row: int(row[0])) if outcome["outcome"] == "ok"]
    failing = [f"{p} ({o['outcome']})" for p, o in demand["programs"].items() if o["outcome"] != "ok"]
    header = demand["framework_minor"] or "not stated"
    program = PROGRAM_FORMATS.get(demand["stablehlo"]["none"].split()[0], lambda _: "no program arrives")(demand["stablehlo"]["none"])
    cells = [f"{demand['host']} {demand['release']}", header, accepts, ", ".join(headers) or "none", program, called, required]
    return row([*cells, ", ".join(failing) or "none"])


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |\n"


def null_note(demands, name):
    """Returns the releases in which a null slot gives an error, and not the end of the process."""
    errors = [d["release"] for d in demands if d["slots"][name].get("null", {}).get("outcome") == "error"]
    return f" (an error: {', '.join(errors)})" if errors else ""


def slot_row(demands, name):
    uses = by_value(demands, lambda d: d["slots"][name]["demand"])
    sizes = by_value(demands, lambda d: d["slots"][name].get("struct_size"))
    errors = by_value(demands, lambda d: d["slots"][name].get("error", {}).get("outcome"))
    words = {"error": "error", "crash": "process ends", "ignored": "nothing", "hang": "hangs"}
    errors = {words[key]: releases for key, releases in errors.items()}
    required = uses.get("required", "-") + null_note(demands, name)
    return row([f"`{name}`", required, uses.get("optional", "-"), describe(sizes), describe(errors)])


def slot_table(demands):
    names = list(demands[0]["slots"])
    called = [n for n in names if any(d["slots"][n]["demand"] != "unused" for d in demands)]
    unused = [f"`{n}`" for n in names if n not in called]
    text = SLOTS.format(first=demands[0]["release"], last=demands[-1]["release"])
    text += "".join(slot_row(demands, name) for name in called)
    return text + f"\nNo release of jaxlib calls these: {', '.join(unused)}.\n"


def extension_rows(demands):
    names = sorted({name for demand in demands for name in demand["extensions"]})
    for name in names:
        found = [d for d in demands if name in d["extensions"]]
        releases = ranges([d["release"] for d in found], [d["release"] for d in demands])
        functions = sorted({f"`{f}`" for d in found for f in d["extensions"][name]["functions"]})
        yield row([f"`{name}`", releases, ", ".join(functions) or "-", without(name, demands)])


def without(name, demands):
    required = [d["release"] for d in demands if d["extensions"].get(name, {}).get("required")]
    repairs = by_value(demands, lambda d: ", ".join(d["extensions"].get(name, {}).get("repairs", [])) or None)
    texts = [f"the process ends: {', '.join(required)}"] if required else []
    texts += [f"the program `{program}` fails: {releases}" for program, releases in repairs.items()]
    return "; ".join(texts) or "all programs run"


def function_tables(demands):
    tables = by_value(demands, lambda d: ", ".join(f"`{f}`" for f in d["function_tables"]) or None)
    if not tables:
        return ""
    lines = [f"jaxlib {releases} calls {functions}" for functions, releases in tables.items()]
    return (
        "\n## Tables in objects of the plugin\n\nNewer headers begin `PJRT_Error` and `PJRT_Memory` with a pointer to a table of "
        f"functions. {'. '.join(lines)}, if the\nplugin states a minor version whose header has it.\n"
    )


def tensorflow_part(demands):
    if not demands:
        return ""
    calling = [d for d in demands if sum(s["demand"] != "unused" for s in d["slots"].values()) > 1]
    others = [d["release"] for d in demands if d not in calling]
    slots = sorted({f"`{n}`" for d in calling for n, s in d["slots"].items() if s["demand"] != "unused"})
    releases = ", ".join(d["release"] for d in calling)
    return TENSORFLOW.format(releases=releases, slots=", ".join(slots), others=", ".join(others) or "no release")


def text():
    jaxlib, tensorflow = data.read_all("jaxlib"), data.read_all("tensorflow")
    parts = [INTRODUCTION, HOSTS, *map(host_row, [*jaxlib, *tensorflow]), slot_table(jaxlib), tensorflow_part(tensorflow)]
    return "".join([*parts, EXTENSIONS, *extension_rows(jaxlib), function_tables(jaxlib)])


def write():
    PAGE.write_text(text())
