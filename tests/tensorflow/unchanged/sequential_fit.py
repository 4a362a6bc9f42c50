"""A Sequential model: `fit` on arrays with a validation split, `evaluate`, `predict`."""

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
x = np.random.normal(size=(256, 12)).astype("float32")
y = (x[:, :3].argmax(1)).astype("int64")

model = tf.keras.Sequential([
    tf.keras.layers.Dense(32, activation="relu"),
    tf.keras.layers.Dropout(0.2),
    tf.keras.layers.Dense(3, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, epochs=3, validation_split=0.25, verbose=0)
scores = model.evaluate(x, y, verbose=0)
predicted = model.predict(x[:10], verbose=0)
report(history=history.history, scores=scores, predicted=predicted)
