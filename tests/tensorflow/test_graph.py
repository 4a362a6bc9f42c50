"""The graph optimizer: TensorFlow hands it what has nodes on the device, and runs what comes back."""

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE


def on_cpu(function, *inputs):
    """What a function gives is on the CPU, since 2.5 to 2.7 give nothing from elsewhere."""
    found = function(*inputs)
    with tf.device("/CPU:0"):
        return tf.nest.map_structure(tf.identity, found)


@pytest.fixture
def relus(calls):
    """A function: how often Relu ran in the plugin while a function computed, and what it gave."""

    def run(function, *values):
        with tf.device("/CPU:0"):
            inputs = [tf.constant(value, tf.float32) for value in values]
        before = calls()["Relu"]
        found = tf.function(on_cpu)(function, *inputs)
        return calls()["Relu"] - before, tf.nest.map_structure(lambda it: it.numpy(), found)

    return run


def three_in_a_row(x):
    with tf.device(f"/device:{DEVICE}:0"):
        return tf.nn.relu(tf.nn.relu(tf.nn.relu(x * 2.0))) + 1.0


VALUES = [-1.0, 0.0, 2.0, np.nan]
EXPECTED = np.array([1, 1, 5, np.nan], np.float32)


def test_relus_in_a_row_run_once(relus):
    ran, found = relus(three_in_a_row, VALUES)
    np.testing.assert_array_equal(found, EXPECTED)
    assert ran == 1


def test_they_all_run_where_nothing_is_optimized(relus):
    """What the count above rests on."""
    was = tf.config.optimizer.get_experimental_options()
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    try:
        ran, found = relus(three_in_a_row, VALUES)
    finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False, **was})
    np.testing.assert_array_equal(found, EXPECTED)
    assert ran == 3


def test_what_somebody_else_reads_is_still_computed(relus):
    def two(x):
        with tf.device(f"/device:{DEVICE}:0"):
            inner = tf.nn.relu(x * 2.0)
            return inner - 1.0, tf.nn.relu(inner) + 1.0

    ran, (inner, outer) = relus(two, VALUES)
    np.testing.assert_array_equal(inner, EXPECTED - 2)
    np.testing.assert_array_equal(outer, EXPECTED)
    # Both read the same now, so TensorFlow, which goes over the graph again, makes them one.
    assert ran == 1


def test_the_body_of_a_loop_is_seen(relus):
    def loop(x):
        with tf.device(f"/device:{DEVICE}:0"):
            for _ in tf.range(5):
                x = tf.nn.relu(tf.nn.relu(x * 2.0)) - 1.0
        return x

    ran, found = relus(loop, [-3.0, 2.0])
    np.testing.assert_array_equal(found, [-1, 33])
    assert ran == 5


def test_gradients_go_through(relus):
    def gradient(x):
        with tf.device(f"/device:{DEVICE}:0"), tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.nn.relu(tf.nn.relu(x * 2.0)) * 3.0)
        return tape.gradient(y, x)

    _, found = relus(gradient, [-1.0, 2.0])
    np.testing.assert_array_equal(found, [0, 6])
