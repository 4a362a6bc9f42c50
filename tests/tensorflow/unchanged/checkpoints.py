"""tf.train.Checkpoint and CheckpointManager: a loop that is interrupted, and goes on in new objects with the same losses."""

import tempfile

import numpy as np
import tensorflow as tf
from report import report


def new_objects(folder):
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
    optimizer, step = tf.keras.optimizers.Adam(0.01), tf.Variable(0, dtype=tf.int64)
    optimizer.build(model.trainable_variables)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=step)
    return model, optimizer, step, tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)


def losses(model, optimizer, step, x, y, count):
    @tf.function
    def run():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        step.assign_add(1)
        return loss

    return [float(run()) for _ in range(count)]


tf.keras.utils.set_random_seed(1)
folder = tempfile.mkdtemp()
x = np.random.normal(size=(32, 4)).astype("float32")
y = x.sum(1, keepdims=True)
*first, manager = new_objects(folder)
before = losses(*first, x, y, 4)
for _ in range(3):
    manager.save()
expected = losses(*first, x, y, 3)
*second, manager = new_objects(folder)
manager.restore_or_initialize()
after = losses(*second, x, y, 3)
shapes = [shape for name, shape in tf.train.list_variables(manager.latest_checkpoint) if name.startswith("model")]
report(before=before, expected=expected, after=after, kept=len(manager.checkpoints), step=second[2], shapes=len(shapes))
