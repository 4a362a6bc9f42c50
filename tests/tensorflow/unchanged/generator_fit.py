"""`fit` on a Python generator, and on a dataset that reads one."""

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)


def batches():
    random = np.random.RandomState(2)
    while True:
        x = random.normal(size=(16, 6)).astype("float32")
        yield x, (x**2).sum(1, keepdims=True)


def new_model():
    model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.Adam(0.01), "mae")
    return model


direct = new_model().fit(batches(), steps_per_epoch=10, epochs=2, verbose=0)
signature = (tf.TensorSpec([16, 6], tf.float32), tf.TensorSpec([16, 1], tf.float32))
# With an unknown number of batches TensorFlow may count the call that finds the end as a step, also on the CPU.
data = tf.data.Dataset.from_generator(batches, output_signature=signature).take(10)
data = data.apply(tf.data.experimental.assert_cardinality(10))
wrapped = new_model().fit(data, epochs=2, verbose=0)
report(direct=direct.history["loss"], wrapped=wrapped.history["loss"])
