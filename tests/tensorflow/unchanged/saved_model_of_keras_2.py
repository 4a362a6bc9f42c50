"""A SavedModel as Keras 2 writes it by `model.save`: loaded and trained on, and its serving signature."""
# releases: 2.12 to 2.15

import tempfile

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
folder = tempfile.mkdtemp()
x = np.random.normal(size=(32, 6)).astype("float32")
model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(2)])
model.compile("adam", "mse")
model.fit(x, x[:, :2], epochs=1, verbose=0)
model.save(folder)
loaded = tf.keras.models.load_model(folder)
again = loaded.fit(x, x[:, :2], epochs=2, verbose=0).history["loss"]
(served,) = tf.saved_model.load(folder).signatures["serving_default"](tf.constant(x)).values()
report(again=again, predicted=model.predict(x, verbose=0), served=served)
