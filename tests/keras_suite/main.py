"""Compares the outcomes of Keras's tests without the plugin and with it."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from . import exceptions

FOLDER = pathlib.Path(__file__).parent
# The fast part: files of trainers and optimizers, with parts of the names of the tests to run; all if there is none.
FAST = {
    "trainers/trainer_test.py": [
        "_flow_jit", "on_batch_methods_jit", "custom_train_step", "custom_test_step_dict", "adapter_py_dataset_cw", "_tf_dataset_infinite",
        "predict_generator_1_jit", "predict_preserve_order_1_jit", "loss_scaling_prevents", "update_state_at_batch", "custom_compute_loss",
    ],
    "trainers/epoch_iterator_test.py": [],
    "trainers/compile_utils_test.py": [],
    "optimizers/adam_test.py": [],
    "optimizers/sgd_test.py": [],
    "optimizers/optimizer_sparse_test.py": [],
    "optimizers/loss_scale_optimizer_test.py": [],
    "optimizers/schedules/learning_rate_schedule_test.py": [],
}
# Other backends; their tests need them.
LEFT_OUT = ["backend/jax/", "backend/numpy/", "backend/openvino/", "backend/torch/"]
FACTS = """
import json, os, pathlib
os.environ.update(KERAS_BACKEND="tensorflow", TF_CPP_MIN_LOG_LEVEL="3")
import tensorflow as tf, keras, pytest
root = pathlib.Path(keras.__file__).parents[1]
files = sorted(str(it.relative_to(root)) for it in (root / "keras" / "src").rglob("*_test.py"))
devices = {it.device_type for it in tf.config.list_physical_devices()} - {"CPU"}
print(json.dumps({"tensorflow": tf.__version__, "keras": keras.__version__, "files": files, "devices": sorted(devices)}))
"""


def main(arguments):
    """Runs the tests and prints the difference; returns the exit status."""
    options = parse(arguments)
    facts = read_facts(options.python)
    if facts is None:
        return 2
    files = [it for it in facts["files"] if is_chosen(it, options)]
    print(f"TensorFlow {facts['tensorflow']}, Keras {facts['keras']}: {len(files)} files", flush=True)
    chosen = {file: FAST.get(short(file), []) if options.part else [] for file in files}
    found = run(options.python, chosen, hides_plugin=False)
    failed = failing(found, chosen)
    passed = {file: passing(tests) for file, tests in run(options.python, failed, hides_plugin=True).items()} if failed else {}
    different = difference(passed, found)
    confirmed = confirm(options.python, different)
    for file, tests in found.items():
        passed[file] = passed.get(file, set()) | passing(tests)
    return report(passed, different, confirmed, facts["tensorflow"])


def parse(arguments):
    parser = argparse.ArgumentParser(prog="tests/keras", description=__doc__)
    parser.add_argument("python", metavar="PYTHON")
    parser.add_argument("--only", metavar="PATTERN", default="")
    parser.add_argument("--without", metavar="PATTERN", action="append", default=[])
    parser.add_argument("--part", choices=["fast"])
    options = parser.parse_args(arguments)
    options.python = os.path.abspath(options.python)
    return options


def short(file):
    return file.removeprefix("keras/src/")


def is_chosen(file, options):
    name = short(file)
    is_in_part = options.part is None or name in FAST
    is_wanted = options.only in name and not any(pattern in name for pattern in options.without)
    return is_in_part and is_wanted and not name.startswith(tuple(LEFT_OUT))


def read_facts(python):
    """Returns the releases, the test files and the plugin's device types; `None` after a message if there are none."""
    process = subprocess.run([python, "-c", FACTS], capture_output=True, text=True)
    if process.returncode:
        return print(f"tests/keras: cannot import TensorFlow, Keras and pytest: {last_line(process.stderr)}", file=sys.stderr)
    facts = json.loads(process.stdout.splitlines()[-1])
    if not facts["files"]:
        return print(f"tests/keras: the wheel of Keras {facts['keras']} has no tests", file=sys.stderr)
    if not facts["devices"]:
        return print("tests/keras: TensorFlow lists no device of a plugin", file=sys.stderr)
    return facts


def last_line(text):
    return (text.strip().splitlines() or ["no message"])[-1]


def failing(found, chosen):
    """Returns the tests to run without the plugin, by file: those that do not pass, and all of a file that has an error itself."""
    failed = {}
    for file, tests in chosen.items():
        outcomes = found.get(file, {})
        names = [name for name, test in outcomes.items() if test["outcome"] != "passed"]
        if not outcomes or file in names:
            failed[file] = tests
        elif names:
            failed[file] = names
    return failed


def run(python, tests, hides_plugin):
    """Returns the outcomes of the tests of each file whose names contain one of the texts; of all its tests if there is no text."""
    print(f"\n{'without' if hides_plugin else 'with'} the plugin:", flush=True)
    path = os.pathsep.join([str(FOLDER.parent / "startup"), str(FOLDER / "in_keras")])
    variables = {**os.environ, "PYTHONPATH": path, "SP_HIDE_PLUGIN": "1" if hides_plugin else "0"}
    with tempfile.TemporaryDirectory() as folder:
        chosen, results = pathlib.Path(folder) / "tests.json", pathlib.Path(folder) / "results.json"
        chosen.write_text(json.dumps(tests))
        status = subprocess.call([python, FOLDER / "run_files.py", chosen, results], env=variables, cwd=folder)
        if status:
            print(f"tests/keras: run_files.py ended with status {status}", file=sys.stderr)
        return json.loads(results.read_text()) if results.exists() else {}


def passing(tests):
    return {name for name, test in tests.items() if test["outcome"] == "passed"}


def difference(passed, found):
    """Returns the first line of the error of each test that passes only without the plugin, by file and test."""
    different = {}
    for file, names in passed.items():
        tests = found.get(file, {})
        of_file = tests.get(file, {}).get("error")  # the process ended outside of a test, or the file has an error
        for name in sorted(names):
            test = tests.get(name, {"outcome": "failed", "error": of_file or "the test did not run"})
            if test["outcome"] != "passed":
                different.setdefault(file, {})[name] = test["error"] or f"the test is {test['outcome']}"
    return different


def confirm(python, different):
    """Returns the tests that differ again if they run alone, without and with the plugin."""
    if not different:
        return {}
    chosen = {file: sorted(tests) for file, tests in different.items()}
    passed = {file: passing(tests) & set(chosen[file]) for file, tests in run(python, chosen, hides_plugin=True).items()}
    return difference(passed, run(python, chosen, hides_plugin=False))


def report(passed, different, confirmed, release):
    """Prints the difference; returns the exit status."""
    known = exceptions.of_release(release)
    compared = {name for names in passed.values() for name in names}
    errors = {name: error for tests in confirmed.values() for name, error in tests.items()}
    unsteady = [name for tests in different.values() for name in tests if name not in errors]
    unexpected = {name: error for name, error in errors.items() if name not in known}
    passing_exceptions = [name for name in known if name in compared and name not in errors and name not in unsteady]
    print(f"\n{len(compared)} tests pass without the plugin; {len(errors)} of them fail with it")
    section("differences", [f"{name}: {error}" for name, error in sorted(unexpected.items())])
    section("exceptions", [f"{name}: {known[name]}" for name in sorted(errors.keys() & known.keys())])
    section("exceptions that pass", passing_exceptions)
    section("tests whose second run has another outcome", unsteady)
    return 2 if not compared else int(bool(unexpected or passing_exceptions))


def section(title, lines):
    if lines:
        print(f"\n{title} ({len(lines)}):", *lines, sep="\n  ")
