"""The graph optimizer: TensorFlow passes it graphs with nodes on the device, and runs the graphs that it returns."""

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE


def on_cpu(function, *inputs):
    """Returns the results of a function on the CPU: in 2.5 to 2.7 a traced function returns no others."""
    result = function(*inputs)
    with tf.device("/CPU:0"):
        return tf.nest.map_structure(tf.identity, result)


@pytest.fixture
def relus(calls):
    """Returns a function that runs another one traced; it returns the plugin's Relu calls, and the results."""

    def run(function, *values):
        with tf.device("/CPU:0"):
            inputs = [tf.constant(value, tf.float32) for value in values]
        before = calls()["Relu"]
        result = tf.function(on_cpu)(function, *inputs)
        return calls()["Relu"] - before, tf.nest.map_structure(lambda tensor: tensor.numpy(), result)

    return run


def three_relus(x):
    with tf.device(f"/device:{DEVICE}:0"):
        return tf.nn.relu(tf.nn.relu(tf.nn.relu(x * 2.0))) + 1.0


VALUES = [-1.0, 0.0, 2.0, np.nan]
EXPECTED = np.array([1, 1, 5, np.nan], np.float32)


def test_consecutive_relus_run_once(relus):
    ran, result = relus(three_relus, VALUES)
    np.testing.assert_array_equal(result, EXPECTED)
    assert ran == 1


def test_all_relus_run_without_optimization(relus):
    """Shows that the optimizer is the cause of the count in the test above."""
    options = tf.config.optimizer.get_experimental_options()
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    try:
        ran, result = relus(three_relus, VALUES)
    finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False, **options})
    np.testing.assert_array_equal(result, EXPECTED)
    assert ran == 3


def test_relu_with_another_consumer_is_still_computed(relus):
    def two(x):
        with tf.device(f"/device:{DEVICE}:0"):
            inner = tf.nn.relu(x * 2.0)
            return inner - 1.0, tf.nn.relu(inner) + 1.0

    ran, (inner, outer) = relus(two, VALUES)
    np.testing.assert_array_equal(inner, EXPECTED - 2)
    np.testing.assert_array_equal(outer, EXPECTED)
    # Both Relus have the same input now, so TensorFlow's next pass merges them.
    assert ran == 1


def test_optimizes_body_of_loop(relus):
    def loop(x):
        with tf.device(f"/device:{DEVICE}:0"):
            for _ in tf.range(5):
                x = tf.nn.relu(tf.nn.relu(x * 2.0)) - 1.0
        return x

    ran, result = relus(loop, [-3.0, 2.0])
    np.testing.assert_array_equal(result, [-1, 33])
    assert ran == 5


def test_gradient_of_optimized_function_is_right(relus):
    def gradient(x):
        with tf.device(f"/device:{DEVICE}:0"), tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.nn.relu(tf.nn.relu(x * 2.0)) * 3.0)
        return tape.gradient(y, x)

    _, result = relus(gradient, [-1.0, 2.0])
    np.testing.assert_array_equal(result, [0, 6])


def test_sum_of_large_tensors_is_computed():
    """TensorFlow's memory optimizer replaces the sum by ops without kernels for the device: the tensors need 256 MB."""

    @tf.function
    def total(x):
        with tf.device(f"/device:{DEVICE}:0"):
            large = [tf.linalg.matmul(x, tf.fill([4, 4096], float(i))) for i in range(1, 5)]
            return on_cpu(lambda: tf.reduce_sum(tf.add_n(large)))

    assert total(tf.ones([4096, 4])) == 4 * 4096 * 4096 * 10
