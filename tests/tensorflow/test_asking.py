"""What TensorFlow answers a graph optimizer that asks for all it can, and what its panic costs."""

import json

import pytest

from conftest import alone, example

SESSION = """
import json, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf
from tensorflow.python.framework import load_library
load_library.load_pluggable_device_library(LIBRARY)

@tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
def function(x):
    with tf.device("/device:ASKING:0"):
        y = tf.nn.relu(tf.matmul(x, tf.ones([2, 3]))) * 2.0
    with tf.device("/CPU:0"):
        return tf.identity(y, name="fetched")

with tf.device("/CPU:0"):
    print(json.dumps(function(tf.ones([1, 2])).numpy().tolist()))
"""


def session(**environment):
    run = alone(SESSION, environment, LIBRARY=example("asking"))
    if "visible_device_list" in run.stderr:
        pytest.skip("this release has devices of one plugin only, and another is installed")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout.splitlines()[-1]) == [[4.0, 4.0, 4.0]]
    return run.stderr.splitlines()


def test_shapes_names_and_definitions():
    heard = dict(line.split(": ", 2)[1:] for line in session(ASKING_TELLS="1") if line.startswith("asking: "))
    assert heard["x"].startswith("() -> (TF_FLOAT [? 2]), ")
    assert heard["Relu"].startswith("(TF_FLOAT [? 3]) -> (TF_FLOAT [? 3]), ")
    assert heard["Relu"].endswith(" bytes of Relu") and " 0 bytes" not in heard["Relu"]
    assert "TF_FLOAT []" in heard["mul"]
    (end,) = [name for name in heard if heard[name].endswith(" of _Retval")]
    assert ", fetched, stays, " in heard[end]


def test_a_panic_leaves_the_graph_as_it_was():
    said = session(ASKING_PANICS="1")
    assert any("panic in TP_Optimizer.optimize_func: it was told to" in line for line in said), said
