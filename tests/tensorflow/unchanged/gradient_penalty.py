"""A gradient penalty: a tape in a tape, in a compiled model and in a function of the program."""

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
x = tf.constant(np.random.normal(size=(32, 8)).astype("float32"))
critic = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.RMSprop(0.005)


@tf.function
def step(real, fake):
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(fake)
            score = critic(fake)
        slope = inner.gradient(score, fake)
        penalty = tf.reduce_mean(tf.square(tf.norm(slope, axis=1) - 1.0))
        loss = tf.reduce_mean(score) - tf.reduce_mean(critic(real)) + 10.0 * penalty
    optimizer.apply_gradients(zip(tape.gradient(loss, critic.trainable_variables), critic.trainable_variables))
    return loss, penalty


report(steps=[step(x, x[::-1] * 0.5) for _ in range(6)])
