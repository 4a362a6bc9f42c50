"""One small model, trained alike in every release: two dense layers, gradient descent by hand.

    python small_model.py [DEVICE_TYPE]

Prints one line of JSON: where the variables were, whether a traced function took them, the loss
before each step, and the same on the CPU.
Nothing is drawn at random, so that all releases begin with the same numbers.
"""

import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

STEPS, BATCH, FEATURES, HIDDEN, CLASSES = 30, 64, 8, 32, 4


def waves(rows, columns, phase):
    """A matrix of numbers between -1 and 1 that look drawn."""
    angles = np.arange(rows * columns, dtype=np.float64) * 1.7 + phase
    return np.sin(angles * angles).reshape(rows, columns).astype(np.float32)


def works(attempt):
    try:
        attempt()
        return True
    except (tf.errors.NotFoundError, tf.errors.InvalidArgumentError, tf.errors.InternalError):
        return False


def ways(device):
    """Where variables are, and whether functions take them: 2.5 gives a plugin no way to assign one,
    and 2.6 and 2.7 no way to pass one to a function, unless the plugin's device type is GPU. A plugin
    that is older than its TensorFlow may have no way to change one."""

    def variable():
        with tf.device(device):
            kept = tf.Variable(tf.zeros([2]))
            kept.assign_sub(tf.ones([2]))
        return kept

    if not works(variable):
        return "/CPU:0", True
    return device, works(tf.function(lambda kept=variable(): kept + 1.0))


def train(device, home, traced=True):
    features, labels = waves(BATCH, FEATURES, 1.0), np.arange(BATCH) % CLASSES
    features[np.arange(BATCH), labels] += 1.5
    with tf.device(home):
        first = tf.Variable(waves(FEATURES, HIDDEN, 2.0))
        bias = tf.Variable(tf.zeros([HIDDEN]))
        second = tf.Variable(0.5 * waves(HIDDEN, CLASSES, 3.0))
    variables = [first, bias, second]

    def step(features, labels):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(features, first), bias))
            each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.matmul(hidden, second))
            loss = tf.reduce_mean(each)
        changes = [0.05 * gradient for gradient in tape.gradient(loss, variables)]
        return loss, changes

    step = tf.function(step) if traced else step
    # What a function takes is on the CPU, since 2.6 and 2.7 take nothing from elsewhere.
    with tf.device("/CPU:0"):
        batch = tf.constant(features), tf.constant(labels, tf.int64)
    losses = []
    for _ in range(STEPS):
        with tf.device(device):
            loss, changes = step(*batch)
        with tf.device(home):
            for variable, change in zip(variables, changes):
                variable.assign_sub(change)
        losses.append(float(loss))
    return losses


def main(device_type, compare=True):
    device = f"/device:{device_type}:0"
    home, traced = ways(device)
    found = {"variables": home, "traced": traced, "loss": train(device, home, traced)}
    return {**found, "loss_on_cpu": train("/CPU:0", "/CPU:0")} if compare else found


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1] if len(sys.argv) > 1 else "MYACCEL")))
