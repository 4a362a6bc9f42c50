"""The page of `tests/hindcast`: a table of all pairs, each decline with its reason, and what the plugins are."""

import re

from .releases import ROOT, is_preview, minor
from .since import marked

# Why a plugin may decline a release, or leave a kernel to TensorFlow: by the line that it writes.
REASONS = {
    "required slot": re.compile("it requires [A-Za-z0-9_.]+, which the plugin does not provide"),
    "changed declaration": re.compile("its headers differ from the known ones|do not declare the known one"),
    "missing function": re.compile("is not exported by this process"),
}


def reason_of(line):
    """The reason that a plugin's line states; `None` if it is none of those that are allowed."""
    return next((reason for reason, pattern in REASONS.items() if pattern.search(line)), None)


def count(pairs):
    """The result in one sentence."""
    verdicts = list(pairs.values())
    declined = [f"{verdicts.count(f'declines: {it}')} for a {it}" for it in REASONS if f"declines: {it}" in verdicts]
    parts = [f"{verdicts.count('runs')} run", f"{verdicts.count('runs, CPU')} run with the variables on the CPU"]
    parts += [f"{sum(it.startswith('declines') for it in verdicts)} decline ({', '.join(declined)})"]
    parts += [f"{sum(it.startswith('fails') for it in verdicts)} fail"]
    return f"{len(verdicts)} pairs: {', '.join(parts)}."


def heading(releases):
    yield "| known up to | " + " | ".join(f"{it} (preview)" if is_preview(it) else it for it in releases) + " |"
    yield "|---" * (len(releases) + 1) + "|"


def table(names, releases, verdicts):
    yield from heading(releases)
    for name in names:
        cells = [cell(verdicts.get(release, {}).get(name, "")) for release in releases]
        yield f"| {name} | " + " | ".join(cells) + " |"


def cell(verdict):
    kind, _, reason = verdict.partition(": ")
    return f"declines: {reason.split()[-1]}" if kind == "declines" else verdict if len(verdict) < 40 else kind


def ranges(chosen, every):
    """Releases in words: `2.10 to 2.18, 2.22`."""
    runs = []
    for at, release in enumerate(every):
        if release in chosen:
            if runs and runs[-1][-1] == at - 1:
                runs[-1].append(at)
            else:
                runs.append([at])
    return ", ".join(every[it[0]] if len(it) == 1 else f"{every[it[0]]} to {every[it[-1]]}" for it in runs)


def lines(names, found):
    """Each line that the plugins write: by whom, in which releases, and the reason that it states. Lines
    that differ in the host's release only are one."""
    every = sorted(found, key=minor)
    written = {}
    for release in every:
        for name in filter(found[release].__contains__, names):
            for line in found[release][name]["lines"]:
                form = re.sub(rf"\bTensorFlow {re.escape(release)}\b", "TensorFlow RELEASE", line)
                written.setdefault((name, form), []).append(release)
    grouped = {}
    for (name, form), releases in written.items():
        grouped.setdefault((form, tuple(releases)), []).append(name)
    yield "| known up to | in | reason | line |"
    yield "|---|---|---|---|"
    for (form, releases), by in sorted(grouped.items(), key=lambda it: (minor(it[1][0]), it[0])):
        yield f"| {ranges(by, names)} | {ranges(releases, every)} | {reason_of(form) or ''} | `{form}` |"


def cuts():
    """What the markers of the sources cut, by release."""
    found = {}
    for place in ("macros/plugin", "templates/cpu"):
        for source in sorted((ROOT / place).rglob("*")):
            if source.suffix in (".rs", ".toml"):
                for release, code in marked(source.read_text()):
                    found.setdefault(release, []).append(f"`{code}` ({source.relative_to(ROOT)})")
    for release in sorted(found, key=minor):
        yield f"- before {release}:"
        yield from (f"  - {it}" for it in found[release])


def page(rows, found, verdicts, pairs, overrides, reference):
    names = list(dict.fromkeys(known for known, _ in pairs))
    losses = f" ({reference[0]:.5f} to {reference[-1]:.5f})" if reference else ""
    return "\n".join([
        "# What was known up to N, in every later release",
        "",
        "Does a plugin that was built years ago run in today's TensorFlow? `tests/hindcast` writes this page. For each",
        "release N it builds a plugin from what was known when N was the newest: layouts, signatures, exported functions,",
        "required slots. It loads each plugin into every later release, in a process of its own: the device is listed,",
        "adds two tensors, and trains the small model of the matrix.",
        "",
        count(pairs),
        "",
        *table(names, rows, verdicts),
        "",
        f"- **runs**: the device is listed, the sum is right, and the losses are those of all other runs to 1e-5{losses}.",
        "- **runs, CPU**: the same, with the variables on the CPU: neither the plugin nor TensorFlow has a kernel that",
        "  assigns a variable on the device. The lines below say why.",
        "- **declines**: TensorFlow is imported and computes, lists no such device, and one line on stderr has the reason.",
        "",
        "A pair may decline for one of three reasons:",
        "",
        "- required **slot**: the release rejects a table without a slot that was not known at N;",
        "- changed **declaration**: the release's headers declare what the plugin needs in another way;",
        "- missing **function**: the release does not export a function that the plugin needs.",
        "",
        "A plugin reads the declarations from the release's headers, and the required slots from the messages in its",
        "libraries ([how](../../codegen/docs/unknown-releases.md)). Nothing about a release after N is in the plugin.",
        "",
        "## What the plugins write",
        "",
        *lines(names, found),
        "",
        "A line that begins with ops leaves these kernels to TensorFlow; the plugin's other kernels run. TensorFlow has its",
        "own kernel of AssignVariableOp for plugins from 2.11 on, and of AssignAddVariableOp and AssignSubVariableOp from",
        "2.15 on. A plugin of 2.5 has no kernels for variables, and writes no line about them.",
        "",
        "## With an environment variable set",
        "",
        "The same files in some releases. `SP_TRUST_HEADERS=0` decides by the sizes of structs alone, and declines unknown",
        "ones (*size*). `SP_ASSUME_APPEND=1` takes a longer struct for one with fields appended. `SP_ASSUME_SAME=1` calls a",
        "function whose signature may have changed; `TF_AssignVariable` gained a parameter in 2.10. An empty cell was not",
        "tried.",
        "",
        *table(overrides, rows, verdicts),
        "",
        "## What a plugin of N is",
        "",
        "sp-abi is generated from the snapshots and symbols up to N (`sp-gen generate --release N`). The crates that are",
        "written by hand are today's without what their sources mark with a later release (`// since 2.9`):",
        "",
        *cuts(),
        "",
        "A scaffold of 2.5 has no graph optimizer and no profiler, one of 2.6 no profiler. Tried by hand: with a graph",
        "optimizer of 2.5's signature a plugin runs in 2.6 and declines that part, since `TP_Optimizer.optimize_func` is",
        "declared otherwise; it is the only slot of these tables whose type ever changed.",
        "",
        "Kernels whose range of releases ends after N have no end: that TensorFlow has a kernel of its own later was not",
        "known. Not cut is what was learnt since about the releases up to N, and how a plugin decides about a release that it",
        "does not know. The plugins are built without optimization.",
        "",
    ])
