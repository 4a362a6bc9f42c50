"""Scattered updates of variables: `scatter_update`, `scatter_add`, `scatter_nd_update`, ..., eagerly and in a function."""
# rtol: 1e-5

import tensorflow as tf
from report import report

v = tf.Variable(tf.ones([5, 2]))
w = tf.Variable([1, 2, 3, 4], dtype=tf.int64)


def rows(value, indices):
    return tf.IndexedSlices(tf.constant(value, v.dtype), tf.constant(indices))


def change():
    v.scatter_add(rows([[1.0, 2.0], [3.0, 4.0]], [0, 3]))
    v.scatter_sub(rows([[0.5, 0.5]], [1]))
    v.scatter_update(rows([[9.0, 8.0]], [4]))
    v.scatter_mul(rows([[2.0, 3.0]], [0]))
    v.scatter_div(rows([[4.0, 2.0]], [3]))
    v.scatter_max(rows([[1.5, 1.5]], [2]))
    v.scatter_min(rows([[0.2, 5.0]], [2]))
    v.scatter_sub(tf.IndexedSlices(tf.constant([0.25, 0.5]), tf.constant(1)))
    v.scatter_add(rows(0.125, [0, 2]))
    w.scatter_max(tf.IndexedSlices(tf.constant(7, w.dtype), tf.constant(2)))
    v.scatter_nd_add([[1, 0], [2, 1]], [0.25, 0.5])
    v.scatter_nd_sub([[4]], [[1.0, 1.0]])
    v.scatter_nd_update([[0, 1]], [7.0])
    w.scatter_nd_update([[3], [1]], tf.constant([40, 20], tf.int64))
    return v.read_value()


eager = change().numpy()
inside = tf.function(change)()
looked_up = tf.nn.embedding_lookup(v, [[4, 0], [1, 1]])
report(eager=eager, inside=inside, after=v, whole=w, gathered=tf.gather(v, [1, 4]), looked_up=looked_up, row=v.sparse_read([2]))
