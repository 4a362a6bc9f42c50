"""The data and the model of all programs of this folder, and a training loop that does not depend on the strategy."""

import os
import time

import numpy as np
import tensorflow as tf

RANDOM = np.random.RandomState(3)
FEATURES = RANDOM.normal(size=(32, 4)).astype("float32")
LABELS = RANDOM.randint(0, 3, size=32)
WEIGHTS = [RANDOM.normal(size=shape).astype("float32") for shape in [(4, 8), (8,), (8, 3), (3,)]]
BATCH = 8
HAS_KERAS_2 = tf.keras.__version__.startswith("2.")


def dataset():
    return tf.data.Dataset.from_tensor_slices((FEATURES, LABELS)).batch(BATCH)


def variables():
    # Each replica changes a variable by the same gradient.
    return [tf.Variable(it, aggregation=tf.VariableAggregation.MEAN) for it in WEIGHTS]


def loss_of(weights, x, y):
    """Returns the loss of a replica, of which all replicas' sum is the mean over the batch."""
    hidden = tf.nn.relu(x @ weights[0] + weights[1])
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, hidden @ weights[2] + weights[3])
    return tf.nn.compute_average_loss(losses, global_batch_size=BATCH)


def train(strategy, epochs=2, wrap=tf.function):
    """Returns the losses of gradient descent, and the weights. `wrap` makes the step what is called."""
    with strategy.scope():
        weights = variables()

    def step_of_replica(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(weights, x, y)
        gradients = tf.distribute.get_replica_context().all_reduce("sum", tape.gradient(loss, weights))
        for weight, gradient in zip(weights, gradients):
            weight.assign_sub(0.1 * gradient)
        return loss

    @wrap
    def step(x, y):
        return strategy.reduce("SUM", strategy.run(step_of_replica, (x, y)), axis=None)

    batches = strategy.experimental_distribute_dataset(dataset())
    losses = [float(step(x, y)) for _ in range(epochs) for x, y in batches]
    return losses, [it.numpy() for it in weights]


def wait_until_done():
    """Waits for the end of the program's first process."""
    while not os.path.exists("done"):
        time.sleep(0.1)


def new_model():
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Input((4,)), layers.Dense(8, activation="relu"), layers.Dense(3)])
    model.compile(tf.keras.optimizers.SGD(0.1, momentum=0.9), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def fit(strategy, callbacks=(), epochs=2):
    """Returns the losses of Keras's `fit`, and the model."""
    with strategy.scope():
        model = new_model()
        model.set_weights(WEIGHTS)
    history = model.fit(dataset(), epochs=epochs, verbose=0, shuffle=False, callbacks=list(callbacks))
    return history.history["loss"], model
