"""Loops over a TensorArray in a function, with gradients, of float32 and of float16; two loops that read one array."""
# rtol: 1e-3

import numpy as np
import tensorflow as tf
from report import report

x = tf.constant(np.random.RandomState(1).normal(size=(5, 4)).astype("float32"))


@tf.function
def fold(x):
    array = tf.TensorArray(x.dtype, size=0, dynamic_size=True, clear_after_read=False)
    state = tf.zeros_like(x[0])
    for row in x:
        state = tf.tanh(state + row)
        array = array.write(array.size(), state)
    forward, backward = tf.zeros_like(state), tf.zeros_like(state)
    for i in tf.range(array.size()):
        forward = forward * tf.cast(0.5, x.dtype) + array.read(i)
    for i in tf.range(array.size() - 1, -1, -1):
        backward = backward * tf.cast(0.5, x.dtype) + array.read(i)
    return array.stack(), forward, backward


def results(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        stacked, forward, backward = fold(x)
        total = tf.reduce_sum(stacked) + tf.reduce_sum(forward * backward)
    return stacked, forward, backward, tape.gradient(total, x)


pieces = tf.TensorArray(tf.float32, size=2).split(x, [2, 3])
eager = tf.TensorArray(tf.float32, size=3).unstack(x[:3]).gather([2, 0])
report(single=results(x), half=results(tf.cast(x, tf.float16)), pieces=pieces.concat(), eager=eager)
