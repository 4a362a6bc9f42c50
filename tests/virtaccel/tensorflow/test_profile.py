"""A profile of training steps of a plugin over virtaccel in TensorBoard's own tools, with the times of the driver's fences."""

import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tensorflow"))
import xspace  # noqa: E402
from profile_checks import Profile  # noqa: E402


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    environment = {"SP_DEVICE": "/device:VACCEL:0", "SP_LIBRARY": os.environ["SP_VACCEL_OPTIMIZER"]}
    return Profile(tmp_path_factory.mktemp("profile"), environment)


def test_tools_have_device(profile):
    profile.check()


def test_fences_of_driver_measure_commands(profile):
    profile.check_clock()
    sources = {(stats["kernel_source"], stats["clock"]) for _, stats in profile.kernels()}
    assert {("own", "device"), ("staged", "host")} <= sources


NO_DEVICE = """
import os, sys
import tensorflow as tf
from tensorflow.python.framework import load_library
load_library.load_pluggable_device_library(os.environ["SP_VACCEL_OPTIMIZER"])
assert not tf.config.list_physical_devices("VACCEL")
tf.profiler.experimental.start(sys.argv[1])
# Another plugin may be installed.
with tf.device("/CPU:0"):
    tf.nn.relu(tf.constant([-1.0])).numpy()
tf.profiler.experimental.stop()
"""


def test_session_without_device_has_no_plane(tmp_path):
    command = [sys.executable, "-c", NO_DEVICE, tmp_path]
    process = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "VIRTACCEL_DEVICES": "0"}, timeout=300)
    assert process.returncode == 0, process.stderr[-3000:]
    (path,) = tmp_path.glob("**/*.xplane.pb")
    planes = xspace.planes(path)
    assert "/host:CPU" in planes and "/device:GPU:0" not in planes
