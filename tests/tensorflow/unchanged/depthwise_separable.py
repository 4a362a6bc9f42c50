"""Depthwise and separable convolutions of images and series, with strides, dilations and multipliers."""

import numpy as np
import tensorflow as tf
from report import report

layers = tf.keras.layers
tf.keras.utils.set_random_seed(1)
x = np.random.normal(size=(12, 10, 10, 4)).astype("float32")
y = np.random.normal(size=(12, 1)).astype("float32")
model = tf.keras.Sequential([
    layers.DepthwiseConv2D(3, depth_multiplier=2, activation="relu"),
    layers.SeparableConv2D(8, 3, strides=2, padding="same"),
    layers.DepthwiseConv2D(2, dilation_rate=2),
    layers.Flatten(),
    layers.Dense(1),
])
model.compile("adam", "mse")
history = model.fit(x, y, epochs=3, batch_size=4, verbose=0)
series = x[:, 0]
one = layers.DepthwiseConv1D(3, depth_multiplier=2)(series)
two = layers.SeparableConv1D(5, 3, padding="same")(series)
report(loss=history.history["loss"], predicted=model.predict(x, verbose=0), one=one, two=two)
