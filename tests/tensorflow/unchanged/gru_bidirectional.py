"""Bidirectional GRUs, of which one merges by a sum, and one is reset before its product."""

import numpy as np
import tensorflow as tf
from report import report

layers = tf.keras.layers
tf.keras.utils.set_random_seed(1)
x = np.random.normal(size=(48, 8, 4)).astype("float32")
y = np.cumsum(x, axis=1).astype("float32")
model = tf.keras.Sequential([
    layers.Bidirectional(layers.GRU(6, return_sequences=True)),
    layers.Bidirectional(layers.GRU(6, return_sequences=True, reset_after=False, recurrent_dropout=0.0), merge_mode="sum"),
    layers.TimeDistributed(layers.Dense(4)),
])
model.compile("adam", "mse")
history = model.fit(x, y, epochs=2, batch_size=16, verbose=0)
report(loss=history.history["loss"], predicted=model.predict(x[:4], verbose=0))
