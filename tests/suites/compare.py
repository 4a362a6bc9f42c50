"""Compares the outcomes of a suite's tests without the plugin and with it."""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).parent
# The failure of a test that expects other words of an error of the same class.
OF_WORDS = re.compile(r"""AssertionError: (".*" does not match|Exception of type <class|Regex didn't match)""")


@dataclasses.dataclass
class Suite:
    """A suite of tests, and the environment that runs it."""

    name: str  # of the command
    python: str
    root: str  # the folder of the test files' paths
    imports: list  # modules to import before a file's process starts
    hooks: str  # the module of hooks of pytest, in a folder of this one: FOLDER/MODULE
    device_types: list
    exceptions: dict = dataclasses.field(default_factory=dict)  # the reasons of tests that may fail
    expects_words: bool = True  # whether the plugin's errors must have the words that a test expects


def facts(command, python, program):
    """Returns the JSON that a program prints in its last line; `None` after a message if it fails."""
    variables = {**os.environ, "PYTHONPATH": str(FOLDER.parent / "startup")}
    try:
        process = subprocess.run([python, "-c", program], capture_output=True, text=True, env=variables)
    except OSError as error:
        return print(f"{command}: cannot run {python}: {error.strerror}", file=sys.stderr)
    if process.returncode:
        return print(f"{command}: cannot import the packages of the tests: {last_line(process.stderr)}", file=sys.stderr)
    found = json.loads(process.stdout.splitlines()[-1])
    if not found["devices"]:
        return print(f"{command}: TensorFlow lists no device of a plugin", file=sys.stderr)
    return found


def last_line(text):
    return (text.strip().splitlines() or ["no message"])[-1]


def compare(suite, chosen):
    """Runs the tests of files, chosen by parts of their names, and prints the difference; returns the exit status."""
    found = run(suite, chosen, hides_plugin=False)
    failed = failing(found, chosen)
    passed = {file: passing(tests) for file, tests in run(suite, failed, hides_plugin=True).items()} if failed else {}
    different, left_out = without_left_out(difference(passed, found), found, suite.device_types == ["GPU"])
    confirmed = confirm(suite, different)
    for file, tests in found.items():
        passed[file] = passed.get(file, set()) | passing(tests)
    section("tests that leave themselves out on a GPU", left_out)
    return report(passed, different, confirmed, suite.exceptions, suite.expects_words)


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


def run(suite, tests, hides_plugin):
    """Returns the outcomes of the tests of each file whose names contain one of the texts; of all its tests if there is no text."""
    print(f"\n{'without' if hides_plugin else 'with'} the plugin:", flush=True)
    folder_of_hooks, hooks = suite.hooks.split("/")
    path = os.pathsep.join(map(str, [FOLDER.parent / "startup", FOLDER, FOLDER / folder_of_hooks]))
    variables = {**os.environ, "PYTHONPATH": path, "SP_HIDE_PLUGIN": "1" if hides_plugin else "0", "KERAS_BACKEND": "tensorflow"}
    with tempfile.TemporaryDirectory() as folder:
        chosen, results = pathlib.Path(folder) / "tests.json", pathlib.Path(folder) / "results.json"
        chosen.write_text(json.dumps({"root": suite.root, "imports": suite.imports, "hooks": hooks, "files": tests}))
        status = subprocess.call([suite.python, FOLDER / "run_files.py", chosen, results], env=variables, cwd=folder)
        if status:
            print(f"{suite.name}: run_files.py ended with status {status}", file=sys.stderr)
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


def without_left_out(different, found, on_gpu):
    """Returns the tests that differ but those that leave themselves out on a device of type GPU, and the latter's names."""
    left_out = [
        name for file, tests in different.items() for name in tests if on_gpu and found.get(file, {}).get(name, {}).get("outcome") == "skipped"
    ]
    kept = {file: {name: error for name, error in tests.items() if name not in left_out} for file, tests in different.items()}
    return {file: tests for file, tests in kept.items() if tests}, left_out


def confirm(suite, different):
    """Returns the tests that differ again if they run alone, without and with the plugin."""
    if not different:
        return {}
    chosen = {file: sorted(tests) for file, tests in different.items()}
    passed = {file: passing(tests) & set(chosen[file]) for file, tests in run(suite, chosen, hides_plugin=True).items()}
    return difference(passed, run(suite, chosen, hides_plugin=False))


def report(passed, different, confirmed, known, expects_words=True):
    """Prints the difference; returns the exit status."""
    compared = {name for names in passed.values() for name in names}
    errors = {name: error for tests in confirmed.values() for name, error in tests.items()}
    unsteady = [name for tests in different.values() for name in tests if name not in errors]
    of_words = {name: error for name, error in errors.items() if not expects_words and OF_WORDS.match(error)}
    unexpected = {name: error for name, error in errors.items() if name not in known and name not in of_words}
    passing_exceptions = [name for name in known if name in compared and name not in errors and name not in unsteady]
    print(f"\n{len(compared)} tests pass without the plugin; {len(errors)} of them fail with it")
    section("differences", [f"{name}: {error}" for name, error in sorted(unexpected.items())])
    section("errors in other words", [f"{name}: {error}" for name, error in sorted(of_words.items())])
    section("exceptions", [f"{name}: {known[name]}" for name in sorted(errors.keys() & known.keys())])
    section("exceptions that pass", passing_exceptions)
    section("tests whose second run has another outcome", unsteady)
    return 2 if not compared else int(bool(unexpected or passing_exceptions))


def section(title, lines):
    if lines:
        print(f"\n{title} ({len(lines)}):", *lines, sep="\n  ")
