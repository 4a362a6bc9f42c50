"""TensorFlow's answers to the queries of a graph optimizer, and the effect of its panic."""

import json

import pytest

from conftest import run_program, example

SESSION = """
import json, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf
from tensorflow.python.framework import load_library
load_library.load_pluggable_device_library(LIBRARY)

@tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
def function(x):
    with tf.device("/device:GRAPH_QUERIES:0"):
        y = tf.nn.relu(tf.matmul(x, tf.ones([2, 3]))) * 2.0
    with tf.device("/CPU:0"):
        return tf.identity(y, name="fetched")

with tf.device("/CPU:0"):
    print(json.dumps(function(tf.ones([1, 2])).numpy().tolist()))
"""


def session(**environment):
    run = run_program(SESSION, environment, LIBRARY=example("graph_queries"))
    if "visible_device_list" in run.stderr:
        pytest.skip("this release supports one plugin only, and another is installed")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout.splitlines()[-1]) == [[4.0, 4.0, 4.0]]
    return run.stderr.splitlines()


def test_queries_return_shapes_names_and_definitions():
    lines = session(GRAPH_QUERIES_PRINT="1")
    answers = dict(line.split(": ", 2)[1:] for line in lines if line.startswith("plugin graph_queries: "))
    assert answers["x"].startswith("() -> (TF_FLOAT [? 2]), ")
    assert answers["Relu"].startswith("(TF_FLOAT [? 3]) -> (TF_FLOAT [? 3]), ")
    assert answers["Relu"].endswith(" bytes of Relu") and " 0 bytes" not in answers["Relu"]
    assert "TF_FLOAT []" in answers["mul"]
    (returned,) = [name for name in answers if answers[name].endswith(" of _Retval")]
    assert ", fetched, preserved, " in answers[returned]


def test_panic_leaves_graph_unchanged():
    lines = session(GRAPH_QUERIES_PANIC="1")
    assert any("panic in TP_Optimizer.optimize_func: GRAPH_QUERIES_PANIC is set" in line for line in lines), lines
