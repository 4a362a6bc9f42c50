"""A functional model with two inputs and two outputs, dictionaries of arrays, loss weights and sample weights."""

import numpy as np
import tensorflow as tf
from report import report

layers = tf.keras.layers
tf.keras.utils.set_random_seed(1)
numbers = np.random.normal(size=(128, 8)).astype("float32")
words = np.random.randint(0, 50, size=(128, 6))
price = numbers.sum(1, keepdims=True) * 0.1
kind = np.random.randint(0, 4, size=(128,))

a = tf.keras.Input((8,), name="numbers")
b = tf.keras.Input((6,), dtype="int64", name="words")
embedded = layers.GlobalAveragePooling1D()(layers.Embedding(50, 16)(b))
joined = layers.Concatenate()([layers.Dense(16, activation="gelu")(a), embedded])
hidden = layers.Dense(16, activation="swish")(joined)
model = tf.keras.Model([a, b], {"price": layers.Dense(1, name="price")(hidden), "kind": layers.Dense(4, name="kind")(hidden)})
model.compile(
    "rmsprop",
    loss={"price": "mse", "kind": tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)},
    loss_weights={"price": 0.5, "kind": 1.0},
)
inputs, outputs = {"numbers": numbers, "words": words}, {"price": price, "kind": kind}
history = model.fit(inputs, outputs, batch_size=32, epochs=3, verbose=0)
report(loss=history.history["loss"], predicted=model.predict(inputs, verbose=0))
