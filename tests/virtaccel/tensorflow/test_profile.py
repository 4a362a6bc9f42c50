"""A profile of training steps of a plugin over virtaccel in TensorBoard's own tools, with the times of the driver's fences."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tensorflow"))
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
