"""The page of `tests/hindcast`: a table of all pairs, the reason of each decline, and how the plugins are built."""

import re

from .releases import ROOT, is_preview, minor
from .since import marked

# The allowed reasons to decline a release or a kernel, with a pattern for the plugin's line.
REASONS = {
    "required slot": re.compile("it requires [A-Za-z0-9_.]+, which the plugin does not provide"),
    "changed declaration": re.compile("its headers differ from the known ones|do not declare the known one"),
    "missing function": re.compile("is not exported by this process"),
}

# Lines with a number only: of the registered kernels, and of the ops without one.
COUNTS = re.compile(r"^plugin \S+: (registers \d+ kernels|\d+ ops? (has|have) no kernel) ")


def reason_of(line):
    """Returns the allowed reason that a plugin's line states, or None."""
    return next((reason for reason, pattern in REASONS.items() if pattern.search(line)), None)


def summarize(pairs):
    """Returns the result in one sentence."""
    verdicts = list(pairs.values())
    declined = [
        f"{verdicts.count(f'declines: {reason}')} for a {reason}"
        for reason in REASONS
        if f"declines: {reason}" in verdicts
    ]
    parts = [f"{verdicts.count('runs')} run", f"{verdicts.count('runs, CPU')} run with the variables on the CPU"]
    parts += [f"{sum(verdict.startswith('declines') for verdict in verdicts)} decline ({', '.join(declined)})"]
    parts += [f"{sum(verdict.startswith('fails') for verdict in verdicts)} fail"]
    return f"{len(verdicts)} pairs: {', '.join(parts)}."


def heading(releases):
    yield "| known up to | " + " | ".join(f"{release} (preview)" if is_preview(release) else release for release in releases) + " |"
    yield "|---" * (len(releases) + 1) + "|"


def table(names, releases, verdicts):
    yield from heading(releases)
    for name in names:
        cells = [cell(verdicts.get(release, {}).get(name, "")) for release in releases]
        yield f"| {name} | " + " | ".join(cells) + " |"


def cell(verdict):
    kind, _, reason = verdict.partition(": ")
    return f"declines: {reason.split()[-1]}" if kind == "declines" else verdict if len(verdict) < 40 else kind


def format_ranges(selected, releases):
    """Returns the selected ones of all releases as text: `2.10 to 2.18, 2.22`."""
    runs = []
    for index, release in enumerate(releases):
        if release in selected:
            if runs and runs[-1][1] == index - 1:
                runs[-1][1] = index
            else:
                runs.append([index, index])
    return ", ".join(
        releases[first] if first == last else f"{releases[first]} to {releases[last]}" for first, last in runs
    )


def line_table(names, results):
    """Yields a table of the lines that the plugins print: the plugins, the releases, and the stated reason.

    Lines that differ only in the host's release share a row."""
    every = sorted(results, key=minor)
    printed = {}
    for release in every:
        for name in filter(results[release].__contains__, names):
            for line in results[release][name]["lines"]:
                text = re.sub(rf"\bTensorFlow {re.escape(release)}\b", "TensorFlow RELEASE", line)
                printed.setdefault((name, text), []).append(release)
    grouped = {}
    for (name, text), releases in printed.items():
        grouped.setdefault((text, tuple(releases)), []).append(name)
    yield "| known up to | release | reason | line |"
    yield "|---|---|---|---|"
    for (text, releases), known in sorted(grouped.items(), key=lambda row: (minor(row[1][0]), row[0])):
        yield f"| {format_ranges(known, names)} | {format_ranges(releases, every)} | {reason_of(text) or ''} | `{text}` |"


def marked_code():
    """Yields the marked code of the sources, by release."""
    marked_lines = {}
    for crate in ("templates/sdk", "templates/cpu"):
        for source in sorted((ROOT / crate).rglob("*")):
            if source.suffix in (".rs", ".toml"):
                for release, code in marked(source.read_text()):
                    marked_lines.setdefault(release, []).append(f"`{code}` ({source.relative_to(ROOT)})")
    for release in sorted(marked_lines, key=minor):
        yield f"- before {release}:"
        yield from (f"  - {code}" for code in marked_lines[release])


def page(rows, results, verdicts, pairs, overrides, reference):
    names = list(dict.fromkeys(known for known, _ in pairs))
    losses = f" ({reference[0]:.5f} to {reference[-1]:.5f})" if reference else ""
    return "\n".join([
        "# A plugin of release N in every later release",
        "",
        "Does a plugin that was built years ago run in today's TensorFlow? `tests/hindcast` writes this page. For each",
        "release N it builds a plugin from the facts that were known when N was the newest release: layouts, signatures,",
        "exported functions, required slots. It loads each plugin into every later release, in a process of its own. There",
        "the device is listed, adds two tensors, and trains a small model.",
        "",
        summarize(pairs),
        "",
        *table(names, rows, verdicts),
        "",
        f"- **runs**: the device is listed, the sum is right, and the losses are those of all other runs to 1e-5{losses}.",
        "- **runs, CPU**: the same, with the variables on the CPU: neither the plugin nor TensorFlow has a kernel that",
        "  assigns a variable on the device. The lines below state the reason.",
        "- **declines**: TensorFlow is imported and computes, lists no such device, and the plugin prints one line with the reason.",
        "",
        "A pair may decline for one of three reasons:",
        "",
        "- required **slot**: the release requires a slot that did not exist at N;",
        "- changed **declaration**: the release's headers declare an item that the plugin needs in another way;",
        "- missing **function**: the release does not export a function that the plugin needs.",
        "",
        "A plugin reads the declarations from the release's headers, and the required slots from the messages in its",
        "libraries ([details](../../codegen/docs/unknown-releases.md)). The plugin contains no fact about a release after N.",
        "",
        "## Lines that the plugins print",
        "",
        *line_table(names, results),
        "",
        "A line that begins with ops has level debug: these ops have no kernel of the plugin, and its other kernels run. TensorFlow has its",
        "own kernel of AssignVariableOp for plugins from 2.11 on, and of AssignAddVariableOp and AssignSubVariableOp from",
        "2.15 on. A plugin of 2.5 has no kernels for variables, and prints no line about them.",
        "",
        "## With an environment variable set",
        "",
        "The same libraries in some releases. With `SP_TRUST_HEADERS=0` a plugin compares struct sizes only, and declines unknown",
        "sizes (*size*). With `SP_ASSUME_APPEND=1` it treats a longer struct as one with appended fields. With",
        "`SP_ASSUME_SAME=1` it calls a function whose signature may have changed; `TF_AssignVariable` gained a parameter in",
        "2.10. Pairs with an empty cell were not run.",
        "",
        *table(overrides, rows, verdicts),
        "",
        "## How a plugin of N is built",
        "",
        "sp-abi is generated from the snapshots and symbols up to N (`sp-gen generate --release N`). The hand-written crates",
        "are today's, without the code that is marked with a later release (`// since 2.9`):",
        "",
        *marked_code(),
        "",
        "A scaffold of 2.5 has no graph optimizer and no profiler, one of 2.6 no profiler. In a manual test, a plugin",
        "with a graph optimizer of 2.5's signature runs in 2.6 and declines that part, since 2.6 declares",
        "`TP_Optimizer.optimize_func` with another type. No other slot of these tables has changed its type.",
        "",
        "A kernel whose range of releases ends after N has no end in the plugin, since N does not show that TensorFlow gets a",
        "kernel of its own later. Two things are not cut: facts about the releases up to N that were found later, and the",
        "rules for an unknown release. The plugins are built without optimization.",
        "",
    ])
