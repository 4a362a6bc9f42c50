"""Trains a convolutional network of Keras for four steps on the default device: `train_cnn.py [FOLDER]`, which gets a profile of the steps."""

import contextlib
import sys

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
layers = tf.keras.layers
model = tf.keras.Sequential([
    tf.keras.Input([28, 28, 1]),
    layers.Conv2D(16, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(32, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dense(64, activation="relu"),
    layers.Dense(10),
])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
images = np.random.default_rng(0).random((256, 28, 28, 1), dtype=np.float32)
labels = np.arange(256) % 10

model.fit(images[:64], labels[:64], batch_size=64, verbose=0)
with tf.profiler.experimental.Profile(sys.argv[1]) if len(sys.argv) > 1 else contextlib.nullcontext():
    model.fit(images, labels, batch_size=64, verbose=0)
