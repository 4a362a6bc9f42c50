"""Failures of the driver during training steps in TensorFlow: no memory, failing and hanging launches.

Each device has a stream of its own, which a failure ends. So a program has many devices, and each step runs on another one.
With SP_EVERY=1 each allocation and launch of a step fails once, in eager mode and in a tf.function; else some of them.
Each allocation of a tensor fails once, without a block of TensorFlow's allocator around it.
"""

import os
import re

import pytest
from test_virtaccel import DRIVER, HEAD, run

EVERY = os.environ.get("SP_EVERY") == "1"
STEPS = 12 if EVERY else 4
MODES = ["step", "tf.function(step)"] if EVERY else ["step"]

STEP = f"""
import ctypes
driver = ctypes.CDLL({DRIVER!r})
driver.va_inject.argtypes = [ctypes.c_int, ctypes.c_uint64]
ALLOCATION, LAUNCH = 1, 2
def inject(fault, n):
    assert driver.va_inject(fault, n) == 0
random = np.random.default_rng(1)
x, w, v = (random.normal(size=size).astype(np.float32) for size in ((64, 32), (32, 16), (16, 4)))
def step(x, w, v):
    with tf.GradientTape() as tape:
        tape.watch((w, v))
        loss = tf.reduce_mean(tf.matmul(tf.nn.relu(tf.matmul(x, w)), v) ** 2)
    dw, dv = tape.gradient(loss, (w, v))
    return loss, w - 0.1 * dw, v - 0.1 * dv
def train(function, device):
    with tf.device(device):
        loss, *updated = function(tf.constant(x), tf.constant(w), tf.constant(v))
        again, *_ = function(tf.constant(x), *updated)
    return float(loss.numpy()), float(again.numpy())
expected = train(step, "/CPU:0")
def outcome(function, device):
    try:
        losses = train(function, device)
    except tf.errors.OpError as error:
        return f"{{type(error).__name__}}: {{error}}"
    # Up to 2.17 a failed copy to the host gives NaN, and the next op of the device raises the error.
    if np.isnan(losses).any():
        return error_of(lambda: train(function, device)) or "NaN without an error"
    return bool(np.allclose(losses, expected, rtol=1e-4))
"""

SWEEP = """
found = []
for n in range(1, STEPS + 1):
    inject(FAULT, n)
    found.append(outcome(MODE, f"/device:VACCEL:{n}"))
inject(0, 0)
found.append(outcome(MODE, "/device:VACCEL:0"))
found.append(outcome(MODE, "/CPU:0"))
print(json.dumps(found))
"""


def sweep(fault, mode):
    """Runs training steps of which the n-th fails at the n-th allocation or launch; returns what each gave, and the last two."""
    program = STEP + SWEEP.replace("STEPS", str(STEPS)).replace("FAULT", fault).replace("MODE", mode)
    found, _ = run(program, VIRTACCEL_DEVICES=STEPS + 1)
    *steps, other_device, cpu = found
    assert other_device is True and cpu is True, found
    return steps


@pytest.mark.parametrize("mode", MODES)
def test_launch_that_fails_in_a_training_step_is_an_error_with_the_name_of_the_op(mode):
    steps = sweep("LAUNCH", mode)
    failed = [it for it in steps if it is not True]
    assert len(failed) >= 4, steps
    for message in failed:
        assert message is not False, steps
        assert "VA_ERROR_LAUNCH_FAILED" in message and ("MatMul" in message or "Relu" in message), message


@pytest.mark.parametrize("mode", MODES)
def test_allocation_that_fails_in_a_training_step_is_an_error_or_another_attempt(mode):
    for outcome in sweep("ALLOCATION", mode):
        # TensorFlow's allocator asks again for less memory.
        assert outcome is True or outcome and outcome.startswith(("ResourceExhausted", "Internal")), outcome


EVERY_ALLOCATION = """
train(MODE, "/device:VACCEL:0")
found = []
# Steps that allocate less often than that have no failure.
while found[-5:] != [True] * 5:
    inject(ALLOCATION, len(found) + 1)
    found.append(outcome(MODE, "/device:VACCEL:0"))
inject(0, 0)
found.append(outcome(MODE, "/device:VACCEL:0"))
print(json.dumps(found))
"""

OPS = {"MatMul", "Relu", "Pow", "Mean", "Tile", "RealDiv", "Mul", "Sub", "ReluGrad"}


@pytest.mark.parametrize("mode", ["step", "tf.function(step)"])
def test_each_allocation_of_a_tensor_that_fails_is_an_error_that_names_the_op(mode):
    program = STEP + EVERY_ALLOCATION.replace("MODE", mode)
    (*steps, last), _ = run(program, os.environ["SP_VACCEL_PER_TENSOR"])
    failed = [it for it in steps if it is not True]
    assert False not in failed, steps
    copied = [it for it in failed if it.startswith("InternalError: Failed copying input tensor")]
    assert len(failed) >= 25 and last is True, steps
    # Core names the op that gets the copy of a constant.
    assert copied and all("to run _EagerConst: Dst tensor is not initialized" in it for it in copied), copied
    named = [name_of_op(it) for it in failed if it not in copied]
    # Some allocations succeed at a second attempt, after the queue has passed memory that TensorFlow had freed.
    assert len(set(named)) >= 7, named
    assert mode != "step" or set(named) <= OPS, named


def name_of_op(message):
    """Returns the name of the op in eager mode, and that of the node in a graph."""
    assert message.startswith("ResourceExhaustedError: ") and "OOM when allocating tensor" in message, message
    return re.search(r"\[Op:(\w+)\]|\{\{node ([^}]+)\}\}", message).group(1, 2)[message.count("{{node ")]


# `tests/memcheck` runs it under valgrind: the first and the last step compute, the others fail.
PROGRAM_OF_MEMCHECK = HEAD + STEP + """
found = [outcome(step, "/device:VACCEL:0")]
for n in range(1, 24, 3):
    inject(ALLOCATION, n)
    found.append(outcome(step, "/device:VACCEL:0"))
inject(ALLOCATION, 0)
inject(LAUNCH, 3)
found.append(outcome(step, "/device:VACCEL:0"))
inject(0, 0)
found.append(outcome(tf.function(step), "/device:VACCEL:1"))
print(json.dumps(found))
"""


@pytest.mark.parametrize("mebibytes", [1, 2, 4, 6] if EVERY else [2])
def test_device_without_memory_is_an_error_that_names_the_op_and_smaller_ops_go_on(mebibytes):
    program = """
def grow():
    y = tf.ones((256, 256))
    parts = []
    for _ in range(64):
        y = tf.nn.relu(tf.matmul(y, y * 0.01))
        parts.append(y)
    return tf.add_n(parts).numpy()
message = error_of(lambda: on_device(grow))
small = on_device(lambda: tf.nn.relu(tf.constant([-1.0, 2.0]))).numpy().tolist()
print(json.dumps([message, small]))
"""
    (message, small), _ = run(program, VIRTACCEL_MEMORY=mebibytes << 20)
    assert message and message.startswith("ResourceExhausted"), message
    assert any(op in message for op in ("MatMul", "Relu", "Mul", "Fill", "AddN")), message
    assert small == [0.0, 2.0]


def test_launch_that_hangs_is_an_error_after_the_time_limit():
    program = """
x = on_device(lambda: tf.constant([1.0, -1.0]))
start = time.monotonic()
y = on_device(lambda: tf.nn.relu(x))
first = error_of(lambda: y.numpy())
message = error_of(lambda: on_device(lambda: tf.nn.relu(y)).numpy())
elapsed = time.monotonic() - start
second = on_device(lambda: tf.nn.relu(tf.constant([-1.0, 2.0])), 1).numpy().tolist()
with tf.device("/CPU:0"):
    cpu = (tf.constant([1.0]) + 1.0).numpy().tolist()
print(json.dumps([message, elapsed, second, cpu]))
"""
    (message, elapsed, second, cpu), _ = run(program, VIRTACCEL_HANG_LAUNCH=1, SP_QUEUE_TIMEOUT=1)
    assert message and "Relu" in message, message
    assert elapsed < 60 and second == [0.0, 2.0] and cpu == [2.0]
