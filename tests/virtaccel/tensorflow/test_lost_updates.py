"""Updates of one variable by two threads: only those that the plugin replaces are lost, and none with a lock.

`tests/bench/lost_updates.py` measures how many; here it runs for a short time.
"""

import json
import os
import pathlib
import subprocess
import sys

from test_training import CORE_UPDATES_VARIABLES

PROGRAM = pathlib.Path(__file__).parents[2] / "bench" / "lost_updates.py"


def test_updates_are_lost_only_without_a_lock_where_they_are_replaced():
    command = [sys.executable, PROGRAM, "--json", "--updates=100", "--rounds=1", "--device=/device:VACCEL:0"]
    command += [f"--plugin={os.environ['SP_VACCEL_OPTIMIZER']}"]
    if CORE_UPDATES_VARIABLES:
        command += [f"--variables={os.environ['SP_VARIABLES']}"]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert finished.returncode == 0, finished.stderr[-3000:]
    for row in json.loads(finished.stdout.splitlines()[-1]):
        is_replaced = CORE_UPDATES_VARIABLES and "VACCEL" in row["device"]
        may_lose = is_replaced and row["threads"] == 2 and not row["lock"]
        assert may_lose or row["lost_percent"]["highest"] == 0, row
