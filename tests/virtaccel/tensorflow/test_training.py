"""Training and checkpoints on virtaccel's device, with opaque memory and asynchronous queues: the losses are the CPU's.

The programs are those of the reference device (tests/tensorflow/modes_program.py). The plugin here has an optimizer, which
replaces updates of variables in graphs of 2.19 to 2.21. Without `SP_EVERY=1` in the environment only a few of the tests run.
"""

import functools
import json
import os
import pathlib
import subprocess
import sys

import pytest
import tensorflow as tf

PROGRAM = pathlib.Path(__file__).parents[2] / "tensorflow" / "modes_program.py"
RELEASE = tuple(map(int, tf.__version__.split(".")[:2]))
# A plugin cannot change a variable there, and TensorFlow's own kernels would use device memory from the host.
CORE_UPDATES_VARIABLES = (2, 19) <= RELEASE <= (2, 21)

IS_COMPLETE = os.environ.get("SP_EVERY") == "1"
complete = pytest.mark.skipif(not IS_COMPLETE, reason="SP_EVERY=1 is not set")
needs_keras = pytest.mark.skipif(RELEASE < (2, 11), reason="Keras' older optimizers use fused kernels that only core has")
each_jitter = pytest.mark.parametrize("jitter", [0, 500])
each_execution = pytest.mark.parametrize("execution", ["function", "eager"])


def start(jitter, *arguments):
    """Runs a function of the program on the plugin's device; returns the finished process."""
    plugin = {"SP_DEVICE": "/device:VACCEL:0", "SP_LIBRARY": os.environ["SP_VACCEL_OPTIMIZER"]}
    environment = {**os.environ, **plugin, "VIRTACCEL_JITTER": str(jitter)}
    command = [sys.executable, PROGRAM, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)


def results(jitter, *arguments):
    """Returns what a function of the program prints."""
    process = start(jitter, *arguments)
    assert process.returncode == 0, process.stdout[-1000:] + process.stderr[-3000:]
    return json.loads(process.stdout.splitlines()[-1])


@functools.cache
def everything(jitter):
    """Returns the results with a delay. In graphs the plugin's optimizer replaces updates, in eager mode its Python package."""
    return results(jitter, "everything", *(["replace"] if CORE_UPDATES_VARIABLES else []))


def assert_equal(runs):
    assert runs
    for name, found in runs.items():
        assert found["device"] == pytest.approx(found["cpu"], rel=1e-4, abs=1e-4), name


@pytest.mark.skipif(IS_COMPLETE, reason="the tests below run everything")
def test_device_computes_trains_and_restores():
    found = results(500, "short")
    assert_equal(found.pop("train_keras"))
    assert_equal(found)


@complete
@each_jitter
def test_ops_give_results_of_cpu(jitter):
    assert_equal({"ops": everything(jitter)["compute"]})


@complete
@each_jitter
def test_losses_of_assigned_variables_are_those_of_cpu(jitter):
    assert_equal(everything(jitter)["train"])


@complete
@needs_keras
@each_jitter
@each_execution
def test_losses_of_keras_are_those_of_cpu(jitter, execution):
    runs = everything(jitter)[f"train_keras {execution}"]
    assert_equal(runs)
    assert all(found["device"][9] < found["device"][0] for found in runs.values()), runs


@complete
@needs_keras
@each_jitter
@each_execution
def test_training_continues_from_checkpoint_of_device_or_cpu(jitter, execution):
    assert_equal(everything(jitter)[f"resume_keras {execution}"])


@complete
@each_jitter
def test_checkpoint_restores_variables(jitter):
    assert_equal({"variables": everything(jitter)["checkpoint"]})


@complete
@pytest.mark.skipif(not CORE_UPDATES_VARIABLES, reason="the plugin has kernels that change variables")
def test_update_in_eager_mode_is_error_that_names_assign_and_changes_nothing():
    found = results(500, "update")
    add, subtract, *others = found["errors"]
    assert "use variable.assign(variable + value)" in add and "use variable.assign(variable - value)" in subtract, found
    assert len(others) == 3 and all(error.startswith("UnimplementedError") for error in others), found
    assert found["value"] == 24.0
