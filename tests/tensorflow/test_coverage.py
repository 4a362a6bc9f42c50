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
casts = tf.function(lambda x: (tf.cast(tf.cast(x, tf.float64) + 1, tf.int32), tf.cast(tf.nn.relu(x), tf.float64)))
for _ in range(2):
    casts(x)
with tf.device("/CPU:0"):
    tf.math.log(x)
tf.linalg.solve(tf.eye(3), tf.ones((3, 1)))
"""


def coverage(program, options=(), **variables):
    """Returns exit status, report and stderr of `sp-gen coverage` for a program."""
    return coverage_of([*options, "--", sys.executable, *program], **variables)


def coverage_of(arguments, **variables):
    command = [SP_GEN, "coverage", "--format", "json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables})
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


@pytest.fixture(scope="module")
def report():
    """Returns the report of the program."""
    status, report, stderr = coverage(["-c", PROGRAM])
    assert status == 0, stderr
    assert "sitecustomize" not in stderr
    assert "begins\n" in stderr and report["device_types"] == [DEVICE]
    return report


@pytest.fixture(scope="module")
def rows(report):
    """Returns the rows of the program by op."""
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
    assert (rows["Relu"]["calls"], rows["MatMul"]["calls"], rows["Exp"]["calls"]) == (7, 10, 3)
    assert (rows["Log"]["calls"], rows["MatrixSolve"]["calls"]) == (1, 1)
    assert all(row["nanoseconds"] > 0 for row in (rows["Relu"], rows["MatMul"], rows["Log"]))


def test_kernels_of_all_types_have_those_of_the_nodes(report):
    casts = {row["types"]: row["calls"] for row in report["rows"] if row["op"] == "Cast" and row["class"] == "reference"}
    # Two calls of a graph with three nodes, three calls in eager mode.
    assert casts == {"DstT=double SrcT=float": 4, "DstT=int32 SrcT=double": 2, "DstT=float SrcT=int64": 3}


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


MODEL = """
import sys
import tensorflow as tf

class Model(tf.Module):
    def __init__(self):
        self.weights = tf.Variable(tf.ones((4, 3)))

    @tf.function(input_signature=[tf.TensorSpec((None, 4), name="x"), tf.TensorSpec((None,), tf.int32, name="rows")])
    def classify(self, x, rows):
        return {"classes": tf.nn.relu(tf.gather(x, rows) @ self.weights), "solved": tf.linalg.solve(2 * tf.eye(4), tf.transpose(x))}

    @tf.function(input_signature=[tf.TensorSpec((), tf.string, name="text")])
    def measure(self, text):
        return {"length": tf.strings.length(text)}

    @tf.function(input_signature=[tf.TensorSpec(None, name="x")])
    def any_rank(self, x):
        return {"y": tf.exp(x)}

    @tf.function(input_signature=[tf.TensorSpec((None,), name="x")])
    def many(self, x):
        return {"y": tf.ensure_shape(x, (7,))}

model = Model()
signatures = {name: getattr(model, name) for name in sys.argv[2:]}
tf.saved_model.save(model, sys.argv[1], signatures=signatures)
"""


def saved_model(folder, *signatures):
    """Returns the arguments of `coverage` for a SavedModel with these signatures."""
    subprocess.run([sys.executable, "-c", MODEL, folder, *signatures], check=True, capture_output=True)
    return [folder, "--python", sys.executable]


def test_signatures_of_a_saved_model_are_called_after_its_load(tmp_path):
    status, report, stderr = coverage_of(saved_model(tmp_path / "model", "classify", "measure"))
    assert status == 0, stderr
    assert (report["device_types"], report["unknown_classes"]) == ([DEVICE], [])
    rows = {row["op"]: row for row in report["rows"]}
    classes = {op: rows[op]["class"] for op in ("Relu", "MatMul", "MatrixSolve")}
    assert classes == {"Relu": "own", "MatMul": "reference", "MatrixSolve": "absent"}
    assert [rows[op]["calls"] for op in (*classes, "StringLength")] == [3, 3, 3, 3], rows
    # A SavedModel omits attributes with their default.
    assert rows["Transpose"]["types"] == "T=float Tperm=int32"
    assert not {"RestoreV2", "AssignVariableOp"} & set(rows), rows


def test_signature_that_cannot_be_called_is_one_line_and_the_others_are_called(tmp_path):
    status, report, stderr = coverage_of(saved_model(tmp_path / "model", "classify", "any_rank", "many"))
    assert status == 1, stderr
    assert "sp-gen coverage: signature any_rank: ValueError: not called, since the rank of its input x is not stated\n" in stderr
    assert "sp-gen coverage: signature many: " in stderr and "Traceback" not in stderr, stderr
    assert [row["calls"] for row in report["rows"] if row["op"] == "MatMul"] == [3]


def test_saved_model_without_signature_or_with_damage_has_status_2(tmp_path):
    arguments = saved_model(tmp_path / "model")
    status, report, stderr = coverage_of(arguments)
    assert (status, report) == (2, None) and "the SavedModel has no signature" in stderr, stderr
    (tmp_path / "model" / "saved_model.pb").write_bytes(b"no model")
    status, report, stderr = coverage_of(arguments)
    assert (status, report) == (2, None) and "cannot load the SavedModel" in stderr, stderr
    assert "Traceback" not in stderr, stderr
