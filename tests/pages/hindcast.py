"""For each release N from 2.8 on, a plugin made of what was known up to N, in every release after N:
`tests/hindcast`.

What is known is cut at N (`sp-gen generate --release N`), and what was written by hand later is taken
out. Each release's first steps are a child process's: the device listed, an add, a small model
trained. Writes generated/docs/hindcast.md; exits 1 if any run neither ran nor declined.
With --in-host nothing is installed: `sp-gen verify` plays the later releases.
"""

import hashlib
import json
import os
import re
import signal

from .process import json_lines, must, run
from .releases import DOCS, MADE, SUITE, minor, releases
from .scaffold import LIBRARY, build, scaffold, sp_gen

FIRST = "2.8"
DEVICE = "MYACCEL"
# What the crates that are written by hand say today and could not have said before a release: the
# release, what it brought, the file, what that says, what it says of before.
LATER = [
    ("2.9", "`SP_Platform.force_memory_growth`",
     "sp-plugin/src/platform.rs", "platform.set(SP_Platform::force_memory_growth, grow.into());", ""),
    ("2.10", "the shape flag of `TF_AssignVariable`",
     "sp-plugin/src/kernel/variable.rs", "validate_shape,\n                    Some(copy)", "Some(copy)"),
    ("2.10", "`const` in `TF_NewFunctionLibraryDefinition`",
     "sp-plugin/src/graph/functions.rs", "new(graph, status.as_ptr())", "new(graph.cast_mut(), status.as_ptr())"),
    ("2.10", "`TP_OptimizerConfigs.auto_mixed_precision_onednn_bfloat16`",
     "sp-plugin/src/optimizer/pass.rs", "/// The same for oneDNN and bfloat16; from 2.10 on.\n    AutoMixedPrecisionOnednnBfloat16 = auto_mixed_precision_onednn_bfloat16,", ""),
    ("2.12", "`TF_GetDeviceId`",
     "sp-plugin/src/kernel/call.rs", "TF_AllocateOutput, TF_GetDeviceId,", "TF_AllocateOutput,"),
    ("2.12", "`TF_GetDeviceId`",
     "sp-plugin/src/kernel/call.rs", "Ok(unsafe { TF_GetDeviceId.get()?(self.context) })", "Ok(0)"),
]
# How each kernel says for which releases it is: that there is an end is known from the release after.
RELEASES = re.compile(r'releases = "([0-9.]+)\.\.([0-9]+\.[0-9]+)"')
# Plugins that are told to trust what they cannot know: that a longer struct was only appended to, that
# an experimental function is still what it was.
TRUSTING = [("2.8", "SP_ASSUME_APPEND"), ("2.9", "SP_ASSUME_SAME")]


def known_at(release, path, text):
    """A file of the carried crates as it would have been when `release` was the newest."""
    for since, _, file, now, then in LATER:
        if file == path and minor(release) < minor(since):
            if text.count(now) != 1:
                raise RuntimeError(f"{path} does not say once {now!r}")
            text = text.replace(now, then)
    ended = lambda found: minor(found[2]) < minor(release)
    return RELEASES.sub(lambda it: it[0] if ended(it) else f'releases = "{it[1]}.."', text)


class Plugins:
    """The plugins, each built when it is first asked for."""

    def __init__(self, names):
        self.tool = sp_gen()
        self.folder, self.target = scaffold("hindcast")
        self.vendor = self.folder / "vendor"
        sources = [*self.vendor.glob("sp-plugin/src/**/*.rs"), *self.vendor.glob("sp-cpu/src/kernels/*.rs")]
        self.texts = {str(path.relative_to(self.vendor)): path.read_text() for path in sources}
        self.libraries = {name: self.make(name) for name in names}

    def make(self, release):
        must([self.tool, "generate", "--release", release, "--out", self.vendor / "sp-abi"], cwd=self.folder)
        for path, text in self.texts.items():
            place, then = self.vendor / path, known_at(release, path, text)
            if place.read_text() != then:
                place.write_text(then)
        library = build(self.folder, self.target, "dev", CARGO_PROFILE_DEV_DEBUG="0")
        print(f"plugin of {release}: {library.stat().st_size} bytes", flush=True)
        return library


def ended(done, steps):
    """How a process went down, and after which step."""
    before = ["loading", "the add", "training"][min(len(steps), 2)]
    if done.returncode < 0:
        return f"{signal.Signals(-done.returncode).name} in {before}"
    last = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return f"{before}: {last[-1][:200] if last else 'nothing said'}"


def first_steps(python, library, environment, more):
    """What one plugin does in one release."""
    with environment.plugin(library, LIBRARY):
        done = run([python, SUITE / "first_steps.py", DEVICE], env={**os.environ, **more}, timeout=180)
    steps = json_lines(done.stdout)
    found = {name: value for step in steps for name, value in step.items()}
    found["said"] = [line for line in done.stderr.splitlines() if line.startswith("plugin:")]
    if done.returncode:
        found["problem"] = ended(done, steps)
    return found


def verdict(found, reference):
    """`runs`, `runs, CPU` where the variables are there, `declines`, or how it fails."""
    if "problem" in found:
        return f"fails: {found['problem']}"
    if not found["devices"]:
        return "declines" if len(found["said"]) == 1 else f"fails: no device, and {len(found['said'])} lines say why"
    if max(abs(a - b) for a, b in zip(found["loss"], reference)) > 1e-5:
        return "fails: other losses"
    return "runs" if DEVICE in found["variables"] else "runs, CPU"


class Hindcast:
    name = "hindcast"
    page = DOCS / "hindcast.md"

    def options(self, words):
        words.add_argument("--known", nargs="*", metavar="N", help="only the plugins of these")
        words.add_argument("--in-host", action="store_true", help="let `sp-gen verify` play the later releases")

    def prepare(self, chosen):
        every = [it for it in releases() if minor(it) >= minor(FIRST)]
        self.known = getattr(chosen, "known", None) or every[:-1]
        self.plugins = Plugins(self.known)
        if getattr(chosen, "in_host", False):
            return self.in_host()

    def in_host(self):
        """Every later release, as sp-host plays it; exits as a check does."""
        worst = 0
        for known, library in self.plugins.libraries.items():
            for release in (it for it in releases() if minor(it) > minor(known)):
                done = run([self.plugins.tool, "verify", library, "--release", release, "--format", "json"])
                rows = json.loads(done.stdout)["rows"] if done.returncode in (0, 1) else []
                failed = [f"{it['check']}: {it['detail']}" for it in rows if it["status"] == "fail"]
                passed = sum(it["status"] == "pass" for it in rows)
                print(f"{known} in {release}: {passed} passed", *failed, done.stderr[:500] if not rows else "")
                worst = max(worst, done.returncode)
        return worst

    def players(self, release):
        """Who plays in a release: name, library, environment variables."""
        for known, library in self.plugins.libraries.items():
            if minor(known) < minor(release):
                yield known, library, {}
        for known, trust in TRUSTING:
            if known in self.known and minor(known) < minor(release):
                yield f"{known} {trust}=1", self.plugins.libraries[known], {trust: "1"}

    def wants(self, release):
        return any(self.players(release))

    def digest(self, release):
        parts = [f"{name} {hashlib.sha256(library.read_bytes()).hexdigest()}" for name, library, _ in self.players(release)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def play(self, environment):
        row = {}
        for name, library, more in self.players(environment.release):
            row[name] = first_steps(environment.python, library, environment, more)
        return row

    def write(self, rows):
        found = {release: row for release, row in rows.items() if "problem" not in row and "skipped" not in row}
        reference = next((it["loss"] for row in found.values() for it in row.values() if "loss" in it), [])
        verdicts = {
            release: {name: verdict(it, reference) for name, it in row.items()} for release, row in found.items()
        }
        plain = [it for row in verdicts.values() for name, it in row.items() if name in self.known]
        expected = sum(
            minor(known) < minor(release) for release, row in rows.items() if "skipped" not in row for known in self.known
        )
        good = sum(not it.startswith("fails") for it in plain)
        lines = page(rows, self.known, found, verdicts, reference)
        count = f"{good} of {expected} run or decline: {sum(it.startswith('runs') for it in plain)} run, {plain.count('declines')} decline."
        self.page.parent.mkdir(parents=True, exist_ok=True)
        self.page.write_text("\n".join(lines).replace("COUNT", count) + "\n")
        return good == expected


def table(names, rows, verdicts):
    yield "| known up to | " + " | ".join(rows) + " |"
    yield "|---" * (len(rows) + 1) + "|"
    for name in names:
        cells = [verdicts.get(release, {}).get(name, "") for release in rows]
        cells = [cell if len(cell) < 32 else cell.split(":")[0] for cell in cells]
        yield f"| {name} | " + " | ".join(cells) + " |"


def told(names, found):
    """What each plugin says in the first release after its own, once for all that differs in numbers."""
    seen = set()
    for name in names:
        first = next((row[name] for row in found.values() if name in row), {"said": []})
        lines = first["said"] + ([first["problem"]] if "problem" in first else [])
        for line in lines:
            form = re.sub("[0-9.]+", "", line)
            if form not in seen:
                yield f"- {name}: `{line}`"
            seen.add(form)


def page(rows, known, found, verdicts, reference):
    trusting = [f"{name} {trust}=1" for name, trust in TRUSTING]
    later = dict.fromkeys((since, what) for since, what, *_ in LATER)
    return [
        "# What was known up to N, in every release after N",
        "",
        "Written by `tests/hindcast`. For each N a plugin is made of what was known when N was the newest release:",
        "layouts, signatures, who exports what. It is loaded into every real release after N, and each time its",
        "device is listed, adds, and trains the small model of the matrix, in a process of its own.",
        "",
        "COUNT",
        "",
        *table(known, rows, verdicts),
        "",
        "- **runs**: the device is there, the sum is right, and the losses are those of all other runs to 1e-5"
        + (f" ({reference[0]:.5f} to {reference[-1]:.5f})." if reference else "."),
        "- **runs, CPU**: the same, with the variables on the CPU. The plugin's kernels for variables call",
        "  experimental functions, which it does not call in a release that it does not know, and core has none of its",
        "  own for a plugin's device before 2.15. The model asks whether a variable can be changed there, and puts it",
        "  on the CPU where not.",
        "- **declines**: TensorFlow is imported and works, has no such device, and one line on stderr says why.",
        "",
        "## What they say",
        "",
        "In the first release after their own, where it is another thing than what those before say:",
        "",
        *told(known, found),
        "",
        "## What trust would have cost",
        "",
        "The same files, told to trust what they cannot know: that a longer struct was only appended to, or that an",
        "experimental function still takes the arguments that it took. The first holds from 2.8 on and did not hold",
        "from 2.6 to 2.7; the second ended at 2.10, when `TF_AssignVariable` grew an argument.",
        "",
        *table(trusting, rows, verdicts),
        "",
        "From 2.19 on `tensorflow-cpu` exports no such function; that it dies in no release between is luck.",
        "",
        "## What was different before this page",
        "",
        "- A plugin that declined ended the process. Core asks a platform for its tables also where it has no devices,",
        "  and aborts where a status says no or a slot is null (`RegisterPluggableDevicePlugin` is not OK, seen in 2.12",
        "  and 2.21). Now every slot of the tables is filled, and none of them is ever called.",
        "- A plugin of 2.9 with kernels of its own for variables passed a status where core took a function, and died",
        "  or happened not to, as in the table of trust.",
        "- Those of 2.8 to 2.18 would have kept such kernels in 2.19 and 2.20, whose `tensorflow-cpu` has no means for",
        "  them, in place of core's. Now a kernel names the functions that it needs.",
        "",
        "## Older than plugins",
        "",
        "Run by hand in the real 2.4.4, which opens what lies in `tensorflow-plugins` and asks nothing of it: it lists",
        "no device and works. With its `SE_InitPlugin` called all the same, a plugin fills in nothing, and one line",
        "says `no devices for TensorFlow 2.4: plugins are loaded from TensorFlow 2.5 on`.",
        "",
        "## What of it is today's",
        "",
        "sp-abi is generated of the snapshots and symbols up to N. The crates that are written by hand are",
        "today's, without what they could not have said:",
        "",
        *(f"- before {since}: {what}" for since, what in later),
        "- that core has a kernel of its own from some release after N on, so that the plugin's is for no more",
        "",
        "Still in them are what was learnt since of the releases up to N, the names of the libraries that export",
        "functions, which were others before 2.12, and the rules by which they decline. The plugins of this page are",
        "built without optimization.",
    ]
