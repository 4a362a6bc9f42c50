"""One library of the scaffolded plugin, built once, in every TensorFlow from 2.5 on: `tests/matrix`.

In each release it checks that the device is listed, runs the op suite and trains a small model. Writes
generated/docs/matrix.md; exits with 1 if a release failed or was not run.
"""

import hashlib
import os
import pathlib
import sys
import xml.etree.ElementTree

from . import evidence
from .process import last_json, run_checked, run
from .releases import DOCS, BUILD_DIR, PYTHONS, ROOT, SUITE, Environment, NoWheel, is_preview
from .scaffold import LIBRARY, build, scaffold

DEVICE = "MYACCEL"
# The tests of what a plugin does in every release.
OP_SUITE = [SUITE / f"test_{name}.py" for name in ("device", "functions", "kernels", "train", "types", "variables")]
LIST = f"""
import json, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf
print(json.dumps([tf.__version__, [device.name for device in tf.config.list_physical_devices("{DEVICE}")]]))
"""


def op_suite(python, folder, report):
    """Runs the op suite; returns the number of passed tests, and the names of failed and of skipped ones."""
    report.unlink(missing_ok=True)
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *OP_SUITE]
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
    if problems := [f"{name}: {result}" for name, result in row["others"].items() if result != "runs"]:
        return problems[0]
    if max(abs(a - b) for a, b in zip(row["loss"], reference)) > 1e-5:
        return "its losses differ from those of the other releases"
    return "" if row["difference"] < 1e-4 else "its losses differ from the CPU's"


def train(python):
    """Trains the model, after the device has been found; returns the version and the model's result."""
    version, devices = last_json(run([python, "-c", LIST]))
    if not devices:
        raise RuntimeError("the device is not listed")
    return version, last_json(run([python, SUITE / "small_model.py", DEVICE]))


def difference_from_cpu(model):
    return max(abs(a - b) for a, b in zip(model["loss"], model["loss_on_cpu"]))


def try_environment(environment, library):
    """Returns `runs` or the problem in another environment of a release, which is removed; None if there is no such environment."""
    is_kept = environment.folder.exists()
    try:
        if not environment.create():
            return None
        with environment.plugin(library, LIBRARY):
            _, model = train(environment.python)
        return "runs" if difference_from_cpu(model) < 1e-4 else "its losses differ from the CPU's"
    except NoWheel:
        return None
    except RuntimeError as error:
        return str(error).strip().splitlines()[-1]
    finally:
        if not is_kept:
            environment.remove()


def in_other_environments(release, library):
    """Returns the results with the release's other Pythons and with the package of the build with CUDA."""
    others = [(name, Environment(release, name)) for name in PYTHONS if name != Environment(release).name]
    others.append(("tensorflow", Environment(release, with_cuda=True)))
    found = {name: try_environment(environment, library) for name, environment in others}
    return {name: result for name, result in found.items() if result}


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
            version, model = train(python)
            passed, failed, skipped = op_suite(python, self.folder, BUILD_DIR / f"matrix-{environment.release}.xml")
        row = {"version": version, "python": environment.name.removeprefix("python"), "difference": difference_from_cpu(model)}
        row |= {"passed": passed, "failed": failed, "skipped": skipped}
        row |= {name: model[name] for name in ("variables", "traced", "loss")}
        return row | {"others": in_other_environments(environment.release, self.library)}

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
            "a small model is trained from the same initial values. With each other Python for which the release has a wheel, and",
            "with the package `tensorflow`, the build with CUDA, without a device of NVIDIA's, the model is trained too.",
            "",
            f"{good} of {len(available)} releases pass. The library: {self.library.stat().st_size} bytes, sha256 `{self.sha[:16]}`.",
            "",
            "| TensorFlow | Python | other Pythons | `tensorflow` | op suite | variables on | steps run | first loss | last loss | largest difference from the CPU | problem |",
            "|---|---|---|---|---|---|---|---|---|---|---|",
        ]
        for release, row in rows.items():
            problem = row.get("withdrawn") or problems[release]
            if "loss" not in row:
                lines.append(f"| {release} | | | | | | | | | | {problem.splitlines()[0][:120]} |")
                continue
            suite = f"{row['passed']} passed" + (f", {len(row['skipped'])} skipped" if row["skipped"] else "")
            placement = DEVICE if DEVICE in row["variables"] else "CPU"
            mode = "`tf.function`" if row["traced"] else "eager"
            pythons = [name.removeprefix("python") for name, result in row["others"].items() if name in PYTHONS and result == "runs"]
            lines.append(
                f"| {row['version']}{' (preview)' * is_preview(release)} | {row['python']} | {', '.join(pythons) or '-'} "
                f"| {row['others'].get('tensorflow', '-')} | {suite} | {placement} | {mode} "
                f"| {row['loss'][0]:.7f} | {row['loss'][-1]:.7f} | {row['difference']:.1e} | {problem} |"
            )
        evidence.write(self.page, "\n".join([*lines, ""]))
        return good == len(available)
