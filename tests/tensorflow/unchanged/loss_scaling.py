"""A LossScaleOptimizer: steps whose gradients are finite, and one that is left out because they are not."""
# rtol: 1e-2: float16 has 11 bits

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
tf.keras.mixed_precision.set_global_policy("mixed_float16")
x = np.random.normal(size=(32, 4)).astype("float32")
y = np.random.normal(size=(32, 1)).astype("float32")
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(0.1))
scaled = getattr(optimizer, "scale_loss", None) or optimizer.get_scaled_loss
unscaled = getattr(optimizer, "get_unscaled_gradients", lambda gradients: gradients)


@tf.function
def step(factor):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.cast(model(x), tf.float32) - y))
        total = scaled(loss * factor)
    gradients = unscaled(tape.gradient(total, model.trainable_variables))
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


losses = [step(tf.constant(factor)) for factor in (1.0, 1.0, 1e30, 1.0, 1.0)]
report(losses=losses, weights=model.get_weights()[0])
