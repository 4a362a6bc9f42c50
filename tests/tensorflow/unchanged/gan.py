"""A GAN of convolutions: two networks, two optimizers, a step of the program; noise from a stateless generator."""

import numpy as np
import tensorflow as tf
from report import report

layers = tf.keras.layers
tf.keras.utils.set_random_seed(1)
real = np.random.uniform(-1, 1, size=(4, 16, 8, 8, 1)).astype("float32")
generator = tf.keras.Sequential([
    tf.keras.Input((6,)),
    layers.Dense(4 * 4 * 8, use_bias=False),
    layers.BatchNormalization(),
    layers.LeakyReLU(),
    layers.Reshape((4, 4, 8)),
    layers.Conv2DTranspose(1, 5, strides=2, padding="same", activation="tanh"),
])
critic = tf.keras.Sequential([
    tf.keras.Input((8, 8, 1)), layers.Conv2D(8, 5, strides=2, padding="same"), layers.LeakyReLU(), layers.Flatten(), layers.Dense(1)
])
entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)
optimizers = [tf.keras.optimizers.Adam(1e-3), tf.keras.optimizers.Adam(1e-3)]


@tf.function
def step(images, seed):
    noise = tf.random.stateless_normal([16, 6], seed)
    with tf.GradientTape() as first, tf.GradientTape() as second:
        fake = generator(noise, training=True)
        on_real, on_fake = critic(images, training=True), critic(fake, training=True)
        loss = entropy(tf.ones_like(on_fake), on_fake)
        critic_loss = entropy(tf.ones_like(on_real), on_real) + entropy(tf.zeros_like(on_fake), on_fake)
    for tape, total, model, optimizer in zip([first, second], [loss, critic_loss], [generator, critic], optimizers):
        optimizer.apply_gradients(zip(tape.gradient(total, model.trainable_variables), model.trainable_variables))
    return loss, critic_loss


report(losses=[step(images, [index, 7]) for index, images in enumerate(real)])
