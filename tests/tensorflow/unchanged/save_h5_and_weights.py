"""An `.h5` file, weights as `.weights.h5`, weights from JSON's architecture."""

import pathlib
import tempfile

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
folder = pathlib.Path(tempfile.mkdtemp())
x = np.random.normal(size=(32, 5, 4)).astype("float32")
y = np.random.normal(size=(32, 1)).astype("float32")
model = tf.keras.Sequential([
    tf.keras.Input((5, 4)), tf.keras.layers.LSTM(6), tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(1)
])
model.compile("adam", tf.keras.losses.MeanSquaredError())
model.fit(x, y, epochs=2, verbose=0)
model.save(str(folder / "model.h5"))
model.save_weights(str(folder / "model.weights.h5"))
loaded = tf.keras.models.load_model(str(folder / "model.h5"))
built = tf.keras.models.model_from_json(model.to_json())
built.load_weights(str(folder / "model.weights.h5"))
report(loaded=loaded.evaluate(x, y, verbose=0), original=model.predict(x[:3], verbose=0), built=built.predict(x[:3], verbose=0))
