"""`run_eagerly=True`: layers that use Python values, `fit`, `evaluate`, `predict`."""

import numpy as np
import tensorflow as tf
from report import report


class Gate(tf.keras.layers.Layer):
    def call(self, x):
        if float(tf.reduce_max(x)) > 1.0:
            return tf.nn.softplus(x)
        return tf.sigmoid(x)


tf.keras.utils.set_random_seed(1)
x = np.random.normal(size=(32, 6)).astype("float32")
y = np.random.randint(0, 2, size=(32,))
inner = [tf.keras.layers.Dense(8), tf.keras.layers.BatchNormalization(), Gate(), tf.keras.layers.Dropout(0.1), tf.keras.layers.Dense(2)]


class Model(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.parts = inner

    def call(self, x, training=False):
        for part in self.parts:
            x = part(x, training=training) if isinstance(part, (type(inner[1]), type(inner[3]))) else part(x)
        return x


model = Model()
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"], run_eagerly=True)
history = model.fit(x, y, epochs=2, batch_size=8, verbose=0)
report(history=history.history, scores=model.evaluate(x, y, verbose=0), predicted=model.predict(x[:4], verbose=0))
