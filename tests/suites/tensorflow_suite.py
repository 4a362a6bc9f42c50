"""TensorFlow's own tests in Python, from a folder with its sources."""

import argparse
import os
import pathlib
import sys

from .compare import Suite, compare, facts

COMMAND = "tests/tensorflow-sources"
FACTS = """
import json, os
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3")
import tensorflow as tf, pytest
devices = sorted({it.device_type for it in tf.config.list_physical_devices()} - {"CPU"})
print(json.dumps({"tensorflow": tf.__version__, "devices": devices}))
"""


def main(arguments):
    """Runs the tests and prints the difference; returns the exit status."""
    options = parse(arguments)
    files = sorted(str(it.relative_to(options.sources)) for it in (options.sources / "tensorflow" / "python").rglob("*_test.py"))
    files = [it for it in files if options.only in it and not any(pattern in it for pattern in options.without)]
    if not files:
        print(f"{COMMAND}: {options.sources} has no such test in tensorflow/python", file=sys.stderr)
        return 2
    found = facts(COMMAND, options.python, FACTS)
    if found is None:
        return 2
    print(f"TensorFlow {found['tensorflow']}: {len(files)} files", flush=True)
    hooks, devices = "in_tensorflow/sources", found["devices"]
    suite = Suite(COMMAND, options.python, str(options.sources), ["tensorflow"], hooks, devices, expects_words=False)
    return compare(suite, {file: [] for file in files})


def parse(arguments):
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("python", metavar="PYTHON", type=os.path.abspath)
    parser.add_argument("sources", metavar="SOURCES", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--only", metavar="PATTERN", default="")
    parser.add_argument("--without", metavar="PATTERN", action="append", default=[])
    return parser.parse_args(arguments)
