"""`fit` with a generator that does not state its length: the step in which it ends changes nothing."""

# releases: 2.16 and later

import keras
import numpy as np
import tensorflow as tf
from report import report


def batches():
    for number in range(7):
        yield np.full((16, 8), number / 7, np.float32), np.ones((16, 1), np.float32)


signature = (tf.TensorSpec((16, 8)), tf.TensorSpec((16, 1)))
losses, steps = [], []
for _ in range(6):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    data = tf.data.Dataset.from_generator(batches, output_signature=signature)
    losses.append(model.fit(data, epochs=2, verbose=0).history["loss"])
    steps.append(int(model.optimizer.iterations))

report(losses=losses, steps=steps)
