"""A `.keras` file with a layer of the program's own: saved in the middle of training, loaded, trained on."""

import pathlib
import tempfile

import numpy as np
import tensorflow as tf
from report import report


@tf.keras.utils.register_keras_serializable("program")
class Power(tf.keras.layers.Layer):
    def __init__(self, exponent=2.0, **options):
        super().__init__(**options)
        self.exponent = exponent

    def call(self, x):
        return tf.pow(tf.abs(x) + 0.1, self.exponent)

    def get_config(self):
        return {**super().get_config(), "exponent": self.exponent}


tf.keras.utils.set_random_seed(1)
path = str(pathlib.Path(tempfile.mkdtemp()) / "model.keras")
x = np.random.normal(size=(64, 6)).astype("float32")
y = x[:, :1] ** 2
model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(8), Power(1.5), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
first = model.fit(x, y, epochs=2, shuffle=False, verbose=0).history["loss"]
model.save(path)
loaded = tf.keras.models.load_model(path)
again = loaded.fit(x, y, epochs=2, shuffle=False, verbose=0).history["loss"]
clone = tf.keras.models.clone_model(loaded)
clone.set_weights(loaded.get_weights())
report(first=first, again=again, predicted=loaded.predict(x[:4], verbose=0), cloned=clone.predict(x[:4], verbose=0))
