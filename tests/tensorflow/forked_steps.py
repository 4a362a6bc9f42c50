"""Runs first_steps.py for several plugins in one release, each in a fork of a process with TensorFlow imported.

    python forked_steps.py DEVICE_TYPE < PLUGINS

Standard input has a line of JSON for each plugin: {"library": PATH, "environment": {..}}. Prints a line of
JSON for each, in that order: {"status": .., "stdout": .., "stderr": ..}. The import takes most of the
time. `load_pluggable_device_library` registers a plugin in the same way as the import does.
"""

import json
import os
import signal
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
from tensorflow.python.framework import load_library

import first_steps

TIMEOUT_SECONDS = 180


def run_in_child(device_type, plugin, out, err):
    """Runs the steps in the forked child and ends the process."""
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    signal.alarm(TIMEOUT_SECONDS)
    os.environ.update(plugin["environment"])
    try:
        load_library.load_pluggable_device_library(plugin["library"])
        first_steps.main(device_type, compare=False)
        status = 0
    except BaseException as error:  # the parent reports it
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    # `sys.exit` would run the parent's exit handlers.
    os._exit(status)


def run_plugin(device_type, plugin):
    """Returns the exit status, in the form of subprocess, and the output of one plugin's process."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = os.fork()
        if child == 0:
            run_in_child(device_type, plugin, out, err)
        _, status = os.waitpid(child, 0)
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        out.seek(0)
        err.seek(0)
        return {"status": code, "stdout": out.read(), "stderr": err.read()}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(run_plugin(sys.argv[1], json.loads(line))), flush=True)
