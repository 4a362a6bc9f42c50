"""Each optimizer of Keras on a small model, and a schedule, weight decay, clipping and a moving average of the weights."""

import numpy as np
import tensorflow as tf
from report import report

x = np.random.RandomState(1).normal(size=(48, 5)).astype("float32")
y = np.sin(x).sum(1, keepdims=True)
optimizers = tf.keras.optimizers
NAMES = ["SGD", "RMSprop", "Adam", "AdamW", "Adadelta", "Adagrad", "Adamax", "Adafactor", "Nadam", "Ftrl", "Lion", "Lamb", "Muon"]
CHOSEN = {name: getattr(optimizers, name) for name in NAMES if hasattr(optimizers, name)}
OPTIONS = {
    "momentum": lambda: optimizers.SGD(0.05, momentum=0.9, nesterov=True, clipnorm=0.5),
    "amsgrad": lambda: optimizers.Adam(0.05, amsgrad=True, clipvalue=0.2),
    "centered": lambda: optimizers.RMSprop(0.01, momentum=0.5, centered=True, global_clipnorm=1.0),
    "average": lambda: optimizers.SGD(0.05, use_ema=True, ema_momentum=0.8, weight_decay=0.01),
    "schedule": lambda: optimizers.Adam(optimizers.schedules.ExponentialDecay(0.05, 2, 0.9, staircase=True)),
}


def losses(optimizer):
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(6, activation="tanh"), tf.keras.layers.Dense(1)])
    model.compile(optimizer, "mse")
    return model.fit(x, y, batch_size=16, epochs=3, shuffle=False, verbose=0).history["loss"]


results = {name: losses(make(learning_rate=0.01)) for name, make in CHOSEN.items()}
report(**results, **{name: losses(make()) for name, make in OPTIONS.items()})
