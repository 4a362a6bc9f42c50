"""A model with its own `train_step` and `test_step`."""

import numpy as np
import tensorflow as tf
from report import report


class Contrastive(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = tf.keras.layers.Dense(8)
        self.tracker = tf.keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def loss_of(self, x):
        a = tf.math.l2_normalize(self.encoder(x), axis=1)
        b = tf.math.l2_normalize(self.encoder(x + 0.1), axis=1)
        logits = tf.matmul(a, b, transpose_b=True) / 0.5
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(tf.shape(x)[0]), logits))

    def train_step(self, x):
        with tf.GradientTape() as tape:
            loss = self.loss_of(x)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}

    def test_step(self, x):
        self.tracker.update_state(self.loss_of(x))
        return {"loss": self.tracker.result()}

    def call(self, x):
        return self.encoder(x)


tf.keras.utils.set_random_seed(1)
x = np.random.normal(size=(96, 12)).astype("float32")
model = Contrastive()
model.compile(optimizer="adam")
history = model.fit(x, epochs=3, batch_size=32, verbose=0)
report(losses=history.history["loss"], tested=model.evaluate(x, verbose=0), encoded=model.predict(x[:4], verbose=0))
