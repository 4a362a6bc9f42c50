"""Gradients that are accumulated over batches in variables of the program, then applied; learning rates by hand."""

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
x = np.random.normal(size=(8, 8, 6)).astype("float32")
y = np.random.randint(0, 3, size=(8, 8))
model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(12, activation="relu"), tf.keras.layers.Dense(3)])
weights = model.trainable_variables
total = [tf.Variable(tf.zeros(it.shape), trainable=False) for it in weights]
optimizer = tf.keras.optimizers.Adam(0.01)
loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def accumulate(features, labels):
    with tf.GradientTape() as tape:
        loss = loss_of(labels, model(features, training=True)) / 4
    for sum_, gradient in zip(total, tape.gradient(loss, weights)):
        sum_.assign_add(gradient)
    return loss


@tf.function
def apply():
    optimizer.apply_gradients(zip(total, weights))
    for sum_ in total:
        sum_.assign(tf.zeros_like(sum_))


losses = []
for index in range(8):
    losses.append(accumulate(x[index], y[index]))
    if index % 4 == 3:
        apply()
        optimizer.learning_rate = float(np.asarray(optimizer.learning_rate)) * 0.5
report(losses=losses, weights=model.get_weights()[0], rate=np.asarray(optimizer.learning_rate))
