"""SP_COMPARE: the kernels of tests/examples/compare.rs beside those of the reference."""

import json

import pytest

from conftest import example, run_program

PREFACE = """
import json, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf
from tensorflow.python.framework import load_library
load_library.load_pluggable_device_library(LIBRARY)
tf.config.set_soft_device_placement(False)

def outcome(function):
    try:
        return function().numpy().tolist()
    except tf.errors.OpError as error:
        return f"{type(error).__name__}: {error.message}"
"""

PROGRAM = PREFACE + """
answers = {}
with tf.device("/device:COMPARE:0"):
    x = tf.constant([-1.0, 0.5, 3.0])
    integers = tf.constant([[1, 2], [-7, -7]], tf.int64)
    # Two ops before the last one, whose result has no other user: in a function it is computed in place.
    programs = {
        "right": lambda: tf.raw_ops.Neg(x=tf.raw_ops.Exp(x=tf.raw_ops.Neg(x=x))),
        "relu": lambda: tf.raw_ops.Relu(features=tf.raw_ops.Neg(x=tf.raw_ops.Neg(x=x))),
        "integers": lambda: tf.raw_ops.Square(x=integers),
        "tanh": lambda: tf.raw_ops.Tanh(x=x),
        "sigmoid": lambda: tf.raw_ops.Sigmoid(x=x),
        "split": lambda: tf.raw_ops.Split(axis=0, value=tf.concat([x, x], 0), num_split=2)[1],
        "shape": lambda: tf.raw_ops.Square(x=x),
    }
    for mode, wrap in ("eager", lambda it: it), ("function", tf.function):
        answers[mode] = {name: outcome(wrap(program)) for name, program in programs.items()}
print(json.dumps(answers))
"""


def answers_of(program, compare, memory="host", streams="inline"):
    """Returns what the program prints, and its lines on stderr."""
    environment = {"SP_COMPARE": compare, "SP_CPU_MEMORY": memory, "SP_CPU_STREAMS": streams}
    run = run_program(program, environment, LIBRARY=example("compare"))
    if "visible_device_list" in run.stderr:
        pytest.skip("this release supports one plugin only, and another is installed")
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1]), run.stderr


def answers(*arguments):
    return answers_of(PROGRAM, *arguments)


@pytest.mark.parametrize("streams", ["inline", "async"])
@pytest.mark.parametrize("memory", ["host", "opaque"])
def test_wrong_kernels_are_errors_that_name_the_first_wrong_element(memory, streams):
    found, _ = answers("1", memory, streams)
    for mode in found.values():
        assert mode["right"] == pytest.approx([-2.718282, -0.606531, -0.049787], rel=1e-4)
        assert "Relu T=TF_FLOAT" in mode["relu"] and mode["relu"].startswith("InternalError")
        assert "output 0, `activations`, TF_FLOAT [3]: 1 of 3 elements differ" in mode["relu"]
        assert "first element [0]: expected 0.0, got -0.5" in mode["relu"]
        assert "TF_INT64 [2, 2]: 2 of 4 elements differ" in mode["integers"]
        assert "first element [1, 0]: expected 49, got 8" in mode["integers"]
        assert "first element [2]: expected 0.99505" in mode["tanh"]
        assert "3 of 3 elements differ" in mode["sigmoid"]
        assert "TF_FLOAT [3, 1]: the shape differs from the reference kernel's, expected [3]" in mode["shape"]
        assert "output 1, `output`, TF_FLOAT [3]: 3 of 3 elements differ" in mode["split"]


def test_without_the_variable_nothing_is_compared():
    found, stderr = answers("0")
    for mode in found.values():
        assert mode["relu"] == [-0.5, 0.5, 3.0]
        assert mode["integers"] == [[1, 4], [8, 8]]
    assert "SP_COMPARE" not in stderr and "elements differ" not in stderr


def test_warnings_leave_the_results_as_they_are():
    found, stderr = answers("warn")
    assert found["function"]["relu"] == [-0.5, 0.5, 3.0]
    assert "Relu T=TF_FLOAT" in stderr and "expected 0.0, got -0.5" in stderr


TRAINING = PREFACE + """
with tf.device("/device:COMPARE:0"):
    x = tf.constant([[1.0, 2.0], [-1.0, 0.5], [0.3, -0.7], [-2.0, 1.0]])
    labels = tf.constant([[1.0], [-1.0], [1.0], [-1.0]])
    weights = tf.constant([[0.1], [-0.2]])

    def step(weights):
        errors = tf.exp(-(labels * tf.matmul(x, weights)))
        return tf.reduce_sum(errors), weights + 0.1 * tf.matmul(x, labels * errors, transpose_a=True)

    losses = []
    for step in step, tf.function(step):
        for _ in range(5):
            loss, weights = step(weights)
            losses.append(float(loss))
print(json.dumps(losses))
"""


def test_training_with_right_kernels_gives_no_report():
    losses, stderr = answers_of(TRAINING, "1")
    assert losses == sorted(losses, reverse=True) and losses[-1] < losses[0]
    assert "SP_COMPARE compares " in stderr
    assert "elements differ" not in stderr and "a call is not compared" not in stderr
