"""Child processes with captured output."""

import json
import subprocess


def run(command, **options):
    """Runs a command and returns the finished process; a timeout counts as a failure."""
    options.setdefault("timeout", 1800)
    command = [str(argument) for argument in command]
    try:
        return subprocess.run(command, capture_output=True, text=True, **options)
    except subprocess.TimeoutExpired as error:
        return subprocess.CompletedProcess(command, 1, "", f"timed out after {error.timeout} s")


def run_checked(command, **options):
    """Runs a command and returns the finished process; raises RuntimeError if it fails."""
    process = run(command, **options)
    if process.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{process.stdout[-2000:]}{process.stderr[-2000:]}")
    return process


def json_lines(text):
    """Returns the values of the lines that are JSON objects or arrays."""
    return [json.loads(line) for line in text.splitlines() if line.startswith(("[", "{"))]


def last_json(process):
    """Returns the last JSON value of a process's output; raises RuntimeError if it failed or has none."""
    values = json_lines(process.stdout)
    if process.returncode or not values:
        raise RuntimeError((process.stdout + process.stderr)[-3000:])
    return values[-1]
