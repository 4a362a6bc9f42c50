"""The stages of a session. The answer, a JSON file that the first argument names, is written at each of them, so that it has the
last one if the process ends in it.
"""

import json
import os
import sys

FILE = sys.argv[1]
LONGEST = 4000
answer = {"stage": "", "error": None}


def save():
    with open(FILE + ".new", "w") as file:
        json.dump(answer, file)
    os.replace(FILE + ".new", FILE)


def enter(stage):
    answer["stage"] = stage
    save()
    os.write(2, ("\nsp-gen doctor: stage %s\n" % stage).encode())


def finish(run):
    """Runs the session, and ends the process."""
    try:
        run()
    except BaseException as error:  # a plugin may raise anything, and SystemExit is a finding too
        answer["error"] = "%s: %s" % (type(error).__name__, str(error)[:LONGEST])
        save()
    # Not through the interpreter's shutdown: what a plugin does there is not asked.
    os._exit(0)


