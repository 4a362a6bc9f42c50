"""Callbacks: checkpoints, early stopping, learning rates, a log, one of the program's own; and the best weights again."""

import csv
import pathlib
import tempfile

import numpy as np
import tensorflow as tf
from report import report

callbacks = tf.keras.callbacks
tf.keras.utils.set_random_seed(1)
folder = pathlib.Path(tempfile.mkdtemp())
x = np.random.normal(size=(128, 5)).astype("float32")
y = x @ np.arange(5, dtype="float32")[:, None] + 1
rates = []


class Rates(callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        rates.append(float(np.asarray(self.model.optimizer.learning_rate)))


model = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.SGD(0.05), "mse")
used = [
    callbacks.ModelCheckpoint(str(folder / "best.weights.h5"), save_best_only=True, save_weights_only=True, monitor="loss"),
    callbacks.EarlyStopping(monitor="val_loss", patience=2, restore_best_weights=True),
    callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.9 if epoch > 2 else rate),
    callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1),
    callbacks.CSVLogger(str(folder / "log.csv")),
    callbacks.TerminateOnNaN(),
    Rates(),
]
history = model.fit(x, y, epochs=6, validation_split=0.2, callbacks=used, verbose=0)
model.load_weights(str(folder / "best.weights.h5"))
rows = list(csv.DictReader(open(folder / "log.csv")))
report(history=history.history, rates=rates, rows=len(rows), best=model.evaluate(x, y, verbose=0))
