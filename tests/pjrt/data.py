"""The measured data: a file for each release of a host, and its comparison with a new measurement."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "generated" / "pjrt"


def path_of(host, release):
    return FOLDER / host / f"{release}.json"


def format_rows(value, indent=""):
    """Returns JSON with one line for each row of a table, so that a difference names the row."""
    rows = []
    for key, entry in value.items():
        nested = isinstance(entry, dict) and any(isinstance(v, dict) for v in entry.values()) and not indent
        text = format_rows(entry, " ") if nested else json.dumps(entry, sort_keys=True)
        rows.append(f"{indent}{json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(rows) + f"\n{indent}}}"


def write(data):
    path = path_of(data["host"], data["release"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(format_rows(data) + "\n")


def read(host, release):
    return json.loads(path_of(host, release).read_text())


def order(release):
    """Returns the key by which a preview precedes its release."""
    final, _, preview = release.partition("rc")
    return [int(part) for part in final.split(".")], not preview, preview


def read_all(host):
    """Returns the data of all releases of a host, the oldest first."""
    releases = [p.stem for p in (FOLDER / host).glob("*.json")]
    releases.sort(key=order)
    return [read(host, release) for release in releases]


def differences(committed, measured):
    """Returns a line for each part of a new measurement that is not as in the committed data."""
    lines = []
    for part in ("base", "framework_minor", "stablehlo", "table", "extensions", "function_tables"):
        if part in measured and measured[part] != committed[part]:
            lines.append(f"{part}: {committed[part]} is now {measured[part]}")
    for name, entry in measured["slots"].items():
        old = committed["slots"].get(name, {})
        for key in ("demand", "struct_size"):
            if entry.get(key) != old.get(key):
                lines.append(f"{name}: {key} {old.get(key)} is now {entry.get(key)}")
        if entry.get("null", {}).get("outcome") != old.get("null", {}).get("outcome"):
            lines.append(f"{name}: null gives {old.get('null')}, and now {entry.get('null')}")
    return lines
