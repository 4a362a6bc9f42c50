"""Parts of variables: `v[1].assign`, slices with steps, `assign_add` and `assign_sub`, eagerly and in a function."""
# rtol: 1e-5

import tensorflow as tf
from report import report

v = tf.Variable(tf.reshape(tf.range(12, dtype=tf.float32), [4, 3]))
whole = tf.Variable([1, 2, 3], dtype=tf.int32)
v[1].assign([7.0, 8.0, 9.0])
v[2:, ::2].assign(tf.zeros([2, 2]))
v[0, 1].assign(-5.0)
eager = v.numpy()


@tf.function
def change(value):
    v[3, :2].assign(value)
    v.assign_add(tf.ones([4, 3]) * 0.5)
    v[0].assign(v[1] * 2.0)
    whole.assign_sub([1, 1, 1])
    return tf.reduce_sum(v), tf.gather(v, [2, 0])


first = change(tf.constant([0.25, 0.75]))
second = change(tf.constant([1.25, 1.75]))
v.assign_add(v)
v.assign_sub(tf.ones_like(v))
with tf.GradientTape() as tape:
    part = tf.reduce_sum(v[1:3] ** 2) + tf.reduce_sum(tf.gather_nd(v, [[0, 1], [3, 2]]))
report(eager=eager, first=first, second=second, after=v, whole=whole, gradient=tape.gradient(part, v))
