"""A pipeline that prefetches to the last logical device, and one that copies to it; both feed a function."""
# rtol: 1e-5

import numpy as np
import tensorflow as tf
from report import report

x = np.random.RandomState(1).normal(size=(64, 16)).astype("float32")
device = tf.config.list_logical_devices()[-1].name
weights = tf.Variable(tf.ones([16, 4]) * 0.1)


@tf.function
def step(batch):
    return tf.reduce_sum(tf.tanh(tf.matmul(batch, weights)), axis=0)


data = tf.data.Dataset.from_tensor_slices(x).batch(16)
prefetched = [step(it) for it in data.apply(tf.data.experimental.prefetch_to_device(device, buffer_size=2))]
copied = [step(it) for it in data.apply(tf.data.experimental.copy_to_device(device)).prefetch(1)]
report(prefetched=tf.stack(prefetched), copied=tf.stack(copied))
