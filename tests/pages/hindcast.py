"""For each release N from 2.5 on, a plugin built from the facts known at N, in every later release: `tests/hindcast`.

sp-abi is generated from the releases up to N (`sp-gen generate --release N`). The hand-written crates lose
the code that is marked with a later release (pages/since.py). In each later release the device is listed,
adds, and trains a small model, each plugin in a process of its own. Writes generated/docs/hindcast.md;
exits with 1 if a pair neither runs nor declines for an allowed reason. With --in-host nothing is installed:
`sp-gen verify` emulates the later releases.
"""

import hashlib
import json
import shutil
import signal

from . import evidence, hindcast_page
from .hindcast_page import reason_of
from .process import json_lines, run_checked, run
from .releases import DOCS, BUILD_DIR, SUITE, minor, releases
from .scaffold import build, make_older, sp_gen

FIRST = "2.5"
DEVICE = "MYACCEL"
# The parts of a scaffold whose C API came with a later release than the device's.
PARTS = {"optimizer": "2.6", "profiler": "2.7"}
# Plugins that run again with an environment variable set: release, variable, releases to run in.
OVERRIDES = [
    ("2.8", "SP_TRUST_HEADERS=0", ["2.9", "2.12", "2.21"]),
    ("2.12", "SP_TRUST_HEADERS=0", ["2.13", "2.21", "2.22"]),
    ("2.21", "SP_TRUST_HEADERS=0", ["2.22"]),
    ("2.8", "SP_ASSUME_APPEND=1", ["2.9", "2.12", "2.21", "2.22"]),
    ("2.9", "SP_ASSUME_SAME=1", ["2.10", "2.11", "2.12", "2.13", "2.21", "2.22"]),
]


class Plugins:
    """The plugin of each release."""

    def __init__(self, known):
        self.tool = sp_gen()
        self.folder, self.target = BUILD_DIR / "hindcast", BUILD_DIR / "hindcast.target"
        self.without = None
        self.libraries = {release: self.build(release) for release in sorted(known, key=minor)}

    def build(self, release):
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
        run_checked([self.tool, "new", "myaccel", "--path", self.folder, *parts])
        self.without = without


def describe_failure(process, steps):
    """Returns the step in which a process failed, with its signal or last line."""
    step = ["loading", "the add", "training"][min(len(steps), 2)]
    if process["status"] < 0:
        return f"{signal.Signals(-process['status']).name} in {step}"
    lines = [line for line in (process["stdout"] + process["stderr"]).splitlines() if line.strip()]
    return f"{step}: {lines[-1][:200] if lines else 'no output'}"


def parse_result(process):
    """Returns the results of one plugin's process, and the lines that the plugin prints."""
    steps = json_lines(process["stdout"])
    result = {name: value for step in steps for name, value in step.items()}
    lines = [line for line in process["stderr"].splitlines() if line.startswith("plugin ")]
    result["lines"] = [line for line in lines if not hindcast_page.COUNTS.search(line)]
    if process["status"]:
        result["problem"] = describe_failure(process, steps)
    return result


def verdict(known, result, reference):
    """Returns `runs`, `runs, CPU` if the variables are on the CPU, `declines: REASON` or `fails: PROBLEM`."""
    if "problem" in result:
        return f"fails: {result['problem']}"
    reasons = [reason_of(line) for line in result["lines"]]
    if not result["devices"]:
        if reasons[-1:] == [None] and "bytes, expected" in result["lines"][-1]:
            return "declines: size"
        return f"declines: {reasons[0]}" if len(reasons) == 1 and reasons[0] else f"fails: declined with {result['lines']}"
    if max(abs(a - b) for a, b in zip(result["loss"], reference)) > 1e-5:
        return "fails: its losses differ"
    if DEVICE in result["variables"]:
        return "runs"
    # 2.5 exports no function that assigns a variable, so a plugin of 2.5 has no kernels for variables.
    is_explained = any(reasons) or minor(known) < minor("2.6")
    return "runs, CPU" if is_explained else "fails: variables on the CPU, and no line with a reason"


def is_good(verdict):
    """Returns True if a pair runs or declines for an allowed reason; an unknown size is allowed only without headers."""
    return not verdict.startswith("fails") and verdict != "declines: size"


class Hindcast:
    name = "hindcast"
    page = DOCS / "hindcast.md"

    def add_options(self, parser):
        parser.add_argument("--known", nargs="*", metavar="N", help="only the plugins of these releases; writes no page")
        parser.add_argument("--pairs", nargs="*", metavar="N:RELEASE", help="only these pairs; writes no page")
        parser.add_argument("--in-host", action="store_true", help="let `sp-gen verify` emulate the later releases")

    def prepare(self, arguments):
        every = [release for release in releases() if minor(release) >= minor(FIRST)]
        known = getattr(arguments, "known", None) or every
        pairs = [(n, release) for n in known for release in every if minor(n) < minor(release)]
        if selected := getattr(arguments, "pairs", None):
            pairs = [pair for pair in pairs if ":".join(pair) in selected]
        self.is_complete = not getattr(arguments, "known", None) and not selected
        self.name += "" if self.is_complete else "-part"
        self.pairs = pairs
        self.plugins = Plugins({known for known, _ in pairs})
        if getattr(arguments, "in_host", False):
            return self.run_in_host()

    def run_in_host(self):
        """Runs every pair with `sp-gen verify`; returns the largest exit status."""
        status = 0
        for known, release in self.pairs:
            library = self.plugins.libraries[known]
            process = run([self.plugins.tool, "verify", library, "--release", release, "--format", "json"])
            rows = json.loads(process.stdout)["rows"] if process.returncode in (0, 1) else []
            failed = [f"{row['check']}: {row['detail']}" for row in rows if row["status"] == "fail"]
            passed = sum(row["status"] == "pass" for row in rows)
            print(f"{known} in {release}: {passed} passed", *failed, process.stderr[:500] if not rows else "")
            status = max(status, process.returncode)
        return status

    def plugins_for(self, release):
        """Yields the plugins to run in a release: name, library, environment variables."""
        libraries = self.plugins.libraries
        for known, later in self.pairs:
            if later == release:
                yield known, libraries[known], {}
        for known, override, later in OVERRIDES:
            if self.is_complete and release in later:
                yield f"{known} {override}", libraries[known], dict([override.split("=")])

    def needs(self, release):
        return any(self.plugins_for(release))

    def digest(self, release):
        parts = [f"{name} {hashlib.sha256(library.read_bytes()).hexdigest()}" for name, library, _ in self.plugins_for(release)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def run(self, environment):
        plugins = list(self.plugins_for(environment.release))
        # The list of ops without a kernel has level debug.
        requests = [
            json.dumps({"library": str(library), "environment": {"SP_LOG": "debug", **variables}}) for _, library, variables in plugins
        ]
        with environment.without_plugins():
            process = run([environment.python, SUITE / "forked_steps.py", DEVICE], input="\n".join(requests))
        results = [json.loads(line) for line in process.stdout.splitlines() if line.startswith('{"status"')]
        if len(results) != len(plugins):
            raise RuntimeError((process.stdout + process.stderr)[-3000:])
        return {name: parse_result(result) for (name, *_), result in zip(plugins, results)}

    def write(self, rows):
        skipped = {release: row["withdrawn"] for release, row in rows.items() if "withdrawn" in row}
        results = {release: row for release, row in rows.items() if not row.keys() & {"problem", "withdrawn"}}
        reference = next((result["loss"] for row in results.values() for result in row.values() if "loss" in result), [])
        verdicts = {
            release: {name: verdict(name.split()[0], result, reference) for name, result in row.items()}
            for release, row in results.items()
        }
        pairs = {
            (known, release): verdicts.get(release, {}).get(known, "fails: not run")
            for known, release in self.pairs
            if release not in skipped
        }
        good = sum(map(is_good, pairs.values()))
        for (known, release), pair_verdict in pairs.items():
            if not is_good(pair_verdict):
                print(f"{known} in {release}: {pair_verdict}")
        for reason in skipped.values():
            print(reason)
        print(f"{good} of {len(pairs)} pairs run or decline for an allowed reason")
        if self.is_complete:
            overrides = [f"{known} {override}" for known, override, _ in OVERRIDES]
            text = hindcast_page.page(rows, results, verdicts, pairs, overrides, reference)
            evidence.write(self.page, text)
        return good == len(pairs)
