"""Functions that the program compiles by XLA: methods, partial, nested, signatures, loops, several outputs, concrete functions, threads."""
# rtol: 1e-4

import concurrent.futures
import functools

import numpy as np
import tensorflow as tf
from report import report

x = tf.constant(np.random.RandomState(1).normal(size=(4, 3)).astype("float32"))


def power(x, exponent, scale=1.0):
    return {"value": x**exponent * scale, "rows": tf.shape(x)[0]}


@tf.function(jit_compile=True)
def inner(x):
    return tf.nn.softmax(x) + tf.cumsum(x, axis=1)


@tf.function
def outer(x):
    return inner(x) * 2.0, tf.cond(tf.reduce_sum(x) > 0, lambda: inner(-x), lambda: inner(x * 0.5))


@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([], tf.int32)])
def repeated(x, count):
    for _ in tf.range(count):
        x = tf.tanh(inner(x))
    return x, tf.argmax(x, axis=1), tf.sort(x, axis=1)


class Module(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.eye(3))

    @tf.function(jit_compile=True)
    def __call__(self, x, training=False):
        if training:
            self.w.assign(self.w * 0.5)
        return tf.matmul(x, self.w)


partial = tf.function(functools.partial(power, scale=3.0), jit_compile=True)
module = Module()
calls = [module(x), module(x, training=True), module(x[:2])]
with tf.GradientTape() as second:
    second.watch(x)
    with tf.GradientTape() as first:
        first.watch(x)
        total = tf.reduce_sum(inner(x) ** 2)
    slope = first.gradient(total, x)
curve = second.gradient(slope, x)
concrete = inner.get_concrete_function(tf.TensorSpec([None, 3]))(x)
with concurrent.futures.ThreadPoolExecutor(4) as threads:
    parallel = list(threads.map(lambda factor: inner(x * factor), [1.0, 2.0, 3.0, 4.0]))
traces = inner.experimental_get_tracing_count()
report(partial=partial(x, 2.0), outer=outer(x), repeated=repeated(x, 3), calls=calls, slope=slope, curve=curve, concrete=concrete,
       parallel=parallel, traces=traces)
