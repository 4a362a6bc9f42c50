"""`tf.config.run_functions_eagerly(True)`: functions, compiled ones too, and `fit` of a model run without graphs."""

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
x = np.random.normal(size=(24, 5)).astype("float32")
seen = []


@tf.function(jit_compile=True)
def norm(x):
    seen.append(hasattr(x, "numpy"))
    return tf.sqrt(tf.reduce_sum(x * x, axis=1))


traced = norm(tf.constant(x))
tf.config.run_functions_eagerly(True)
eager = norm(tf.constant(x))
model = tf.keras.Sequential([tf.keras.layers.Dense(6, activation="relu"), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
loss = model.fit(x, x[:, :1], epochs=2, batch_size=8, verbose=0).history["loss"]
tf.config.run_functions_eagerly(False)
again = norm(tf.constant(x * 2))
report(traced=traced, eager=eager, again=again, loss=loss, seen=seen)
