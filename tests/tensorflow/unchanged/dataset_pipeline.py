"""`fit` on a tf.data pipeline: map in parallel, cache, shuffle, batch, prefetch, repeat with steps_per_epoch."""

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
x = np.random.uniform(0, 255, size=(320, 8, 8, 1)).astype("uint8")
y = (x.mean(axis=(1, 2, 3)) > 127).astype("int64")


def scaled(image, label):
    return tf.cast(image, tf.float32) / 255.0, label


data = tf.data.Dataset.from_tensor_slices((x, y)).map(scaled, num_parallel_calls=tf.data.AUTOTUNE).cache()
train = data.take(256).shuffle(256, seed=3).batch(32, drop_remainder=True).repeat().prefetch(tf.data.AUTOTUNE)
valid = data.skip(256).batch(32)
model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(8, 3, activation="relu"),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy", "AUC"])
history = model.fit(train, steps_per_epoch=8, epochs=3, validation_data=valid, verbose=0)
report(history=history.history, scores=model.evaluate(valid, verbose=0))
