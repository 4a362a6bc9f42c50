"""A worker that is killed in an epoch and starts again: Keras's BackupAndRestore continues with the losses of a run without a stop."""
# restarts: 1

import os
import signal

import tensorflow as tf
import workload
from report import report

first = not os.path.exists("backup")
names = os.environ.get("SP_DEVICES")
losses = []


class Record(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        losses.append(logs["loss"])

    def on_train_batch_end(self, batch, logs=None):
        if first and len(losses) == 2 and batch == 1:
            os.kill(os.getpid(), signal.SIGKILL)


callbacks = [tf.keras.callbacks.BackupAndRestore("backup"), Record()]
strategy = tf.distribute.MirroredStrategy(names.split() if names else None)
workload.fit(strategy, callbacks, epochs=4)
report(losses=losses)
