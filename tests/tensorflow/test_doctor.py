"""`sp-gen doctor` for the TensorFlow that runs these tests."""

import json
import os
import subprocess
import sys

import pytest

from conftest import DEVICE, ROOT


@pytest.fixture
def sp_gen():
    """Returns the sp-gen that SP_GEN names, or one that cargo has built."""
    built = [ROOT / "target" / profile / "sp-gen" for profile in ("release", "debug")]
    configured = os.environ.get("SP_GEN")
    for path in [configured] if configured else built:
        if os.path.exists(path):
            return path
    pytest.skip("sp-gen is not built")


def test_every_step_passes_for_installed_plugin(sp_gen, plugin):
    run = subprocess.run([sp_gen, "doctor", sys.executable, "--format", "json"], capture_output=True, text=True)
    steps = json.loads(run.stdout)["steps"]
    assert run.returncode == 0, steps
    details = {step["step"]: step["detail"] for step in steps if step["plugin"] in (None, str(plugin))}
    assert details["devices"] == f"{DEVICE}: 1"
    assert details["kernels"].startswith(f"{DEVICE}: ")
    assert f"{DEVICE}: 1" in details["import"]
