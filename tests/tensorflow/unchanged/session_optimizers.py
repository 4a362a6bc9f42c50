"""TensorFlow 1: each optimizer of tf.compat.v1.train on a small network, one Session each."""

import numpy as np
import tensorflow.compat.v1 as tf
from report import report

tf.disable_eager_execution()
random = np.random.RandomState(1)
x_values, y_values = random.normal(size=(32, 6)).astype("float32"), random.randint(0, 3, size=(32,))
start = random.normal(size=(6, 3)).astype("float32")
OPTIMIZERS = {
    "adam": lambda: tf.train.AdamOptimizer(0.05),
    "momentum": lambda: tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.01, momentum=0.5, centered=True),
    "adadelta": lambda: tf.train.AdadeltaOptimizer(1.0),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1),
    "proximal": lambda: tf.train.ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=0.001),
}


def losses_of(optimizer):
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.placeholder(tf.float32, [None, 6]), tf.placeholder(tf.int64, [None])
        w = tf.Variable(start, name="w")
        table = tf.Variable(np.ones((4, 3), "float32") * 0.1)
        logits = tf.matmul(x, w) + tf.nn.embedding_lookup(table, y % 4)
        loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
        train = optimizer().minimize(loss)
        session.run(tf.global_variables_initializer())
        losses = [session.run([train, loss], {x: x_values, y: y_values})[1] for _ in range(5)]
        return {"losses": losses, "weights": session.run(w), "table": session.run(table)}


report(**{name: losses_of(optimizer) for name, optimizer in OPTIMIZERS.items()})
