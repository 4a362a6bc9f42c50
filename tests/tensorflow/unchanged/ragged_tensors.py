"""Ragged tensors: rows of words, sums by row, conversion, `map_flat_values`, in a function and a loss."""
# rtol: 1e-5

import tensorflow as tf
from report import report

rows = tf.ragged.constant([[3.0, 1.0, 4.0], [], [1.5], [5.0, 9.0]])
words = tf.ragged.constant([[1, 2], [3], [0, 4, 2], []])
table = tf.Variable(tf.reshape(tf.range(15, dtype=tf.float32), [5, 3]) / 7)


@tf.function
def encode(words):
    embedded = tf.ragged.map_flat_values(tf.nn.embedding_lookup, table, words)
    return tf.reduce_sum(embedded, axis=1)


with tf.GradientTape() as tape:
    loss = tf.reduce_sum(encode(words) ** 2)
gradient = tf.convert_to_tensor(tape.gradient(loss, table))
report(
    sums=tf.reduce_sum(rows, axis=1),
    means=tf.reduce_mean(rows, axis=0),
    dense=rows.to_tensor(-1.0),
    doubled=(rows * 2 + 1).to_tensor(),
    joined=tf.concat([rows, rows[:, :1]], axis=1).to_tensor(),
    lengths=rows.row_lengths(),
    sorted=tf.sort(rows.to_tensor(), axis=1),
    back=tf.RaggedTensor.from_tensor(tf.constant([[1, 2, 0], [3, 0, 0]]), padding=0).values,
    encoded=encode(words),
    gradient=gradient,
)
