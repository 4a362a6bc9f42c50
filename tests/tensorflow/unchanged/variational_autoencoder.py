"""A variational autoencoder with a sampling layer and its own `train_step`."""

import numpy as np
import tensorflow as tf
from report import report

layers = tf.keras.layers


class Autoencoder(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = tf.keras.Sequential([layers.Dense(16, activation="relu"), layers.Dense(8)])
        self.decoder = tf.keras.Sequential([layers.Dense(16, activation="relu"), layers.Dense(12)])
        self.step = tf.Variable(0, trainable=False, dtype=tf.int32)

    def call(self, x):
        mean, variance = tf.split(self.encoder(x), 2, axis=1)
        noise = tf.random.stateless_normal(tf.shape(mean), tf.stack([self.step, 5]))
        return self.decoder(mean + tf.exp(0.5 * variance) * noise), mean, variance

    def train_step(self, x):
        self.step.assign_add(1)
        with tf.GradientTape() as tape:
            decoded, mean, variance = self(x, training=True)
            error = tf.reduce_mean(tf.reduce_sum((x - decoded) ** 2, axis=1))
            divergence = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + variance - mean**2 - tf.exp(variance), axis=1))
            loss = error + divergence
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_weights), self.trainable_weights))
        return {"loss": loss, "error": error, "divergence": divergence}


tf.keras.utils.set_random_seed(1)
x = np.random.normal(size=(128, 12)).astype("float32")
model = Autoencoder()
model.compile(tf.keras.optimizers.Adam(0.01))
report(history=model.fit(x, epochs=3, batch_size=32, shuffle=False, verbose=0).history)
