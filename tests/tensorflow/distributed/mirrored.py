"""MirroredStrategy over all devices: a loop of the program's own, Keras's `fit`, and checkpoints that other strategies load."""

import os
import tempfile

import numpy as np
import tensorflow as tf
import workload
from report import report

names = os.environ.get("SP_DEVICES")
strategy = tf.distribute.MirroredStrategy(names.split() if names else None)
losses, weights = workload.train(strategy)
fitted, model = workload.fit(strategy)
folder = tempfile.mkdtemp()
saved = tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(f"{folder}/mirrored")
default = workload.new_model()
default.fit(workload.dataset().take(1), verbose=0)
tf.train.Checkpoint(model=default, optimizer=default.optimizer).restore(saved).expect_partial()
continued = default.fit(workload.dataset(), verbose=0, shuffle=False).history["loss"]
model.save_weights(f"{folder}/model.weights.h5")
with tf.distribute.OneDeviceStrategy("/device:CPU:0").scope():
    other = workload.new_model()
    other.load_weights(f"{folder}/model.weights.h5")
same = [np.array_equal(a, b) for a, b in zip(model.get_weights(), other.get_weights())]
report(losses=losses, weights=weights, fitted=fitted, continued=continued, same=same)
