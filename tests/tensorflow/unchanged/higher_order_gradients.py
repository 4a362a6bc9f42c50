"""Second and third derivatives, Jacobians, a Hessian-vector product, forward mode, persistent tapes, `tf.gradients`."""
# rtol: 1e-3

import numpy as np
import tensorflow as tf
from report import report

x = tf.constant(np.random.RandomState(1).uniform(0.2, 1, size=(4,)).astype("float32"))
matrix = tf.constant(np.random.RandomState(2).normal(size=(3, 4)).astype("float32"))


def function(x):
    return tf.tanh(tf.linalg.matvec(matrix, x**2)) * tf.reduce_sum(tf.math.log(x))


with tf.GradientTape() as third:
    third.watch(x)
    with tf.GradientTape() as second:
        second.watch(x)
        with tf.GradientTape() as first:
            first.watch(x)
            y = tf.reduce_sum(tf.sin(x) * x**3)
        d1 = first.gradient(y, x)
    d2 = second.gradient(d1, x)
d3 = third.gradient(d2, x)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    values = tf.function(function)(x)
jacobian, slow = tape.jacobian(values, x), tape.jacobian(values, x, experimental_use_pfor=False)
with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
    forward = function(x)
with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        total = tf.reduce_sum(function(x) ** 2)
    slope = inner.gradient(total, x)
product = outer.gradient(slope, x, output_gradients=tf.ones_like(x))


@tf.function
def symbolic(x):
    return tf.gradients(tf.reduce_sum(function(x)), x)[0], tf.hessians(tf.reduce_sum(x**4), x)[0]


report(d1=d1, d2=d2, d3=d3, jacobian=jacobian, slow=slow, jvp=accumulator.jvp(forward), product=product, symbolic=symbolic(x))
