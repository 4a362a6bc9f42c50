"""tf.custom_gradient, with variables and in a compiled function, tf.recompute_grad, tf.stop_gradient, gradient overrides."""
# rtol: 1e-4

import numpy as np
import tensorflow as tf
from report import report

x = tf.constant(np.random.RandomState(1).normal(size=(6, 3)).astype("float32"))
w = tf.Variable(np.random.RandomState(2).normal(size=(3, 3)).astype("float32"))


@tf.custom_gradient
def straight_through(x):
    return tf.round(x), lambda upstream: upstream


@tf.custom_gradient
def scaled(x):
    def gradient(upstream, variables=None):
        return upstream * 2.0, [tf.matmul(x, upstream, transpose_a=True)] * len(variables or [])

    return tf.matmul(x, w), gradient


@tf.recompute_grad
def block(x):
    return tf.nn.softmax(tf.matmul(tf.tanh(tf.matmul(x, w)), w))


@tf.function(jit_compile=True)
def compiled(x):
    return straight_through(x) * 0.5 + tf.stop_gradient(x) * x


results = {}
for name, function in dict(round=straight_through, scaled=scaled, block=block, compiled=compiled, graph=tf.function(block)).items():
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = function(x)
        loss = tf.reduce_sum(value**2)
    results[name] = [value, *(it for it in tape.gradient(loss, [x, w]) if it is not None)]
report(**results)
