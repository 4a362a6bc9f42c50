"""A profile of training steps in TensorBoard's own tools: the converters of the package `xprof`, in an environment of its own."""

import pytest
from conftest import RELEASE
from profile_checks import Profile

pytestmark = pytest.mark.skipif(RELEASE < (2, 12), reason="the tools read profiles of TensorFlow 2.12 and later")

MODES = {
    "host-inline": {"SP_CPU_MEMORY": "host", "SP_CPU_STREAMS": "inline"},
    "opaque-async": {"SP_CPU_MEMORY": "opaque", "SP_CPU_STREAMS": "async"},
}


@pytest.fixture(scope="module", params=MODES)
def profile(request, tmp_path_factory):
    return Profile(tmp_path_factory.mktemp(request.param), MODES[request.param]), request.param


def test_overview_has_device_and_steps(profile):
    profile[0].check_overview()


def test_tables_have_time_of_device_and_names_of_nodes(profile):
    profile[0].check_ops()


def test_op_profile_has_device(profile):
    profile[0].check_op_profile()


def test_memory_viewer_has_peak_of_device(profile):
    profile[0].check_memory()


def test_trace_viewer_has_device_and_calls(profile):
    profile[0].check_trace_viewer()


def test_kernels_have_inputs_run_and_source(profile):
    profile, mode = profile
    profile.check_kernels()
    sources = {stats["kernel_source"] for _, stats in profile.kernels()}
    assert ("staged" in sources) == (mode == "opaque-async") and "own" in sources


def test_copies_have_direction_bytes_and_rate(profile):
    profile[0].check_copies()


def test_clock_of_queue_measures_commands(profile):
    profile[0].check_clock()


def test_recording_does_not_multiply_the_time_of_a_step(profile):
    """The shortest step with a session takes at most twice the longest one without: other programs run too."""
    profile, mode = profile
    if mode != "host-inline":
        pytest.skip("the steps of this mode are copies for the most part")
    assert min(profile.printed["seconds"]) <= 2 * max(profile.printed["without"])
