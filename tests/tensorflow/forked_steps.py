"""The first steps of several plugins in one release, each in a fork of a process that has imported TensorFlow.

    python forked_steps.py DEVICE_TYPE < PLUGINS

Standard input has a line of JSON for each plugin: {"library": PATH, "environment": {..}}. Prints a line of
JSON for each, in that order: {"status": .., "stdout": .., "stderr": ..}. The import is by far the longest
step, and registers plugins in the same way as `load_pluggable_device_library` does.
"""

import json
import os
import signal
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
from tensorflow.python.framework import load_library

import first_steps

SECONDS = 180


def play(device_type, plugin, out, err):
    """The child's part; never returns."""
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    signal.alarm(SECONDS)
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
    # Not `sys.exit`: the parent's handlers are not the child's to run.
    os._exit(status)


def played(device_type, plugin):
    """The status, as subprocess gives it, and the output of one plugin's process."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = os.fork()
        if child == 0:
            play(device_type, plugin, out, err)
        _, status = os.waitpid(child, 0)
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        out.seek(0)
        err.seek(0)
        return {"status": code, "stdout": out.read(), "stderr": err.read()}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(played(sys.argv[1], json.loads(line))), flush=True)
