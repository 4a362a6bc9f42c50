"""`train_on_batch`, `test_on_batch`, `predict_on_batch`, and a model that is called directly."""

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
x = np.random.normal(size=(6, 16, 10)).astype("float32")
y = np.random.randint(0, 3, size=(6, 16))
model = tf.keras.Sequential([tf.keras.layers.Dense(12, activation="selu"), tf.keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
trained = [model.train_on_batch(x[it], y[it]) for it in range(5)]
tested = model.test_on_batch(x[5], y[5], return_dict=True)
weighted = model.train_on_batch(x[0], y[0], sample_weight=np.linspace(0, 1, 16))
report(trained=trained, tested=tested, weighted=weighted, predicted=model.predict_on_batch(x[5]), called=model(x[5], training=False))
