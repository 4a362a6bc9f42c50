"""Writes the page of a run on a GPU."""

# Bytes a second of a lane, by the generation of the link.
LANE_RATES = {"3": 0.985e9, "4": 1.969e9, "5": 3.938e9, "6": 7.563e9}


def write(report):
    """Returns the page in Markdown."""
    parts = {part["name"]: part for part in report["parts"]}
    lines = ["# A run on a GPU", "", "Written by `tests/gpu/run`.", "", *machine_lines(report, parts), ""]
    lines += ["| part | result | seconds | |", "|---|---|---|---|"]
    lines += [f"| {it['name']}: {it['description']} | {it['status']} | {it['seconds']} | {detail(it)} |" for it in report["parts"]]
    rows = measurements(report, parts)
    if rows:
        lines += ["", "## Speed", "", "Floats of 32 bits. The limit is that of the link for copies, and of the memory for others.", ""]
        lines += ["| | OpenCL plugin | PyTorch | limit |", "|---|---|---|---|", *rows]
    return "\n".join(lines) + "\n"


def machine_lines(report, parts):
    facts, gpu, pack = report["machine"], report["machine"]["gpu"], report["pack"]
    lines = [f"- OpenCL: {parts['device']['facts'].get('summary', 'no device')}, by {facts['opencl_library'] or 'no library'}"]
    if gpu:
        lines.append(f"- GPU: {gpu['name']}, driver {gpu['driver_version']}, {gpu['memory.total']} MiB")
        lines.append(f"- link: PCI Express {gpu['pcie.link.gen.max']}, {gpu['pcie.link.width.max']} lanes")
    return [
        *lines,
        f"- glibc {facts['glibc']}, {facts['cores']} cores",
        f"- sp-gen: commit {pack['commit'][:12]}, CUDA headers {pack['cuda']}",
    ]


def detail(part):
    """Returns the reason or the summary of a part, in one line."""
    facts = part["facts"]
    words = [part["reason"]]
    if "passed" in facts:
        words.append(f"{facts['passed']} passed, {facts['skipped']} skipped")
    words.append(facts.get("summary", ""))
    return "; ".join(filter(None, words)).replace("|", "\\|").replace("\n", " ")


def measurements(report, parts):
    """Returns a row for each measurement: of the plugin, of PyTorch, and the limit."""
    ours, theirs = ({it["name"]: it for it in parts[name]["facts"].get("measurements", [])} for name in ("bench", "torch_bench"))
    names = list(dict.fromkeys([*ours, *theirs]))
    memory = parts["cuda"]["facts"].get("memory_rate")
    return [
        f"| {name} | {rate(ours.get(name))} | {rate(theirs.get(name))} | {limit(name, ours.get(name) or theirs[name], report, memory)} |"
        for name in names
    ]


def rate(measurement):
    """Returns what a measurement means: bytes or operations a second."""
    if not measurement:
        return ""
    if measurement["seconds"] <= 0:
        return "too short to measure"
    value, unit = (measurement["bytes"], "GB/s") if measurement["bytes"] else (measurement["operations"], "GFLOP/s")
    return f"{value / measurement['seconds'] / 1e9:.1f} {unit}"


def limit(name, measurement, report, memory):
    if not measurement["bytes"]:
        return ""
    if name.startswith(("copy to device", "copy to host")):
        gpu = report["machine"]["gpu"]
        lane = LANE_RATES.get(gpu.get("pcie.link.gen.max", ""))
        width = gpu.get("pcie.link.width.max", "")
        return f"{lane * int(width) / 1e9:.1f} GB/s" if lane and width.isdigit() else ""
    return f"{memory / 1e9:.1f} GB/s" if memory else ""
