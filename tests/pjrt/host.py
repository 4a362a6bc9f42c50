"""A host process that runs jobs with the probe, and what is read from the probe's records."""

import json
import os
import re
import subprocess
import tempfile

# Texts of messages that differ from run to run.
VOLATILE = [
    (re.compile(r"^.*?([\w.-]+\.(?:cc|h):\d+\] )"), r"\1"),
    (re.compile(r"(?<![\w.])/(?:[\w.+-]+/){2,}(?=[\w.+-]+\.\w)"), ""),
    (re.compile(r"\b0x[0-9a-f]+\b"), "0x.."),
]


def clean(message):
    """Returns a message without times, paths and addresses."""
    for pattern, replacement in VOLATILE:
        message = pattern.sub(replacement, message)
    return message.strip()[:240]


def fatal_line(stderr):
    """Returns the line of a process's output that states why it ended, or an empty text."""
    lines = [line for line in stderr.splitlines() if re.search(r"^F\d{4} |: F external|Check failed|terminate called|Fatal Python", line)]
    return clean(lines[0]) if lines else ""


class Answer:
    """The answer of a job: the outcome of each program, and the records of the probe."""

    def __init__(self, answer, records):
        self.end, self.stderr, self.records = answer["end"], answer["stderr"], records
        self.outcomes, running = {}, None
        for report in answer["reports"]:
            running = report["program"]
            if "outcome" in report:
                self.outcomes[running] = {k: clean(v) for k, v in report.items() if k != "program"}
        if self.end != "exit 0":
            outcome = "hang" if self.end == "timeout" else "crash"
            self.outcomes[running] = {"outcome": outcome, "message": fatal_line(self.stderr) or self.end}

    def calls(self):
        """Yields the program, the slot, the size of the struct and the set fields of each call."""
        program = "register"
        for line in self.records:
            kind, *words = line.split()
            if kind == "begin":
                program = words[0]
            elif kind == "call":
                yield program, words[0], int(words[1]), words[5:]

    def words(self, kind):
        """Returns the words of the records of a kind."""
        return [line.split()[1:] for line in self.records if line.startswith(kind + " ")]


class Host:
    """A process of a host with its library of the probe. Each job runs in a child of that process."""

    def __init__(self, python, script, library, environment):
        self.library = library
        self.process = subprocess.Popen(
            [python, str(script)],
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.versions = self._read()
        self.programs = self.versions.pop("programs")
        self.base, self.basic = {}, []

    def _read(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the host ended with status {self.process.wait()}")
        return json.loads(line)

    def run(self, settings, programs=None, limit=600, failures=0):
        """Runs programs with settings of the probe in addition to those of `base`."""
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            environment = {"SP_PROBE_LOG": log}
            environment.update({f"SP_PROBE_{k.upper()}": str(v) for k, v in {**self.base, **settings}.items()})
            job = {"library": str(self.library), "environment": environment, "limit": limit, "failures": failures}
            job["programs"] = self.programs if programs is None else programs
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
            answer = self._read()
            records = open(log, errors="replace").read().splitlines() if os.path.exists(log) else []
        return Answer(answer, records)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
