"""Normalizations of each kind: batch, layer, group, unit, and spectral where Keras has it."""

import numpy as np
import tensorflow as tf
from report import report

layers = tf.keras.layers
tf.keras.utils.set_random_seed(1)
x = np.random.normal(2.0, 3.0, size=(32, 6, 6, 8)).astype("float32")
y = np.random.normal(size=(32, 1)).astype("float32")
model = tf.keras.Sequential([
    layers.BatchNormalization(momentum=0.7),
    layers.Conv2D(8, 3),
    layers.GroupNormalization(4),
    layers.LayerNormalization(axis=[1, 2, 3]),
    layers.GlobalAveragePooling2D(),
    layers.UnitNormalization(),
    layers.Dense(1, kernel_constraint=tf.keras.constraints.UnitNorm()),
])
model.compile("adam", "mse")
history = model.fit(x, y, epochs=3, batch_size=8, verbose=0)
results = {"loss": history.history["loss"], "predicted": model.predict(x, verbose=0), "moments": model.layers[0].get_weights()}
if hasattr(layers, "SpectralNormalization"):
    spectral = tf.keras.Sequential([layers.SpectralNormalization(layers.Dense(4)), layers.Dense(1)])
    spectral.compile("sgd", "mse")
    results["spectral"] = spectral.fit(x.mean((1, 2)), y, epochs=2, verbose=0).history["loss"]
report(**results)
