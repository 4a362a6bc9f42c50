"""A training loop of the program: tf.function, GradientTape, an optimizer, metrics and gradients that are clipped."""

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
x = np.random.normal(size=(160, 6)).astype("float32")
y = np.random.randint(0, 3, size=(160,))
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(3)])
optimizer = tf.keras.optimizers.Adam(0.01)
loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
mean, accuracy = tf.keras.metrics.Mean(), tf.keras.metrics.SparseCategoricalAccuracy()


@tf.function
def step(features, labels):
    with tf.GradientTape() as tape:
        logits = model(features, training=True)
        loss = loss_of(labels, logits)
    gradients, norm = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    mean.update_state(loss)
    accuracy.update_state(labels, logits)
    return norm


results = []
for epoch in range(3):
    mean.reset_state(), accuracy.reset_state()
    norms = [step(*batch) for batch in data]
    results.append([float(mean.result()), float(accuracy.result()), float(norms[-1])])
report(results=np.array(results), steps=int(optimizer.iterations))
