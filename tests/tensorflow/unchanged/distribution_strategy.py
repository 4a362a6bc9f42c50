"""A loop and a model under the default strategies: get_strategy, MirroredStrategy without arguments, `strategy.run`, `reduce`."""

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
x = np.random.normal(size=(48, 6)).astype("float32")
y = x[:, :1] * 2
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.05)
    optimizer.build(model.trainable_variables)


@tf.function
def step(batch):
    def replica(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(replica, args=batch), axis=None)


losses = [step(batch) for batch in strategy.experimental_distribute_dataset(data)]
with strategy.scope():
    other = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])
    other.compile("adam", "mse")
default = tf.distribute.get_strategy().run(lambda: tf.reduce_sum(tf.constant(x)))
report(losses=losses, fitted=other.fit(data, epochs=2, verbose=0).history["loss"], default=default, replicas=strategy.num_replicas_in_sync)
