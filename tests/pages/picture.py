"""Draws the README's picture from sp-gen's own output: `picture.py SP_GEN OUTPUT.svg`.

The end of `SP_StreamExecutor` in each layout version (`sp-gen history`), the effects of the step from 2.6 to 2.7
(`sp-gen diff`), and the releases of `generated/docs/matrix.md`.
"""

import html
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
STRUCT = "SP_StreamExecutor"
WIDTH, ROW, TOP, LEFT, COLUMN = 880, 26, 92, 74, 258
FIRST_OFFSET = 240
COLORS = {"same": "#eaeef2", "inserted": "#ffc1ba", "moved": "#ffdf9e", "appended": "#b7e6c1", "outside": "url(#outside)"}


def run(sp_gen, *arguments):
    # `diff` exits with 1 if there are findings.
    done = subprocess.run([sp_gen, *arguments, "--format", "json"], capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def layouts(history):
    """Returns (releases, size, {offset: member}) of each layout from 2.5 on, an appended member in a column of its own."""
    found = []
    for epoch in history["items"][STRUCT]["epochs"]:
        releases = [release for release in epoch["releases"] if release != "2.4"]
        fields = {field["offset"]: field["name"] for field in epoch["fields"]}
        found.append((releases, epoch["struct_size"], fields))
    return found


def kind(offset, name, fields, before):
    """Compares a member with the layout before it. New members are appended only if no older one moved."""
    if before is None or before.get(offset) == name:
        return "same"
    if name in before.values():
        return "moved"
    moved = any(before.get(at) != member and member in before.values() for at, member in fields.items())
    return "inserted" if moved else "appended"


def text(x, y, words, size=13, weight="normal", fill="#1f2328", anchor="start", family="ui-monospace, Menlo, Consolas, monospace"):
    return (
        f'<text x="{x}" y="{y}" font-family="{family}" font-size="{size}" font-weight="{weight}" fill="{fill}" '
        f'text-anchor="{anchor}">{html.escape(words)}</text>'
    )


def sans(x, y, words, **options):
    return text(x, y, words, family="-apple-system, Segoe UI, Helvetica, Arial, sans-serif", **options)


def span(releases):
    return releases[0] if len(releases) == 1 else f"{releases[0]} to {releases[-1]}"


def table(columns):
    last = max(max(fields) for _, _, fields in columns)
    rows = range(FIRST_OFFSET, last + 8, 8)
    parts = [text(LEFT - 12, TOP + ROW * i + 17, str(offset), size=12, fill="#59636e", anchor="end") for i, offset in enumerate(rows)]
    before = None
    for number, (releases, size, fields) in enumerate(columns):
        x = LEFT + number * (COLUMN + 6)
        parts.append(sans(x, TOP - 12, f"{span(releases)}: {size} bytes", weight="600"))
        for i, offset in enumerate(rows):
            name = fields.get(offset, "")
            color = COLORS["outside"] if not name else COLORS[kind(offset, name, fields, before)]
            parts.append(f'<rect x="{x}" y="{TOP + ROW * i}" width="{COLUMN}" height="{ROW - 2}" rx="3" fill="{color}"/>')
            parts.append(text(x + 10, TOP + ROW * i + 17, name))
        before = fields
    return parts, TOP + ROW * len(rows)


def effects(diff, y):
    finding = next(found for found in diff["findings"] if found["rule"] == "field_inserted")
    parts = []
    for built, run_on, key in [("2.7", "2.6", "new_on_old"), ("2.6", "2.7", "old_on_new")]:
        effect = finding["directions"][key]
        parts.append(sans(LEFT, y, f"A plugin built for {built}, loaded by {run_on}, {effect['outcome']}:", weight="600"))
        parts.append(sans(LEFT, y + 19, effect["why"] + "."))
        y += 48
    return parts, y


def matrix(y):
    """A square for each release that the page lists, with the plugin built by sp-gen."""
    page = (ROOT / "generated/docs/matrix.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+\.\d+)[^|]*\|[^|]*\| (\w+) \| (\d+) passed([^|]*)\|", page, re.M)
    parts = [sans(LEFT, y, "One file, built once by sp-gen: device listed, ops tested, a model trained in", weight="600")]
    for number, (release, device, _, rest) in enumerate(rows):
        x = LEFT + number * 44
        passed = device == "listed" and "failed" not in rest
        parts.append(f'<rect x="{x}" y="{y + 12}" width="40" height="24" rx="3" fill="{"#b7e6c1" if passed else "#ffc1ba"}"/>')
        parts.append(text(x + 20, y + 28, release, size=12, anchor="middle"))
    return parts, y + 52


def draw(history, diff):
    cells, y = table(layouts(history))
    words, y = effects(diff, y + 28)
    squares, height = matrix(y + 8)
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{STRUCT} changed between TensorFlow 2.6 and 2.7">',
        '<defs><pattern id="outside" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<rect width="8" height="8" fill="#fff"/><rect width="3" height="8" fill="#e3e6ea"/></pattern></defs>',
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#fff" stroke="#d1d9e0"/>',
        sans(24, 34, f"The end of {STRUCT}, the table of functions that a device plugin fills", size=16, weight="600"),
        sans(24, 56, "Byte offsets on x86-64. Red: inserted. Yellow: moved. Green: appended. Hatched: not part of the host's struct.", fill="#59636e"),
    ]
    return "\n".join([*head, *cells, *words, *squares, "</svg>", ""])


def main():
    sp_gen, output = sys.argv[1:]
    history = run(sp_gen, "history", STRUCT)
    diff = run(sp_gen, "diff", "2.6", "2.7", "--api", "stream_executor")
    Path(output).write_text(draw(history, diff), encoding="utf-8")


if __name__ == "__main__":
    main()
