"""A network of dilated, causal convolutions of series, as WaveNet's, trained by `fit`."""

import numpy as np
import tensorflow as tf
from report import report

layers = tf.keras.layers
tf.keras.utils.set_random_seed(1)
x = np.sin(np.arange(33)[None] / 3 + np.random.uniform(0, 6, size=(32, 1))).astype("float32")[..., None]
h = inputs = tf.keras.Input((32, 1))
for rate in (1, 2, 4, 8):
    gate = layers.Conv1D(8, 2, padding="causal", dilation_rate=rate, activation="sigmoid")(h)
    value = layers.Conv1D(8, 2, padding="causal", dilation_rate=rate, activation="tanh")(h)
    h = layers.Add()([layers.Conv1D(8, 1)(h), layers.Multiply()([gate, value])])
model = tf.keras.Model(inputs, layers.Conv1D(1, 1)(layers.LeakyReLU()(h)))
model.compile(tf.keras.optimizers.Adam(0.01), tf.keras.losses.Huber())
history = model.fit(x[:, :-1], x[:, 1:], epochs=4, batch_size=8, verbose=0)
image = layers.Conv2D(3, 3, dilation_rate=(2, 3), padding="same")(np.ones((1, 8, 8, 2), "float32"))
report(loss=history.history["loss"], predicted=model.predict(x[:2, :-1], verbose=0), image=image)
