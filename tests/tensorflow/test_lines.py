"""The plugin's lines on stderr: one at most for a program that runs as it should, lists with `SP_LOG=debug`, none with `off`.

Each program runs in a process of its own, with the reference device in the mode of memory and streams that is given.
"""

import pytest

from conftest import DEVICE, RELEASE, run_program

LONGEST = 160
PROGRAMS = {
    "import": "import tensorflow",
    "train": f"""
import tensorflow as tf
with tf.device("/device:{DEVICE}:0"):
    x, y = tf.random.normal([8, 3], seed=1), tf.ones([8, 1])
    weights = tf.Variable(tf.ones([3, 1]))

@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.nn.relu(tf.matmul(x, weights)) - y))
    weights.assign(weights - 0.1 * tape.gradient(loss, weights))
    return loss

with tf.device("/device:{DEVICE}:0"):
    losses = [float(step()) for _ in range(10)]
assert losses[-1] < losses[0], losses
""",
}
MODES = {
    "host-inline": {},
    "opaque-async": {"SP_CPU_MEMORY": "opaque", "SP_CPU_STREAMS": "async"},
}
# From 2.19 to 2.21 TensorFlow exports no function of variables, so the ops of variables have no kernel.
LACKS_FUNCTIONS = (2, 19) <= RELEASE <= (2, 21)


def lines_of(program, mode, level="info"):
    """Returns the lines that the plugin prints with this value of SP_LOG."""
    if program == "train" and RELEASE < (2, 6):
        pytest.skip("2.5 has no functions for variables on a plugin's device")
    environment = {"TF_CPP_MIN_LOG_LEVEL": "3", "SP_LOG": level, **MODES[mode]}
    run = run_program(PROGRAMS[program], environment)
    assert run.returncode == 0, run.stderr[-3000:]
    return [line for line in run.stderr.splitlines() if line.startswith("plugin")]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_program_that_runs_gets_one_short_line_at_most(program, mode):
    lines = lines_of(program, mode)
    assert len(lines) <= 1 and all(len(line) <= LONGEST for line in lines), lines
    assert all(line.startswith("plugin myaccel: ") for line in lines), lines


def test_lists_have_level_debug():
    lines = lines_of("train", "opaque-async", "debug")
    assert all(line.startswith("plugin myaccel: ") for line in lines), lines
    assert any(f" kernels with TensorFlow {RELEASE[0]}.{RELEASE[1]}" in line for line in lines), lines
    assert sum(line.endswith("runs on the host through copies of device memory") for line in lines) > 3, lines
    assert any("ResourceScatterUpdate" in line and ", since TF_" in line for line in lines) == LACKS_FUNCTIONS, lines


def test_level_off_gives_no_line():
    assert not lines_of("train", "opaque-async", "off")
