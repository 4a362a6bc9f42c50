"""Counters, moving means and tables that functions change: control dependencies, conditions, loops, types of each kind."""
# rtol: 1e-5

import numpy as np
import tensorflow as tf
from report import report

step = tf.Variable(0, dtype=tf.int64)
small = tf.Variable(1, dtype=tf.int32)
flag = tf.Variable(False)
half = tf.Variable([1.0, 2.0], dtype=tf.float16)
mean = tf.Variable(tf.zeros([3]))
history = tf.Variable(tf.zeros([0, 3]), shape=[None, 3])


@tf.function
def update(x):
    step.assign_add(1)
    small.assign_add(tf.cast(step, tf.int32))
    flag.assign(tf.reduce_sum(x) > 0)
    half.assign_sub(tf.cast(x[:2], tf.float16) * tf.cast(0.5, tf.float16))
    if flag:
        mean.assign(0.9 * mean + 0.1 * x)
    else:
        mean.assign_sub(x)
    for _ in tf.range(3):
        step.assign_add(10)
    history.assign(tf.concat([history, x[None]], axis=0))
    return mean * 2.0


values = np.random.RandomState(1).normal(size=(5, 3)).astype("float32")
means = [update(tf.constant(row)) for row in values]
average = tf.train.ExponentialMovingAverage(0.8)
average.apply([mean])
mean.assign_add([1.0, 1.0, 1.0])
average.apply([mean])
report(means=means, step=step, small=small, flag=flag, half=half, history=history, average=average.average(mean))
