"""A network that reads sequences with a CTC loss, and its decoders."""

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
x = np.random.normal(size=(8, 12, 6)).astype("float32")
labels = np.random.randint(1, 5, size=(8, 4)).astype("int32")
model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(6)])
optimizer = tf.keras.optimizers.Adam(0.01)


@tf.function
def step():
    with tf.GradientTape() as tape:
        logits = model(x)
        lengths = tf.fill([8], 12)
        loss = tf.reduce_mean(tf.nn.ctc_loss(labels, logits, tf.fill([8], 4), lengths, logits_time_major=False, blank_index=0))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


losses = [step() for _ in range(5)]
logits = tf.transpose(model(x), [1, 0, 2])
(greedy,), scores = tf.nn.ctc_greedy_decoder(logits, tf.fill([8], 12), blank_index=0)
sparse = tf.nn.ctc_loss(tf.sparse.from_dense(labels), logits, None, tf.fill([8], 12), blank_index=0)
report(losses=losses, greedy=tf.sparse.to_dense(greedy), scores=scores, sparse=sparse)
