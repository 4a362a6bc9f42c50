"""Commands and what they say: a finished process keeps its output for whoever asks why."""

import json
import subprocess


def run(command, **more):
    """The finished process; one that takes too long counts as failed."""
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


def json_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith(("[", "{"))]


def last_json(done):
    found = json_lines(done.stdout)
    if done.returncode or not found:
        raise RuntimeError((done.stdout + done.stderr)[-3000:])
    return found[-1]
