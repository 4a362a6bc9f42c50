"""`sp-gen doctor`, asked about the TensorFlow that these tests run in."""

import json
import os
import subprocess
import sys

import pytest

from conftest import DEVICE, ROOT


@pytest.fixture
def sp_gen():
    """The sp-gen that SP_GEN names, or the one that was built last."""
    built = [ROOT / "target" / profile / "sp-gen" for profile in ("release", "debug")]
    named = os.environ.get("SP_GEN")
    for path in [named] if named else built:
        if os.path.exists(path):
            return path
    pytest.skip("sp-gen is not built")


def test_every_step_is_ok_for_the_installed_plugin(sp_gen, plugin):
    run = subprocess.run([sp_gen, "doctor", sys.executable, "--format", "json"], capture_output=True, text=True)
    steps = json.loads(run.stdout)["steps"]
    assert run.returncode == 0, steps
    details = {step["step"]: step["detail"] for step in steps if step["plugin"] in (None, str(plugin))}
    assert details["devices"] == f"{DEVICE}: 1"
    assert details["kernels"].startswith(f"{DEVICE}: ")
    assert f"{DEVICE}: 1" in details["import"]
