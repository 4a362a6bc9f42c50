"""The hooks of pytest that write the outcomes of tests as lines of JSON.

`SP_RUN_OF_FILE` is a file of JSON: parts of the names of the tests to run, the tests that have an outcome, and the file that gets a
line when a test starts and when it ends, so that a test that ends the process is known.
"""

import json
import os
import pathlib

# An outcome with an earlier place takes precedence over those of the other phases of the test.
PRECEDENCE = ["failed", "skipped", "passed"]
LINE = 300  # characters of a reported error


def pytest_collection_modifyitems(config, items):
    done, chosen = set(RUN["done"]), RUN["chosen"]
    items[:] = [it for it in items if it.nodeid not in done and (not chosen or any(text in it.nodeid for text in chosen))]


class Outcomes:
    """Writes the outcome of each test; a file that cannot be collected has one under its own name."""

    def __init__(self, path):
        self.file, self.phases = open(path, "a"), []

    def write(self, **line):
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()

    def pytest_runtest_logstart(self, nodeid):
        self.phases = []
        self.write(test=nodeid, started=True)

    def pytest_runtest_logreport(self, report):
        self.phases.append(report)

    def pytest_runtest_logfinish(self, nodeid):
        worst = min(self.phases, key=lambda it: PRECEDENCE.index(it.outcome))
        seconds = round(sum(it.duration for it in self.phases), 1)
        self.write(test=nodeid, outcome=worst.outcome, error=first_line(worst), seconds=seconds)

    def pytest_collectreport(self, report):
        if report.outcome != "passed":
            self.write(test=report.nodeid, outcome=report.outcome, error=first_line(report), seconds=0)


def first_line(report):
    """Returns the first line of a failure's error, or an empty text."""
    if report.outcome != "failed":
        return ""
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = (crash.message if crash else str(report.longrepr)).strip().splitlines()
    return lines[0][:LINE] if lines else "no message"


RUN = json.loads(pathlib.Path(os.environ["SP_RUN_OF_FILE"]).read_text())
OUTCOMES = Outcomes(RUN["outcomes"])
pytest_runtest_logstart, pytest_runtest_logreport = OUTCOMES.pytest_runtest_logstart, OUTCOMES.pytest_runtest_logreport
pytest_runtest_logfinish, pytest_collectreport = OUTCOMES.pytest_runtest_logfinish, OUTCOMES.pytest_collectreport
