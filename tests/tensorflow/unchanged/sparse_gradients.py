"""Embeddings with sparse gradients in eager mode: lookups, each optimizer that has rows of its own, `apply_gradients`."""

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
ids = tf.constant([[1, 2, 2], [5, 1, 7]])
results = {}
for name in ["SGD", "Adam", "Adagrad", "RMSprop", "Adadelta", "Adamax", "Ftrl", "Nadam"]:
    table = tf.Variable(tf.reshape(tf.range(40, dtype=tf.float32), [10, 4]) / 40)
    optimizer = getattr(tf.keras.optimizers, name)(0.1)
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.embedding_lookup(table, ids) ** 2)
        gradient = tape.gradient(loss, table)
        optimizer.apply_gradients([(gradient, table)])
    results[name] = table.numpy()
with tf.GradientTape() as tape:
    total = tf.reduce_sum(tf.gather(table, [3, 3, 0]))
rows = tape.gradient(total, table)
report(results=results, kind=type(rows).__name__, dense=tf.convert_to_tensor(rows), indices=rows.indices)
