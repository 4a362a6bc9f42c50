"""Calls of one kernel's instance from several threads at a time."""

import threading

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE

THREADS, CALLS = 8, 60


def in_threads(run):
    """Calls `run(number of the thread)` in several threads, and raises the first error."""
    errors = []

    def guarded(number):
        try:
            run(number)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_calls_of_one_instance_at_a_time_have_their_own_results():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)] * 2)
    def function(x, y):
        with tf.device(f"/device:{DEVICE}:0"):
            return tf.reduce_sum(tf.nn.relu(x + y)), tf.concat([x, y], 0)

    def run(number):
        for length in range(1, CALLS):
            x = tf.constant(np.full(length, number, np.float32))
            total, both = function(x, x)
            assert total.numpy() == 2 * number * length
            np.testing.assert_array_equal(both.numpy(), np.full(2 * length, number))

    in_threads(run)


def test_failed_calls_do_not_change_those_at_the_same_time():
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32)] * 2)
    def product(x, y):
        with tf.device(f"/device:{DEVICE}:0"):
            return tf.linalg.matmul(x, y)

    x, other = tf.ones([2, 3]), tf.ones([2, 2])

    def run(number):
        for _ in range(CALLS):
            if number % 2:
                with pytest.raises(tf.errors.InvalidArgumentError, match="(?i)matri|incompatible"):
                    product(x, x)
            else:
                np.testing.assert_array_equal(product(other, x).numpy(), np.full([2, 3], 2))

    in_threads(run)


def test_iterations_of_a_loop_at_a_time_have_their_own_results():
    @tf.function
    def loop(count):
        def body(index, sums):
            with tf.device(f"/device:{DEVICE}:0"):
                row = tf.nn.relu(tf.cast(tf.fill([4], index), tf.float32) - 3)
            return index + 1, sums.write(index, row)

        sums = tf.TensorArray(tf.float32, count, element_shape=[4])
        return tf.while_loop(lambda index, _: index < count, body, (0, sums), parallel_iterations=16)[1].stack()

    expected = np.maximum(np.arange(40, dtype=np.float32) - 3, 0)[:, None].repeat(4, 1)
    for _ in range(5):
        np.testing.assert_array_equal(loop(40).numpy(), expected)
