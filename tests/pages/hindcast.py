"""For each release N from 2.5 on, a plugin of what was known at N, in every release after N:
`tests/hindcast`.

sp-abi is generated without what came after N (`sp-gen generate --release N`), and of the crates that are
written by hand what is marked with a later release is cut (pages/since.py). In each release the device
is listed, adds and trains a small model, for each plugin in a process of its own. Writes
generated/docs/hindcast.md; exits 1 if a pair neither ran nor declined for an allowed reason.
With --in-host nothing is installed: `sp-gen verify` plays the later releases.
"""

import hashlib
import json
import shutil
import signal

from . import hindcast_page
from .hindcast_page import reason_of
from .process import json_lines, must, run
from .releases import DOCS, MADE, SUITE, minor, releases
from .scaffold import build, make_older, sp_gen

FIRST = "2.5"
DEVICE = "MYACCEL"
# The parts of a scaffold whose C API came with a later release than the device's.
PARTS = {"optimizer": "2.6", "profiler": "2.7"}
# The same plugins with an environment variable set, in these releases.
OVERRIDES = [
    ("2.8", "SP_TRUST_HEADERS=0", ["2.9", "2.12", "2.21"]),
    ("2.12", "SP_TRUST_HEADERS=0", ["2.13", "2.21", "2.22"]),
    ("2.21", "SP_TRUST_HEADERS=0", ["2.22"]),
    ("2.8", "SP_ASSUME_APPEND=1", ["2.9", "2.12", "2.21", "2.22"]),
    ("2.9", "SP_ASSUME_SAME=1", ["2.10", "2.11", "2.12", "2.13", "2.21", "2.22"]),
]
class Plugins:
    """One plugin for each release: what was known there."""

    def __init__(self, names):
        self.tool = sp_gen()
        self.folder, self.target = MADE / "hindcast", MADE / "hindcast.target"
        self.without = None
        self.libraries = {name: self.make(name) for name in sorted(names, key=minor)}

    def make(self, release):
        self.scaffold(",".join(part for part, since in PARTS.items() if minor(release) < minor(since)))
        make_older(self.tool, self.folder, release)
        library = build(self.folder, self.target, "dev", CARGO_PROFILE_DEV_DEBUG="0")
        print(f"plugin of {release}: {library.stat().st_size} bytes", flush=True)
        return library

    def scaffold(self, without):
        if self.without == without:
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        parts = ["--without", without] if without else []
        must([self.tool, "new", "myaccel", "--path", self.folder, *parts])
        self.without = without


def ended(done, steps):
    """How a process ended, and after which step."""
    before = ["loading", "the add", "training"][min(len(steps), 2)]
    if done["status"] < 0:
        return f"{signal.Signals(-done['status']).name} in {before}"
    last = [line for line in (done["stdout"] + done["stderr"]).splitlines() if line.strip()]
    return f"{before}: {last[-1][:200] if last else 'no output'}"


def outcome(done):
    """The steps that one plugin's process reports, and the lines that the plugin writes."""
    steps = json_lines(done["stdout"])
    found = {name: value for step in steps for name, value in step.items()}
    found["lines"] = [line for line in done["stderr"].splitlines() if line.startswith("plugin ")]
    if done["status"]:
        found["problem"] = ended(done, steps)
    return found


def verdict(known, found, reference):
    """`runs`, `runs, CPU` if the variables are there, `declines: REASON`, or how it fails."""
    if "problem" in found:
        return f"fails: {found['problem']}"
    reasons = [reason_of(line) for line in found["lines"]]
    if not found["devices"]:
        if reasons[-1:] == [None] and "bytes, expected" in found["lines"][-1]:
            return "declines: size"
        return f"declines: {reasons[0]}" if len(reasons) == 1 and reasons[0] else f"fails: declined with {found['lines']}"
    if max(abs(a - b) for a, b in zip(found["loss"], reference)) > 1e-5:
        return "fails: other losses"
    if DEVICE in found["variables"]:
        return "runs"
    # 2.5 has no means to assign a variable, so a plugin of 2.5 has no kernels for them.
    is_explained = any(reasons) or minor(known) < minor("2.6")
    return "runs, CPU" if is_explained else "fails: variables on the CPU, and no line says why"


def is_good(verdict):
    """A pair declines for one of three reasons only; sizes are no reason while headers are read."""
    return not verdict.startswith("fails") and verdict != "declines: size"


class Hindcast:
    name = "hindcast"
    page = DOCS / "hindcast.md"

    def options(self, words):
        words.add_argument("--known", nargs="*", metavar="N", help="only the plugins of these; no page is written")
        words.add_argument("--pairs", nargs="*", metavar="N:RELEASE", help="only these; no page is written")
        words.add_argument("--in-host", action="store_true", help="let `sp-gen verify` play the later releases")

    def prepare(self, chosen):
        every = [it for it in releases() if minor(it) >= minor(FIRST)]
        known = getattr(chosen, "known", None) or every
        pairs = [(n, it) for n in known for it in every if minor(n) < minor(it)]
        if named := getattr(chosen, "pairs", None):
            pairs = [pair for pair in pairs if ":".join(pair) in named]
        self.is_whole = not getattr(chosen, "known", None) and not named
        self.name += "" if self.is_whole else "-part"
        self.pairs = pairs
        self.plugins = Plugins({known for known, _ in pairs})
        if getattr(chosen, "in_host", False):
            return self.in_host()

    def in_host(self):
        """Every pair, with the later release as sp-host plays it; exits as a check does."""
        worst = 0
        for known, release in self.pairs:
            library = self.plugins.libraries[known]
            done = run([self.plugins.tool, "verify", library, "--release", release, "--format", "json"])
            rows = json.loads(done.stdout)["rows"] if done.returncode in (0, 1) else []
            failed = [f"{it['check']}: {it['detail']}" for it in rows if it["status"] == "fail"]
            passed = sum(it["status"] == "pass" for it in rows)
            print(f"{known} in {release}: {passed} passed", *failed, done.stderr[:500] if not rows else "")
            worst = max(worst, done.returncode)
        return worst

    def players(self, release):
        """The plugins for a release: name, library, environment variables."""
        libraries = self.plugins.libraries
        for known, later in self.pairs:
            if later == release:
                yield known, libraries[known], {}
        for known, override, later in OVERRIDES:
            if self.is_whole and release in later:
                yield f"{known} {override}", libraries[known], dict([override.split("=")])

    def wants(self, release):
        return any(self.players(release))

    def digest(self, release):
        parts = [f"{name} {hashlib.sha256(library.read_bytes()).hexdigest()}" for name, library, _ in self.players(release)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def play(self, environment):
        players = list(self.players(environment.release))
        asked = [json.dumps({"library": str(library), "environment": more}) for _, library, more in players]
        with environment.without_plugins():
            done = run([environment.python, SUITE / "forked_steps.py", DEVICE], input="\n".join(asked))
        answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"status"')]
        if len(answers) != len(players):
            raise RuntimeError((done.stdout + done.stderr)[-3000:])
        return {name: outcome(answer) for (name, *_), answer in zip(players, answers)}

    def write(self, rows):
        skipped = {release: row["withdrawn"] for release, row in rows.items() if "withdrawn" in row}
        found = {release: row for release, row in rows.items() if not row.keys() & {"problem", "withdrawn"}}
        reference = next((it["loss"] for row in found.values() for it in row.values() if "loss" in it), [])
        verdicts = {release: {name: verdict(name.split()[0], it, reference) for name, it in row.items()} for release, row in found.items()}
        pairs = {(n, it): verdicts.get(it, {}).get(n, "fails: not run") for n, it in self.pairs if it not in skipped}
        good = sum(map(is_good, pairs.values()))
        for (known, release), it in pairs.items():
            print(*[] if is_good(it) else [f"{known} in {release}: {it}\n"], end="")
        print(*[f"{it}\n" for it in skipped.values()], sep="", end="")
        print(f"{good} of {len(pairs)} pairs run or decline for an allowed reason")
        if self.is_whole:
            overrides = [f"{known} {override}" for known, override, _ in OVERRIDES]
            text = hindcast_page.page(rows, found, verdicts, pairs, overrides, reference)
            self.page.parent.mkdir(parents=True, exist_ok=True)
            self.page.write_text(text)
        return good == len(pairs)
