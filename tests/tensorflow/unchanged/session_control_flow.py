"""TensorFlow 1: while_loop, cond, case, TensorArray, assign, control dependencies, with and without control flow of version 2."""
# rtol: 1e-5

import numpy as np
import tensorflow.compat.v1 as tf
from report import report

tf.disable_eager_execution()
values = np.random.RandomState(1).normal(size=(6, 3)).astype("float32")


def run():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3])
        count = tf.get_variable("count", [], initializer=tf.zeros_initializer())
        total = tf.while_loop(lambda i, _: i < tf.shape(x)[0], lambda i, s: (i + 1, s * 0.5 + x[i]), [0, tf.zeros([3])])[1]
        larger = tf.cond(tf.reduce_sum(total) > 0, lambda: total * 2, lambda: tf.exp(total))
        chosen = tf.case([(total[0] > 10, lambda: tf.constant(1.0)), (total[0] < 10, lambda: tf.reduce_max(total))])
        array = tf.TensorArray(tf.float32, size=3)
        array = tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a.write(i, tf.sin(x[i]))), [0, array])[1]
        with tf.control_dependencies([tf.assign_add(count, 1.5)]):
            after = count.read_value() * 2
        slope = tf.gradients(larger, x)[0]
        session.run(tf.global_variables_initializer())
        return session.run([total, larger, chosen, array.stack(), slope, after], {x: values})


second = run()
tf.disable_control_flow_v2()
tf.disable_resource_variables()
report(first=run(), second=second)
