"""A profile of training steps of a plugin over OpenCL in TensorBoard's own tools, with the times of OpenCL's events."""

import pathlib
import sys

import pytest

from test_opencl import PLUGIN

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tensorflow"))
from profile_checks import Profile  # noqa: E402


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    environment = {"SP_DEVICE": "/device:CLPLUGIN:0", "SP_LIBRARY": PLUGIN}
    return Profile(tmp_path_factory.mktemp("profile"), environment)


def test_tools_have_device(profile):
    profile.check()


def test_events_of_opencl_measure_commands(profile):
    profile.check_clock()
    sources = {stats["kernel_source"] for _, stats in profile.kernels() if stats["clock"] == "device"}
    assert sources == {"own"}
