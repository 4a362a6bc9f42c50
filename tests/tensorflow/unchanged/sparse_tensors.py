"""Sparse tensors: products, sums, slices, `fit` on sparse inputs of a dense layer by tf.sparse."""

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
sparse = tf.sparse.from_dense(tf.constant([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]))
dense = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
weights = tf.Variable(dense)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.sparse.sparse_dense_matmul(sparse, weights) ** 2)


@tf.function
def features(ids, values):
    wide = tf.sparse.SparseTensor(ids, values, [4, 6])
    looked_up = tf.nn.embedding_lookup_sparse(tf.ones([6, 2]) * 0.5, tf.sparse.from_dense(tf.constant([[1, 2], [3, 4]])), None)
    return tf.sparse.reduce_sum(wide, axis=1), tf.sparse.to_dense(tf.sparse.transpose(wide)), looked_up


sums, transposed, looked_up = features(tf.constant([[0, 1], [2, 5], [3, 0]], tf.int64), tf.constant([1.0, -2.0, 0.5]))
report(
    product=tf.sparse.sparse_dense_matmul(sparse, dense),
    gradient=tape.gradient(loss, weights),
    added=tf.sparse.to_dense(tf.sparse.add(sparse, sparse)),
    softmax=tf.sparse.softmax(sparse).values,
    part=tf.sparse.to_dense(tf.sparse.slice(sparse, [0, 1], [2, 2])),
    sums=sums,
    transposed=transposed,
    looked_up=looked_up,
    scaled=tf.sparse.to_dense(sparse * 2.0),
)
