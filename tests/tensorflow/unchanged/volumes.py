"""A network over volumes: 3-D convolutions, pools, batch normalization, with `fit`."""

import numpy as np
import tensorflow as tf
from report import report

layers = tf.keras.layers
tf.keras.utils.set_random_seed(1)
x = np.random.normal(size=(12, 8, 8, 8, 1)).astype("float32")
y = np.random.randint(0, 2, size=(12,))
model = tf.keras.Sequential([
    layers.Conv3D(4, 3, activation="relu", padding="same"),
    layers.MaxPooling3D(2),
    layers.BatchNormalization(),
    layers.Conv3D(6, 2, strides=2),
    layers.AveragePooling3D(2),
    layers.Flatten(),
    layers.Dense(2, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy")
history = model.fit(x, y, epochs=3, batch_size=4, verbose=0)
report(loss=history.history["loss"], predicted=model.predict(x, verbose=0))
