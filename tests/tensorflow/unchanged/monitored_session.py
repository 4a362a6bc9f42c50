"""TensorFlow 1 in the style of estimators: a model function, hooks, a MonitoredTrainingSession that resumes from its checkpoint."""

import tempfile

import numpy as np
import tensorflow.compat.v1 as tf
from report import report

tf.disable_v2_behavior()
random = np.random.RandomState(1)
features = {"x": random.normal(size=(64, 4)).astype("float32"), "color": random.randint(0, 3, size=(64,))}
labels = (features["x"].sum(1) > 0).astype("int64")


def input_function():
    data = tf.data.Dataset.from_tensor_slices((features, labels)).repeat().batch(16)
    return tf.data.make_one_shot_iterator(data).get_next()


def model_function(features, labels):
    inputs = tf.concat([features["x"], tf.one_hot(features["color"], 3)], axis=1)
    w = tf.get_variable("w", [7, 8], initializer=tf.random_normal_initializer(stddev=0.3, seed=2))
    v = tf.get_variable("v", [8, 2], initializer=tf.glorot_uniform_initializer(seed=3))
    logits = tf.matmul(tf.nn.tanh(tf.matmul(inputs, w)), v)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train = tf.train.AdamOptimizer(0.01).minimize(loss, tf.train.get_or_create_global_step())
    accuracy, update = tf.metrics.accuracy(labels, tf.argmax(logits, 1))
    return loss, tf.group(train, update), accuracy


def train(folder, last_step):
    with tf.Graph().as_default():
        tf.set_random_seed(4)
        loss, step, accuracy = model_function(*input_function())
        tf.summary.scalar("loss", loss)
        hooks = [tf.train.StopAtStepHook(last_step=last_step), tf.train.NanTensorHook(loss)]
        losses = []
        with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks, log_step_count_steps=None) as session:
            while not session.should_stop():
                losses.append(session.run([loss, step])[0])
        return losses


folder = tempfile.mkdtemp()
report(first=train(folder, 6), resumed=train(folder, 10))
