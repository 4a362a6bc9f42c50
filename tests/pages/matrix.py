"""One library of the scaffolded plugin, built once, in every TensorFlow from 2.5 on: `tests/matrix`.

In each release it checks that the device is listed, runs the op suite and trains a small model. Writes
generated/docs/matrix.md; exits with 1 if a release failed or was not run.
"""

import hashlib
import os
import pathlib
import sys
import xml.etree.ElementTree

from .process import last_json, run_checked, run
from .releases import DOCS, BUILD_DIR, ROOT, SUITE, is_preview
from .scaffold import LIBRARY, build, scaffold

DEVICE = "MYACCEL"
LIST = f"""
import json, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf
print(json.dumps([tf.__version__, [device.name for device in tf.config.list_physical_devices("{DEVICE}")]]))
"""


def op_suite(python, folder, report):
    """Runs the op suite; returns the number of passed tests, and the names of failed and of skipped ones."""
    report.unlink(missing_ok=True)
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", SUITE]
    tests = run(command, env={**os.environ, "SP_SCAFFOLD": str(folder)})
    if not report.exists():
        raise RuntimeError((tests.stdout + tests.stderr)[-3000:])
    cases = list(xml.etree.ElementTree.parse(report).iter("testcase"))
    outcome = {case.get("name"): {child.tag for child in case} for case in cases}
    failed = [name for name, tags in outcome.items() if tags & {"failure", "error"}]
    skipped = [name for name, tags in outcome.items() if "skipped" in tags]
    if failed:
        print(tests.stdout[-6000:], file=sys.stderr)
    return len(cases) - len(failed) - len(skipped), failed, skipped


def find_problem(row, reference):
    """Returns the problem of a release's row, or an empty string."""
    if "problem" in row:
        return row["problem"]
    if row["failed"]:
        return "failed: " + ", ".join(row["failed"])
    if max(abs(a - b) for a, b in zip(row["loss"], reference)) > 1e-5:
        return "its losses differ from those of the other releases"
    return "" if row["difference"] < 1e-4 else "its losses differ from the CPU's"


class Matrix:
    name = "matrix"
    page = DOCS / "matrix.md"
    folder = None

    def add_options(self, parser):
        parser.add_argument("--scaffold", type=pathlib.Path, help="an existing scaffold")

    def prepare(self, arguments):
        self.folder = getattr(arguments, "scaffold", None)
        target = BUILD_DIR / "matrix.target"
        if self.folder is None:
            self.folder, target = scaffold("matrix")
        self.library = build(self.folder, target)
        # Some tests load these plugins.
        run_checked(["cargo", "build", "--package", "sp-tests", "--examples"], cwd=ROOT)
        self.sha = hashlib.sha256(self.library.read_bytes()).hexdigest()

    def needs(self, release):
        return True

    def digest(self, release):
        return self.sha

    def run(self, environment):
        """Returns one row of the table."""
        python = environment.python
        with environment.plugin(self.library, LIBRARY):
            version, devices = last_json(run([python, "-c", LIST]))
            if not devices:
                raise RuntimeError("the device is not listed")
            passed, failed, skipped = op_suite(python, self.folder, BUILD_DIR / f"matrix-{environment.release}.xml")
            model = last_json(run([python, SUITE / "small_model.py", DEVICE]))
        difference = max(abs(a - b) for a, b in zip(model["loss"], model["loss_on_cpu"]))
        row = {"version": version, "python": environment.name.removeprefix("python"), "devices": len(devices)}
        row |= {"passed": passed, "failed": failed, "skipped": skipped}
        return row | {"variables": model["variables"], "traced": model["traced"], "loss": model["loss"], "difference": difference}

    def write(self, rows):
        available = {release: row for release, row in rows.items() if "withdrawn" not in row}
        reference = next((row["loss"] for row in rows.values() if "loss" in row), [])
        problems = {release: find_problem(row, reference) for release, row in available.items()}
        good = sum(not problem for problem in problems.values())
        lines = [
            "# One plugin library in every TensorFlow",
            "",
            "Written by `tests/matrix`. One shared library of the scaffolded plugin is built once and copied into",
            "each release's `tensorflow-plugins` folder. In each release the device is listed, the op suite runs, and",
            "a small model is trained from the same initial values.",
            "",
            f"{good} of {len(available)} releases pass. The library: {self.library.stat().st_size} bytes, sha256 `{self.sha[:16]}`.",
            "",
            "| TensorFlow | Python | device | op suite | variables on | steps run | first loss | last loss | largest difference from the CPU | problem |",
            "|---|---|---|---|---|---|---|---|---|---|",
        ]
        for release, row in rows.items():
            problem = row.get("withdrawn") or problems[release]
            if "loss" not in row:
                lines.append(f"| {release} | | | | | | | | | {problem.splitlines()[0][:120]} |")
                continue
            suite = f"{row['passed']} passed" + (f", {len(row['skipped'])} skipped" if row["skipped"] else "")
            placement = DEVICE if DEVICE in row["variables"] else "CPU"
            mode = "`tf.function`" if row["traced"] else "eager"
            lines.append(
                f"| {row['version']}{' (preview)' * is_preview(release)} | {row['python']} | listed | {suite} | {placement} | {mode} "
                f"| {row['loss'][0]:.7f} | {row['loss'][-1]:.7f} | {row['difference']:.1e} | {problem} |"
            )
        self.page.parent.mkdir(parents=True, exist_ok=True)
        self.page.write_text("\n".join([*lines, ""]))
        return good == len(available)
