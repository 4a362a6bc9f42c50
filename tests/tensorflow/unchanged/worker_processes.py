"""Batches that forked worker processes load, before and after TensorFlow has computed; `fit` on them."""

import multiprocessing

import numpy as np
import tensorflow as tf
from report import report


def load(index):
    random = np.random.RandomState(index)
    x = random.normal(size=(16, 4)).astype("float32")
    return x, np.abs(x).sum(1, keepdims=True)


def new_model():
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


if __name__ == "__main__":
    fork = multiprocessing.get_context("fork")
    with fork.Pool(2) as pool:
        model = new_model()
        before = [model.train_on_batch(*batch) for batch in pool.imap(load, range(6))]
    with fork.Pool(2) as pool:
        after = [model.train_on_batch(*batch) for batch in pool.imap(load, range(6, 9))]
        signature = (tf.TensorSpec([16, 4]), tf.TensorSpec([16, 1]))
        data = tf.data.Dataset.from_generator(lambda: pool.imap(load, range(8)), output_signature=signature)
        # With an unknown number of batches TensorFlow may count the call that finds the end as a step, also on the CPU.
        data = data.apply(tf.data.experimental.assert_cardinality(8))
        history = new_model().fit(data, epochs=2, verbose=0)
    report(before=before, after=after, loss=history.history["loss"])
