"""The reference device in each mode of memory and streams that the environment selects, in processes of their own.

Without `SP_EVERY_MODE=1` in the environment only a few of the tests run, in the mode that differs most from the CPU.
"""

import functools
import json
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import RELEASE

PROGRAM = pathlib.Path(__file__).with_name("modes_program.py")
MODES = {
    "host-inline": {"SP_CPU_MEMORY": "host", "SP_CPU_STREAMS": "inline"},
    "opaque-inline": {"SP_CPU_MEMORY": "opaque", "SP_CPU_STREAMS": "inline"},
    "host-async": {"SP_CPU_MEMORY": "host", "SP_CPU_STREAMS": "async", "SP_CPU_JITTER": "200"},
    "opaque-async": {"SP_CPU_MEMORY": "opaque", "SP_CPU_STREAMS": "async", "SP_CPU_JITTER": "200"},
}
# In these releases core's own kernels for AssignAddVariableOp and AssignSubVariableOp use device memory from the host,
# and the C API has no function with which a plugin could change a variable.
CORE_UPDATES_VARIABLES = (2, 19) <= RELEASE <= (2, 21)

IS_COMPLETE = os.environ.get("SP_EVERY_MODE") == "1"
each_mode = pytest.mark.parametrize("mode", MODES)
complete = pytest.mark.skipif(not IS_COMPLETE, reason="SP_EVERY_MODE=1 is not set")
each_execution = pytest.mark.parametrize("execution", ["function", "eager"])
needs_keras = pytest.mark.skipif(RELEASE < (2, 11), reason="Keras' older optimizers use fused kernels that only core has")
needs_variables = pytest.mark.skipif(RELEASE < (2, 6), reason="2.5 has no functions for variables on a plugin's device")


def start(mode, *arguments, **variables):
    """Runs a function of the program in a mode; returns the finished process."""
    environment = {**os.environ, **MODES[mode], **variables}
    command = [sys.executable, PROGRAM, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)


def results(mode, *arguments, **variables):
    """Returns what a function of the program prints."""
    process = start(mode, *arguments, **variables)
    assert process.returncode == 0, process.stdout[-1000:] + process.stderr[-3000:]
    return json.loads(process.stdout.splitlines()[-1])


def assert_equal(found):
    assert found["device"] == pytest.approx(found["cpu"], rel=1e-4, abs=1e-4)


@pytest.mark.skipif(IS_COMPLETE, reason="the tests below run each mode")
def test_opaque_asynchronous_device_computes_trains_and_restores():
    found = results("opaque-async", "short")
    for losses in found.pop("train_keras").values():
        assert losses["device"][9] < losses["device"][0]
        assert_equal(losses)
    for result in found.values():
        assert_equal(result)


@pytest.mark.skipif(RELEASE < (2, 8), reason="2.6 and 2.7 pass no tensor of another device type to a function")
def test_constants_of_new_functions_overwrite_no_inputs_of_pending_kernels():
    found = results("opaque-async", "new_functions", SP_CPU_JITTER="3000")
    assert found["device"] == found["cpu"]


@functools.cache
def everything(mode):
    """Returns the results of a mode."""
    return results(mode, "everything")


@complete
@each_mode
def test_ops_give_results_of_cpu(mode):
    assert_equal(everything(mode)["compute"])


@complete
@each_mode
@needs_variables
def test_losses_of_assigned_variables_are_those_of_cpu(mode):
    for run, losses in everything(mode)["train"].items():
        assert losses["device"][-1] < losses["device"][0], run
        assert_equal(losses)


@complete
@each_mode
@each_execution
@needs_keras
def test_losses_of_keras_are_those_of_cpu(mode, execution):
    for losses in everything(mode)[f"train_keras {execution}"].values():
        assert losses["device"][9] < losses["device"][0]
        assert_equal(losses)


@complete
@each_mode
@each_execution
@needs_keras
def test_training_continues_from_checkpoint_of_device_or_cpu(mode, execution):
    for run, losses in everything(mode)[f"resume_keras {execution}"].items():
        assert losses["device"] == pytest.approx(losses["cpu"], rel=1e-4, abs=1e-4), run


@complete
@each_mode
@needs_variables
def test_checkpoint_restores_variables(mode):
    assert_equal(everything(mode)["checkpoint"])


@complete
@pytest.mark.parametrize("memory", ["host", "opaque"])
@needs_variables
def test_peak_memory_of_asynchronous_device_is_within_5_percent_of_inline(memory):
    inline, asynchronous = (everything(f"{memory}-{streams}")["peak_memory"] for streams in ("inline", "async"))
    # The peak is that of three tensors of 4 MiB at least.
    assert 12 << 20 <= asynchronous <= 1.05 * inline, (asynchronous, inline)


@pytest.mark.parametrize("mode", ["opaque-inline", "host-async"] if IS_COMPLETE else ["opaque-inline"])
@pytest.mark.skipif(not CORE_UPDATES_VARIABLES, reason="the plugin has kernels that change variables")
def test_update_that_no_plugin_can_make_and_python_does_not_replace_is_error_that_names_another(mode):
    found = results(mode, "update")
    remedies = ["variable.assign(variable + value)", "variable.assign(variable - value)", "tf.gather(variable.read_value(), indices)",
                "variable.assign(tf.tensor_scatter_nd_add(variable, tf.expand_dims(indices, -1), updates))", "variable.assign(variable - rate * gradient)"]
    assert len(found["errors"]) == len(remedies), found
    for error, remedy in zip(found["errors"], remedies):
        assert error.startswith("UnimplementedError") and f"use {remedy}" in error, error
    assert found["value"] == 24.0


@pytest.mark.parametrize(
    ("mode", "of_updates"),
    [("host-inline", "left to TensorFlow's own kernels"), ("opaque-async", "an error that names what to use instead")],
)
@pytest.mark.skipif(not CORE_UPDATES_VARIABLES, reason="the plugin has kernels that change variables")
def test_line_states_what_becomes_of_updates_on_device(mode, of_updates):
    process = start(mode, "update", SP_LOG="debug")
    of_rows = "an error that names what to use instead"
    for op, consequence in [("AssignAddVariableOp, ", of_updates), ("ResourceScatterUpdate", of_rows)]:
        lines = [line for line in process.stderr.splitlines() if op in line and ", since TF_" in line]
        assert lines and all(f": {consequence}, since TF_" in line for line in lines), process.stderr[-3000:]


@complete
@each_mode
def test_tensors_are_copied_between_devices(mode):
    assert_equal(results(mode, "copy_between_devices", SP_CPU_DEVICES="2"))


@complete
def test_host_enqueues_ahead_of_device():
    times = results("host-async", "run_ahead", SP_CPU_JITTER="30000")
    assert times["enqueued"] < times["done"] / 3, times


@pytest.mark.parametrize("command", ["3", "5"] if IS_COMPLETE else ["5"])
def test_late_failure_of_kernel_is_error_that_names_op(command):
    process = start("host-async", "fail_late", SP_CPU_JITTER="2000", SP_CPU_FAIL=command)
    assert process.returncode == 0, process.stderr[-3000:]
    found = json.loads(process.stdout.splitlines()[-1])
    assert all("Error" in error for error in found["errors"]), found
    # Up to 2.21 core replaces the message of a synchronization by its own.
    assert "Relu T=TF_FLOAT (node Relu, output [4, 5])" in found["errors"][1], found
    assert "a stream has failed: INTERNAL: Relu T=TF_FLOAT" in process.stderr
    assert process.stderr.count("a stream has failed") == 1 and "SP_SYNC=1" in process.stderr, process.stderr[-3000:]
    assert found["after"] == 3.0


@complete
def test_late_failure_of_copy_to_host_gives_error_or_nan():
    found = results("host-async", "fail_late", SP_CPU_JITTER="2000", SP_CPU_FAIL="6")
    first, second = found["errors"]
    # Before 2.18 core ends the process if a copy returns an error.
    assert ("copy of 80 bytes to the host" if RELEASE >= (2, 18) else "nan nan") in first, first
    assert "Error" in second


@complete
def test_failure_in_staged_chain_names_command_and_leaves_cpu_usable():
    found = results("opaque-async", "fail", SP_CPU_FAIL="40")
    assert "command 40 has failed" in found["error"], found
    assert found["after"] == 3.0


@pytest.mark.parametrize("sync, index", [("0", 1), ("1", 0)] if IS_COMPLETE else [("1", 0)])
def test_with_sync_a_staged_kernel_waits_for_its_copy_to_the_device(sync, index):
    # The constant is copied to the device by command 1, the first result by command 3.
    # A call that runs behind has ended before the failure: without SP_SYNC no later call has to report it.
    found = results("opaque-async", "failing_op", SP_CPU_JITTER="2000", SP_CPU_FAIL="3", SP_SYNC=sync, SP_BEHIND=sync)
    assert found["index"] == index and "command 3 has failed" in found["error"], found


@complete
def test_time_limit_names_op_that_does_not_complete():
    process = start("host-async", "fail_late", SP_CPU_JITTER="100000000", SP_QUEUE_TIMEOUT="0.5")
    assert process.returncode == 0, process.stderr[-3000:]
    assert "not complete after 500ms (SP_QUEUE_TIMEOUT)" in process.stderr


@complete
def test_forbidden_copies_are_errors_in_opaque_memory_only():
    opaque = start("opaque-inline", "compute", SP_FORBID_STAGED="1")
    assert opaque.returncode != 0 and "SP_FORBID_STAGED=1 forbids" in opaque.stderr
    assert_equal(results("host-async", "compute", SP_FORBID_STAGED="1"))


@complete
def test_invalid_mode_is_one_line_and_default():
    process = start("host-inline", "compute", SP_CPU_MEMORY="gpu")
    assert process.returncode == 0
    assert process.stderr.count("SP_CPU_MEMORY=gpu is invalid: expected host or opaque; host is used") == 1
