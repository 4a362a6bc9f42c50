#!/usr/bin/env python3
"""One file of the scaffolded plugin, built once, in every TensorFlow from 2.5 on: `tests/matrix`.

For each release an environment is made under target/made, the file copied into it, the device
listed, the op suite run and a small model trained; then the environment goes, unless --keep names
the release. Writes generated/docs/matrix.md; exits 1 if any release failed or was left out.
"""

import argparse
import glob
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
MADE = ROOT / "target" / "made"
SUITE = ROOT / "tests" / "tensorflow"
REQUIREMENTS = SUITE / "requirements"
PAGE = ROOT / "generated" / "docs" / "matrix.md"
DEVICE = "MYACCEL"
LIST = f"""
import json, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf
print(json.dumps([tf.__version__, [it.name for it in tf.config.list_physical_devices("{DEVICE}")]]))
"""


def minor(release):
    return tuple(map(int, release.split(".")))


def releases():
    return sorted((path.stem for path in REQUIREMENTS.glob("*.txt")), key=minor)


def run(command, **more):
    """The finished process; its output is kept for whoever asks why."""
    more.setdefault("timeout", 1800)
    command = [str(word) for word in command]
    try:
        return subprocess.run(command, capture_output=True, text=True, **more)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(command, 1, "", f"gave up after {late.timeout} s")


def must(command, **more):
    done = run(command, **more)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def scaffold():
    """A plugin as a user makes it."""
    must(["cargo", "build", "--release", "--package", "sp-gen"], cwd=ROOT)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    folder = MADE / "matrix"
    shutil.rmtree(folder, ignore_errors=True)
    must([target / "release" / "sp-gen", "new", "myaccel", "--path", folder])
    return folder


def build(folder):
    """The plugin's library: one build, whatever it will be loaded into."""
    own = {**os.environ, "CARGO_TARGET_DIR": str(folder / "target")}
    must(["cargo", "build", "--release"], cwd=folder, env=own)
    return folder / "target" / "release" / "libmyaccel.so"


def interpreter(release):
    """The Python that the release's requirements name, on the PATH or from pyenv."""
    first = (REQUIREMENTS / f"{release}.txt").read_text().splitlines()[0]
    name = first.lstrip("# ").strip()
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    wanted = name.removeprefix("python")
    candidates = [shutil.which(name), *sorted(glob.glob(f"{pyenv}/versions/{wanted}.*/bin/python"))]
    for candidate in filter(None, candidates):
        # A shim of pyenv is on the PATH also where its version is not chosen.
        if run([candidate, "-c", "import sys"]).returncode == 0:
            return name, candidate
    return name, None


def environment(release, python):
    """A venv with that TensorFlow, made anew when its requirements change."""
    wants, place = REQUIREMENTS / f"{release}.txt", MADE / f"tensorflow-{release}"
    made_from = place / "made-from.txt"
    if made_from.exists() and made_from.read_bytes() == wants.read_bytes():
        return place
    shutil.rmtree(place, ignore_errors=True)
    must([python, "-m", "venv", place])
    pip = [place / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-cache-dir"]
    must([*pip, "--requirement", wants])
    shutil.copy(wants, made_from)
    return place


def install(library, place):
    """Where every release looks, also those from before TF_PLUGGABLE_DEVICE_LIBRARY_PATH."""
    (packages,) = place.glob("lib/python3*/site-packages")
    folder = packages / "tensorflow-plugins"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(library, folder)
    return folder


def last_json(done):
    lines = [line for line in done.stdout.splitlines() if line.startswith(("[", "{"))]
    if done.returncode or not lines:
        raise RuntimeError((done.stdout + done.stderr)[-3000:])
    return json.loads(lines[-1])


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


def play(release, folder, library, keep):
    """One row of the table; what went wrong stands in it."""
    name, python = interpreter(release)
    if python is None:
        return {"problem": f"skipped: no {name} on this machine"}
    place = environment(release, python)
    plugins = install(library, place)
    python = place / "bin" / "python"
    try:
        version, devices = last_json(run([python, "-c", LIST]))
        if not devices:
            raise RuntimeError("the device is not listed")
        passed, failed, skipped = op_suite(python, folder, MADE / f"matrix-{release}.xml")
        model = last_json(run([python, SUITE / "small_model.py", DEVICE]))
    finally:
        shutil.rmtree(plugins)
        if release not in keep:
            shutil.rmtree(place)
    apart = max(abs(a - b) for a, b in zip(model["loss"], model["loss_on_cpu"]))
    row = {"version": version, "python": name.removeprefix("python"), "devices": len(devices)}
    row |= {"passed": passed, "failed": failed, "skipped": skipped}
    return row | {"variables": model["variables"], "traced": model["traced"], "loss": model["loss"], "apart": apart}


def problem_of(row, reference):
    if "problem" in row:
        return row["problem"]
    if row["failed"]:
        return "failed: " + ", ".join(row["failed"])
    if max(abs(a - b) for a, b in zip(row["loss"], reference)) > 1e-5:
        return "its losses are others than those of the other releases"
    return "" if row["apart"] < 1e-4 else "its losses are not the CPU's"


def write_page(library, digest, rows):
    reference = next((row["loss"] for row in rows.values() if "loss" in row), [])
    problems = {release: problem_of(row, reference) for release, row in rows.items()}
    good = sum(not problem for problem in problems.values())
    lines = [
        "# One plugin file in every TensorFlow",
        "",
        "Written by `tests/matrix`. One shared library of the scaffolded plugin, built once, copied into",
        "each release's `tensorflow-plugins` folder: the device is listed, the op suite runs, and one small",
        "model is trained from the same numbers.",
        "",
        f"{good} of {len(rows)} releases. The file: {library.stat().st_size} bytes, sha256 `{digest[:16]}`.",
        "",
        "| TensorFlow | Python | device | op suite | variables on | steps run | first loss | last loss | from the CPU's, at most | |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for release, row in rows.items():
        problem = problems[release]
        if "loss" not in row:
            lines.append(f"| {release} | | | | | | | | | {problem.splitlines()[0][:120]} |")
            continue
        suite = f"{row['passed']} passed" + (f", {len(row['skipped'])} skipped" if row["skipped"] else "")
        home = DEVICE if DEVICE in row["variables"] else "CPU"
        mode = "`tf.function`" if row["traced"] else "eager"
        lines.append(
            f"| {row['version']} | {row['python']} | listed | {suite} | {home} | {mode} "
            f"| {row['loss'][0]:.7f} | {row['loss'][-1]:.7f} | {row['apart']:.1e} | {problem} |"
        )
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text("\n".join([*lines, ""]))
    return good == len(rows)


def remembered(digest):
    """The rows of this very file from earlier runs."""
    try:
        kept = json.loads((MADE / "matrix.json").read_text())
    except (OSError, ValueError):
        return {}
    return kept["rows"] if kept["digest"] == digest else {}


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    words.add_argument("releases", nargs="*", help="such as 2.5 2.21; all where none is named")
    words.add_argument("--scaffold", type=pathlib.Path, help="a scaffold that is there already")
    words.add_argument("--keep", nargs="*", default=["2.12", "2.21"], help="releases whose environments stay")
    chosen = words.parse_args()
    MADE.mkdir(parents=True, exist_ok=True)
    folder = chosen.scaffold or scaffold()
    library = build(folder)
    digest = hashlib.sha256(library.read_bytes()).hexdigest()
    rows = remembered(digest)
    for release in chosen.releases or releases():
        start = time.monotonic()
        try:
            rows[release] = play(release, folder, library, chosen.keep)
        except RuntimeError as error:
            rows[release] = {"problem": str(error)}
        row = {key: value for key, value in rows[release].items() if key != "loss"}
        print(f"{release}: {row} in {time.monotonic() - start:.0f} s", flush=True)
        (MADE / "matrix.json").write_text(json.dumps({"digest": digest, "rows": rows}))
    missing = [release for release in releases() if release not in rows]
    if missing:
        print(f"no page yet: {' '.join(missing)} did not run with this file", file=sys.stderr)
        return 1
    return 0 if write_page(library, digest, {release: rows[release] for release in releases()}) else 1


if __name__ == "__main__":
    sys.exit(main())
