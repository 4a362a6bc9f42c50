"""Trains with MirroredStrategy on the CPU and on two devices of the plugin, and prints the losses as JSON.

    python mirrored_program.py DEVICE...
"""

import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["SP_CPU_DEVICES"] = "2"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

RELEASE = tuple(map(int, tf.__version__.split(".")[:2]))
RANDOM = np.random.default_rng(1)
FEATURES = RANDOM.normal(size=(16, 4)).astype(np.float32)
LABELS = RANDOM.integers(0, 3, 16)
START = [RANDOM.normal(size=size).astype(np.float32) for size in [(4, 8), (8,), (8, 3), (3,)]]


def losses(devices):
    """Returns the losses of Keras' `fit`, whose gradients are reduced over all devices, and the devices that have the first weight."""
    strategy = tf.distribute.MirroredStrategy(devices)
    with strategy.scope():
        layers = tf.keras.layers
        model = tf.keras.Sequential([layers.Input((4,)), layers.Dense(8, activation="relu"), layers.Dense(3)])
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(tf.keras.optimizers.SGD(0.1), loss)
    with tf.device("/CPU:0"):
        model.set_weights(START)
    history = model.fit(FEATURES, LABELS, batch_size=8, epochs=3, verbose=0, shuffle=False)
    weight = getattr(model.weights[0], "_value", model.weights[0])
    mirrored = [variable.device.rsplit("/", 1)[-1] for variable in strategy.experimental_local_results(weight)]
    return history.history["loss"], mirrored


# Several strategies over the same devices use the same keys of collective ops, so a process has one.
devices_losses, variables = losses(sys.argv[1:])
print(json.dumps({
    "cpu": losses(["/CPU:0"])[0],
    "devices": devices_losses,
    "variables": variables,
    "replicas without names": tf.distribute.MirroredStrategy().num_replicas_in_sync,
}))
