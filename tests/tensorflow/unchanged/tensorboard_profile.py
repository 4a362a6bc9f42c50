"""TensorBoard with histograms and a profile of two batches; the summaries and the profile are there afterwards."""
# packages: tensorboard

import pathlib
import tempfile

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
folder = pathlib.Path(tempfile.mkdtemp())
x = np.random.normal(size=(128, 10)).astype("float32")
y = np.random.randint(0, 2, size=(128,))
model = tf.keras.Sequential([tf.keras.Input((10,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(2)])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
board = tf.keras.callbacks.TensorBoard(str(folder), histogram_freq=1, profile_batch=(2, 3), update_freq="epoch")
history = model.fit(x, y, epochs=2, validation_data=(x, y), callbacks=[board], verbose=0)

tags = set()
for path in folder.rglob("events.out.tfevents*"):
    if path.name.endswith("profile-empty"):
        continue
    for event in tf.compat.v1.train.summary_iterator(str(path)):
        tags |= {value.tag for value in event.summary.value}
profiles = [path for path in folder.rglob("*.xplane.pb") if path.stat().st_size > 0]
report(history=history.history, tags=sorted(it for it in tags if it.startswith("epoch")), profiles=len(profiles))
