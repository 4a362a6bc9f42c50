"""Measures what a host demands of a PJRT plugin, and returns it as data.

Each experiment changes one setting of the probe, and compares the outcomes of programs with those of the base run.
"""

import re

# The programs of each host that are run for every setting of the table.
BASIC = {"jaxlib": ["devices", "put_and_get", "jit_add"], "tensorflow": ["devices", "constant", "copies", "eager_op"]}
# Programs that use extensions; the last one may end the process.
EXTENDED = ["device_details", "ahead_of_time", "executable_details", "several_devices", "profile"]
OK = {"outcome": "ok"}
INTERNAL = 13
# After that many programs that differ from the base run a slot is judged.
FAILURES = 2


def fails(outcomes, base):
    """Returns the first program whose outcome is not that of the base run, with the outcome."""
    for program, outcome in outcomes.items():
        if outcome["outcome"] != "ok" and outcome["outcome"] != base.get(program, OK)["outcome"]:
            return {**outcome, "program": program}
    return None


def worst(outcomes, base):
    """Returns the worst outcome: a process that ends is worse than an error."""
    differing = {p: o for p, o in outcomes.items() if fails({p: o}, base)}
    for kind in ("crash", "hang"):
        for program, outcome in differing.items():
            if outcome["outcome"] == kind:
                return {**outcome, "program": program}
    return fails(differing, base)


def choose_base(host, snapshots):
    """Sets the settings under which the basic programs run: the newest table without extensions, if there are such."""
    newest, stated = max(snapshots), framework_minor(host)
    # A host may accept its own minor version only, which no snapshot need have.
    minors = [newest, *([stated] if stated and stated < newest else []), *sorted(snapshots)[:-1]]
    attempts = [{"minor": minor, **extensions} for extensions in ({}, {"extensions": 4}) for minor in minors]
    most = 0
    for settings in attempts:
        answer = host.run(settings, host.basic)
        succeeded = sum(answer.outcomes.get(p) == OK for p in host.basic)
        if succeeded > most:
            most, host.base = succeeded, settings
        if succeeded == len(host.basic):
            return
    if not most:
        raise RuntimeError(f"no table of the probe is accepted: {fails(answer.outcomes, {})}")


def run_all(host, settings=None):
    """Runs all programs. A program that ends the process is recorded, and those after it are run in another one."""
    outcomes, calls, records, programs = {}, [], [], host.programs
    while True:
        answer = host.run(settings or {}, programs)
        outcomes.update(answer.outcomes)
        calls += answer.calls()
        records += answer.records
        if answer.end == "exit 0":
            return outcomes, calls, records
        ended = next(p for p, o in answer.outcomes.items() if o["outcome"] in ("crash", "hang"))
        if ended not in programs:
            return outcomes, calls, records
        programs = programs[programs.index(ended) + 1 :]
        if not programs:
            return outcomes, calls, records


def summarize_calls(calls):
    """Returns for each slot its programs, the sizes of its argument struct and the fields that were set."""
    slots = {}
    for program, slot, size, fields in calls:
        entry = slots.setdefault(slot, {"programs": [], "struct_size": size, "fields": set()})
        if program not in entry["programs"]:
            entry["programs"].append(program)
        entry["fields"].update(fields)
        entry["struct_size"] = max(size, entry["struct_size"])
    return slots


def runnable(host, programs, outcomes):
    """Returns the programs that succeed in the base run, at least one."""
    return [p for p in programs if outcomes.get(p, {}).get("outcome") == "ok"] or host.basic[:1]


def judge_slot(host, name, entry, base, short):
    """Adds to a slot that was called what happens if it is null, and if it fails."""
    programs = runnable(host, entry["programs"], base)
    null = worst(host.run({"null": name}, programs, failures=FAILURES).outcomes, base)
    entry["demand"] = "required" if null else "optional"
    if null:
        entry["null"] = null
    if not short:
        failure = worst(host.run({"fail": f"{name}:{INTERNAL}"}, programs[:4], failures=1).outcomes, base)
        entry["error"] = failure or {"outcome": "ignored"}
    entry["fields"] = sorted(entry["fields"])


def judge_unused(host, names, base):
    """Returns the slots that were never called and are demanded all the same, with what happens if one is null."""
    programs = runnable(host, host.programs, base)
    if not worst(host.run({"null": ",".join(names)}, programs).outcomes, base):
        return {}
    found = {name: worst(host.run({"null": name}, programs, failures=FAILURES).outcomes, base) for name in names}
    return {name: outcome for name, outcome in found.items() if outcome}


def least(low, high, accepts):
    """Returns the least number from `low` to `high` that is accepted, if `high` is."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if accepts(middle) else (middle + 1, high)
    return high


def judge_table(host, snapshots, slots, base):
    """Returns the least struct_size and minor that the host accepts, and the outcome of a plugin of each header."""
    slot_count, header = snapshots[max(snapshots)], 40

    def accepts(settings):
        return not worst(host.run(settings, host.basic).outcomes, base)

    def of_header(minor):
        settings = {"minor": minor, "slots": snapshots[minor], "vtables": int(minor == max(snapshots))}
        answer = host.run(settings, runnable(host, host.programs, base))
        beyond = sorted({slots[int(w[1])] for w in answer.words("read") if w[0] == "PJRT_Api" and int(w[1]) < len(slots)})
        result = dict(worst(answer.outcomes, base) or OK)
        if beyond:
            result["reads_beyond"] = beyond
        if any(w[0] == "vtable" for w in answer.words("read")):
            result["reads_function_tables"] = True
        return result

    return {
        "least_struct_size": 8 * least(0, header // 8 + slot_count, lambda units: accepts({"struct_size": 8 * units})),
        "least_minor": least(0, host.base["minor"], lambda minor: accepts({"minor": minor})),
        "accepts_newer_minor": accepts({"minor": 10000}),
        "headers": {str(minor): of_header(minor) for minor in sorted(snapshots)},
    }


def judge_extensions(host, extensions, base):
    """Returns for each extension that the host reads the functions that it calls, and what happens with the probe's."""
    programs = [*host.basic, *(p for p in EXTENDED if p in host.programs)]
    always = str(host.base.get("extensions", ""))
    found = {}
    for number, name in extensions.items():
        chain = ",".join(sorted({str(number), *filter(None, [always])}))
        answer = host.run({"extensions": chain}, programs)
        calls = {words[0] for words in answer.words("extension-call")}
        read = any(words[0] == name for words in answer.words("read"))
        if not read and not any(call.startswith(name + ".") for call in calls):
            continue
        entry = {"functions": sorted(call.partition(".")[2] for call in calls if call.startswith(name + "."))}
        if str(number) == always:
            entry["required"] = True
        elif failed := worst(answer.outcomes, base):
            entry["unimplemented"] = failed
        if repaired := [p for p in programs if base.get(p, OK) != OK and answer.outcomes.get(p) == OK]:
            entry["repairs"] = repaired
        found[name] = entry
    return found


def stablehlo_versions(host):
    """Returns the versions in which programs arrive, by the version that the plugin's attribute states."""
    found = {}
    for stated in ["none", "1.0.0", "1.5.0", "99.0.0"]:
        settings = {} if stated == "none" else {"attributes": f"stablehlo={stated}"}
        answer = host.run(settings, host.basic)
        versions = sorted({" ".join(words) for words in answer.words("program")})
        found[stated] = versions[0] if versions else (fails(answer.outcomes, {}) or {"message": "no program"})["message"]
    return found


def next_pluggable_device(host, records):
    """Returns what TensorFlow does with the table of its next pluggable device."""
    words = [record.split() for record in records]
    return {
        "functions": sorted({w[1] for w in words if w[0] == "tfnpd"}),
        "core_exports": sorted({w[1] for w in words if w[0] == "core-exports"} - {"none"}),
        "without_on_demand_compilation": run_all(host, {"on_demand": 0})[0],
        "unknown_compilation_device": fails(host.run({"compilation_device": "XLA_PROBE_JIT"}, host.basic).outcomes, {}),
    }


def framework_minor(host):
    """Returns the minor version of the header that the host was built with, if it states one in an error or in its log."""
    for settings in ({}, {"minor": 1}):
        answer = host.run(settings, host.basic[:1])
        text = answer.stderr + " ".join(o.get("message", "") for o in answer.outcomes.values())
        if match := re.search(r"framework PJRT API version (?:is )?0\.(\d+)", text):
            return int(match[1])
    return None


def measure(host, snapshots, slots, extensions, short=False):
    """Returns the demand of a host. `snapshots` has the number of slots by minor version."""
    host.basic = BASIC["tensorflow" if "tensorflow" in host.versions else "jaxlib"]
    choose_base(host, snapshots)
    base, calls, records = run_all(host)
    called = summarize_calls(calls)
    for name, entry in called.items():
        judge_slot(host, name, entry, base, short)
        entry["programs"] = [p for p in ["register", *host.programs, "exit"] if p in entry["programs"]]
    unused = judge_unused(host, [s for s in slots if s not in called], base)
    for name, outcome in unused.items():
        called[name] = {"demand": "required", "programs": [], "null": outcome}
    demand = {
        "base": host.base,
        "framework_minor": framework_minor(host),
        "programs": {p: base[p] for p in [*host.programs, "exit"] if p in base},
        "stablehlo": stablehlo_versions(host),
        "function_tables": sorted({record.split()[1] for record in records if record.startswith("vtable ")}),
    }
    if "tensorflow" in host.versions:
        demand["next_pluggable_device"] = next_pluggable_device(host, records)
    if not short:
        demand["table"] = judge_table(host, snapshots, slots, base)
        demand["extensions"] = judge_extensions(host, extensions, base)
    return {**demand, "slots": {name: called.get(name, {"demand": "unused"}) for name in slots}}
