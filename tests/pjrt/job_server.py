"""Runs jobs in a host's Python, each in a child that a time limit ends.

The host's module is imported once, and a child is forked for each job before a backend exists. A job is a line of JSON on the standard
input: `{"library": PATH, "environment": {..}, "programs": [..], "limit": SECONDS, "failures": COUNT}`; after that many failures no program
is run. The answer is a line on the standard output.
"""

import json
import os
import select
import signal
import sys
import tempfile
import time


def first_line(error):
    return f"{type(error).__name__}: {error}".strip().split("\n")[0][:300]


def mark(job, name):
    """Appends the name of the program that begins to the records of calls."""
    with open(job["environment"]["SP_PROBE_LOG"], "a") as log:
        log.write(f"begin {name}\n")


def run_programs(load, programs, job, report):
    """Loads the plugin and runs the programs, with a report before and after each."""
    report(program="register")
    host, failures = load(job["library"]), 0
    for name in job["programs"]:
        report(program=name)
        mark(job, name)
        try:
            programs[name](host)
            report(program=name, outcome="ok")
        except Exception as error:
            report(program=name, outcome="error", message=first_line(error))
            failures += 1
            if failures == job["failures"]:
                break
    report(program="exit")
    mark(job, "exit")


def run_in_child(load, programs, job, pipe, stderr):
    """Runs a job in the child; the interpreter then ends as that of any program."""
    os.dup2(stderr, 2)
    os.dup2(stderr, 1)
    os.environ.update(job["environment"])

    def report(**what):
        os.write(pipe, (json.dumps(what) + "\n").encode())

    try:
        run_programs(load, programs, job, report)
    except Exception as error:
        report(program="register", outcome="error", message=first_line(error))
    sys.exit(0)


def wait_for(child, limit):
    """Returns how the child ended."""
    deadline = time.monotonic() + limit
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "timeout"
        time.sleep(0.005)


def read_all(pipe):
    text = b""
    while select.select([pipe], [], [], 0)[0] and (part := os.read(pipe, 65536)):
        text += part
    return [json.loads(line) for line in text.decode().splitlines()]


def run_job(load, programs, job):
    """Runs a job in a child and returns its answer; in the child it does not return."""
    receiving, sending = os.pipe()
    with tempfile.TemporaryFile() as stderr:
        child = os.fork()
        if child == 0:
            os.close(receiving)
            run_in_child(load, programs, job, sending, stderr.fileno())
        os.close(sending)
        end = wait_for(child, job["limit"])
        reports = read_all(receiving)
        os.close(receiving)
        stderr.seek(0)
        return {"reports": reports, "end": end, "stderr": stderr.read().decode(errors="replace")[-20000:]}


def serve(versions, load, programs):
    """Prints the versions and the names of the programs, then the answer of each job."""
    print(json.dumps({**versions, "python": sys.version.split()[0], "programs": list(programs)}), flush=True)
    for line in sys.stdin:
        print(json.dumps(run_job(load, programs, json.loads(line))), flush=True)
