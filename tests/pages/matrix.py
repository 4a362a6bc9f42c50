"""One file of the scaffolded plugin, built once, in every TensorFlow from 2.5 on: `tests/matrix`.

In each release the device is listed, the op suite run and a small model trained. Writes
generated/docs/matrix.md; exits 1 if any release failed or was left out.
"""

import hashlib
import os
import pathlib
import sys
import xml.etree.ElementTree

from .process import last_json, must, run
from .releases import DOCS, MADE, ROOT, SUITE, is_preview
from .scaffold import LIBRARY, build, scaffold

DEVICE = "MYACCEL"
LIST = f"""
import json, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf
print(json.dumps([tf.__version__, [it.name for it in tf.config.list_physical_devices("{DEVICE}")]]))
"""


def op_suite(python, folder, report):
    """How many tests passed, and the names of those that did not."""
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


def problem_of(row, reference):
    if "problem" in row:
        return row["problem"]
    if row["failed"]:
        return "failed: " + ", ".join(row["failed"])
    if max(abs(a - b) for a, b in zip(row["loss"], reference)) > 1e-5:
        return "its losses are others than those of the other releases"
    return "" if row["apart"] < 1e-4 else "its losses are not the CPU's"


class Matrix:
    name = "matrix"
    page = DOCS / "matrix.md"
    folder = None

    def options(self, words):
        words.add_argument("--scaffold", type=pathlib.Path, help="a scaffold that is there already")

    def prepare(self, chosen):
        self.folder = getattr(chosen, "scaffold", None)
        target = MADE / "matrix.target"
        if self.folder is None:
            self.folder, target = scaffold("matrix")
        self.library = build(self.folder, target)
        # The plugins that some tests load.
        must(["cargo", "build", "--package", "sp-tests", "--examples"], cwd=ROOT)
        self.sha = hashlib.sha256(self.library.read_bytes()).hexdigest()

    def wants(self, release):
        return True

    def digest(self, release):
        return self.sha

    def play(self, environment):
        """One row of the table; what went wrong stands in it."""
        python = environment.python
        with environment.plugin(self.library, LIBRARY):
            version, devices = last_json(run([python, "-c", LIST]))
            if not devices:
                raise RuntimeError("the device is not listed")
            passed, failed, skipped = op_suite(python, self.folder, MADE / f"matrix-{environment.release}.xml")
            model = last_json(run([python, SUITE / "small_model.py", DEVICE]))
        apart = max(abs(a - b) for a, b in zip(model["loss"], model["loss_on_cpu"]))
        row = {"version": version, "python": environment.name.removeprefix("python"), "devices": len(devices)}
        row |= {"passed": passed, "failed": failed, "skipped": skipped}
        return row | {"variables": model["variables"], "traced": model["traced"], "loss": model["loss"], "apart": apart}

    def write(self, rows):
        played = {release: row for release, row in rows.items() if "withdrawn" not in row}
        reference = next((row["loss"] for row in rows.values() if "loss" in row), [])
        problems = {release: problem_of(row, reference) for release, row in played.items()}
        good = sum(not problem for problem in problems.values())
        lines = [
            "# One plugin file in every TensorFlow",
            "",
            "Written by `tests/matrix`. One shared library of the scaffolded plugin, built once, copied into",
            "each release's `tensorflow-plugins` folder: the device is listed, the op suite runs, and one small",
            "model is trained from the same numbers.",
            "",
            f"{good} of {len(played)} releases. The file: {self.library.stat().st_size} bytes, sha256 `{self.sha[:16]}`.",
            "",
            "| TensorFlow | Python | device | op suite | variables on | steps run | first loss | last loss | from the CPU's, at most | |",
            "|---|---|---|---|---|---|---|---|---|---|",
        ]
        for release, row in rows.items():
            problem = row.get("withdrawn") or problems[release]
            if "loss" not in row:
                lines.append(f"| {release} | | | | | | | | | {problem.splitlines()[0][:120]} |")
                continue
            suite = f"{row['passed']} passed" + (f", {len(row['skipped'])} skipped" if row["skipped"] else "")
            home = DEVICE if DEVICE in row["variables"] else "CPU"
            mode = "`tf.function`" if row["traced"] else "eager"
            lines.append(
                f"| {row['version']}{' (preview)' * is_preview(release)} | {row['python']} | listed | {suite} | {home} | {mode} "
                f"| {row['loss'][0]:.7f} | {row['loss'][-1]:.7f} | {row['apart']:.1e} | {problem} |"
            )
        self.page.parent.mkdir(parents=True, exist_ok=True)
        self.page.write_text("\n".join([*lines, ""]))
        return good == len(played)
