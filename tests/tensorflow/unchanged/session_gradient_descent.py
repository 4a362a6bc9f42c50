"""TensorFlow 1: placeholders, variables, GradientDescentOptimizer, a moving average, assignments in order, a Session, gradients, a Saver."""

import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf
from report import report

tf.disable_v2_behavior()
tf.set_random_seed(1)
random = np.random.RandomState(1)
x_values = random.normal(size=(64, 5)).astype("float32")
y_values = (x_values @ random.normal(size=(5, 1))).astype("float32")

x = tf.placeholder(tf.float32, [None, 5], name="x")
y = tf.placeholder(tf.float32, [None, 1], name="y")
with tf.variable_scope("layer"):
    w = tf.get_variable("w", initializer=tf.constant(random.normal(size=(5, 8)).astype("float32")))
    b = tf.get_variable("b", [8], initializer=tf.zeros_initializer())
    v = tf.get_variable("v", initializer=tf.constant(random.normal(size=(8, 1)).astype("float32") * 0.3))
predicted = tf.matmul(tf.nn.relu(tf.matmul(x, w) + b), v)
loss = tf.reduce_mean(tf.squared_difference(predicted, y))
step = tf.train.get_or_create_global_step()
train = tf.train.GradientDescentOptimizer(0.05).minimize(loss, global_step=step)
averages = tf.train.ExponentialMovingAverage(0.5)
with tf.control_dependencies([train]):
    train = averages.apply([w, v])
total = tf.get_variable("total", initializer=tf.constant([1.0, 2.0]))
with tf.control_dependencies([tf.assign(total, total * 3.0)]):
    tripled = total * 10.0
rows = tf.get_variable("rows", initializer=tf.constant([1.0, 2.0]))
with tf.control_dependencies([tf.scatter_add(rows, [0], [5.0])]):
    increased = tf.identity(rows) + 0.5
slope = tf.gradients(loss, w)[0]
saver = tf.train.Saver()
path = os.path.join(tempfile.mkdtemp(), "model")
feed = {x: x_values, y: y_values}
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    losses = [session.run([train, loss], feed)[1] for _ in range(10)]
    gradient = session.run(slope, feed)
    assigned = [session.run([tripled, increased]) for _ in range(2)]
    averaged = session.run([averages.average(w), averages.average(v)])
    saver.save(session, path)
with tf.Session() as session:
    saver.restore(session, path)
    report(losses=losses, gradient=gradient, assigned=assigned, averaged=averaged, restored=session.run(loss, feed), step=session.run(step))
