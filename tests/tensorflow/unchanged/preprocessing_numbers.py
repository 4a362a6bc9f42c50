"""Preprocessing layers of numbers: Normalization with `adapt`, Discretization, CategoryEncoding, Hashing, Rescaling; `fit` after them."""

import numpy as np
import tensorflow as tf
from report import report

layers = tf.keras.layers
tf.keras.utils.set_random_seed(1)
x = np.random.normal(5.0, 3.0, size=(96, 4)).astype("float32")
y = (x[:, :1] > 5).astype("float32")
normalization = layers.Normalization()
normalization.adapt(x)
inverse = layers.Normalization(mean=np.ravel(normalization.mean), variance=np.ravel(normalization.variance), invert=True)
bins = layers.Discretization(num_bins=4)
bins.adapt(x[:, 0])
inputs = tf.keras.Input((4,))
h = layers.Dense(8, activation="relu")(normalization(inputs))
model = tf.keras.Model(inputs, layers.Dense(1, activation="sigmoid")(h))
model.compile("adam", "binary_crossentropy")
history = model.fit(x, y, epochs=2, batch_size=16, verbose=0)
report(
    loss=history.history["loss"],
    normalized=normalization(x[:3]),
    back=inverse(normalization(x[:3])),
    bins=bins(x[:6, 0]),
    encoded=layers.CategoryEncoding(num_tokens=5, output_mode="multi_hot")([[0, 1], [3, 3]]),
    counted=layers.CategoryEncoding(num_tokens=4, output_mode="count")(np.array([[0, 1, 1], [3, 3, 3]])),
    hashed=layers.Hashing(num_bins=7)(np.array([[1], [20], [300]])),
    hashed_words=layers.Hashing(num_bins=5)(np.array([["a"], ["bc"]])),
    rescaled=layers.Rescaling(1 / 10, offset=-1)(x[:2]),
)
