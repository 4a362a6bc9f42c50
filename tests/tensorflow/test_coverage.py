"""`sp-gen coverage` names the kernel of each op of an unchanged program."""

import json
import os
import subprocess
import sys

import pytest

from conftest import DEVICE

SP_GEN = os.environ.get("SP_GEN")
pytestmark = pytest.mark.skipif(not SP_GEN, reason="SP_GEN does not name sp-gen")

PROGRAM = """
import tensorflow as tf

print("begins")
x, w = tf.random.uniform((64, 32)), tf.Variable(tf.random.uniform((32, 16)))

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.relu(x @ w))
    w.assign_sub(0.01 * tape.gradient(y, w))
    return y

for _ in range(5):
    step(x)
for number in tf.data.Dataset.range(3):
    tf.exp(tf.cast(number, tf.float32))
with tf.device("/CPU:0"):
    tf.math.log(x)
tf.linalg.solve(tf.eye(3), tf.ones((3, 1)))
"""


def coverage(program, options=(), **variables):
    """Returns exit status, report and stderr of `sp-gen coverage` for a program."""
    command = [SP_GEN, "coverage", "--format", "json", *options, "--", sys.executable, *program]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables})
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


@pytest.fixture(scope="module")
def rows():
    """Returns the rows of the program by op."""
    status, report, stderr = coverage(["-c", PROGRAM])
    assert status == 0, stderr
    assert "sitecustomize" not in stderr
    assert "begins\n" in stderr and report["device_types"] == [DEVICE]
    return {row["op"]: row for row in report["rows"]}


def test_each_op_has_the_kernel_that_computed_it(rows):
    expected = {
        "Relu": ("own", "myaccel"),
        "MatMul": ("reference", "sp_cpu"),
        "Exp": ("reference", "sp_cpu"),
        "RangeDataset": ("pipeline", None),
        "Log": ("cpu", None),
        "MatrixSolve": ("absent", None),
    }
    assert {op: (rows[op]["class"], rows[op]["owner"]) for op in expected} == expected


def test_calls_are_those_of_the_program(rows):
    assert (rows["Relu"]["calls"], rows["MatMul"]["calls"], rows["Exp"]["calls"]) == (5, 10, 3)
    assert (rows["Log"]["calls"], rows["MatrixSolve"]["calls"]) == (1, 1)
    assert all(row["nanoseconds"] > 0 for row in (rows["Relu"], rows["MatMul"], rows["Log"]))


def test_staging_copies_are_counted():
    status, report, stderr = coverage(["-c", PROGRAM], SP_CPU_MEMORY="opaque")
    assert status == 0, stderr
    product = next(row for row in report["rows"] if row["op"] == "MatMul")
    assert (product["class"], product["staged_calls"]) == ("staged", 10)
    assert product["staged_bytes"] > 10 * 4 * (64 * 32)


SCRIPT = """
import sys
import tensorflow as tf

print(customized, sys.argv[1:])
# Nothing has initialized the devices before the program does.
tf.config.threading.set_inter_op_parallelism_threads(2)
tf.nn.relu(tf.ones(3))
raise SystemExit(4)
"""


def test_program_that_fails_has_its_sitecustomize_arguments_and_ops(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import builtins\nbuiltins.customized = 'customized'\n")
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    status, report, stderr = coverage([script, "--epochs", "3"], PYTHONPATH=str(tmp_path))
    assert status == 1, stderr
    assert "customized ['--epochs', '3']\n" in stderr and "the program failed (exit status: 4)" in stderr
    assert [row["calls"] for row in report["rows"] if row["op"] == "Relu"] == [1]
