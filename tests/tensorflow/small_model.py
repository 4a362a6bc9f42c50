"""A small model, trained in the same way in every release: two dense layers, gradient descent by hand.

    python small_model.py [DEVICE_TYPE]

Prints one line of JSON: the device of the variables, whether the step was a traced function, the loss before
each step, and the same losses on the CPU. No value is random, so that all releases begin with the same numbers.
"""

import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

STEPS, BATCH, FEATURES, HIDDEN, CLASSES = 30, 64, 8, 32, 4


def waves(rows, columns, phase):
    """Returns a matrix of irregular but fixed numbers between -1 and 1."""
    angles = np.arange(rows * columns, dtype=np.float64) * 1.7 + phase
    return np.sin(angles * angles).reshape(rows, columns).astype(np.float32)


def succeeds(operation):
    try:
        operation()
        return True
    except (tf.errors.NotFoundError, tf.errors.InvalidArgumentError, tf.errors.InternalError):
        return False


def variable_support(device):
    """Returns the device to put variables on, and whether functions accept variables there.

    In 2.5 a plugin cannot assign a variable; in 2.6 and 2.7 a function accepts none, unless the plugin's
    device type is GPU. A plugin that is older than its TensorFlow may have no kernel that assigns one."""

    def variable():
        with tf.device(device):
            created = tf.Variable(tf.zeros([2]))
            created.assign_sub(tf.ones([2]))
        return created

    if not succeeds(variable):
        return "/CPU:0", True
    return device, succeeds(tf.function(lambda captured=variable(): captured + 1.0))


def train(device, variable_device, traced=True):
    features, labels = waves(BATCH, FEATURES, 1.0), np.arange(BATCH) % CLASSES
    features[np.arange(BATCH), labels] += 1.5
    with tf.device(variable_device):
        first = tf.Variable(waves(FEATURES, HIDDEN, 2.0))
        bias = tf.Variable(tf.zeros([HIDDEN]))
        second = tf.Variable(0.5 * waves(HIDDEN, CLASSES, 3.0))
    variables = [first, bias, second]

    def step(features, labels):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(features, first), bias))
            row_losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.matmul(hidden, second))
            loss = tf.reduce_mean(row_losses)
        updates = [0.05 * gradient for gradient in tape.gradient(loss, variables)]
        return loss, updates

    step = tf.function(step) if traced else step
    # Arguments of a function are on the CPU: 2.6 and 2.7 accept no others.
    with tf.device("/CPU:0"):
        batch = tf.constant(features), tf.constant(labels, tf.int64)
    losses = []
    for _ in range(STEPS):
        with tf.device(device):
            loss, updates = step(*batch)
        with tf.device(variable_device):
            for variable, update in zip(variables, updates):
                variable.assign_sub(update)
        losses.append(float(loss))
    return losses


def main(device_type, compare=True):
    device = f"/device:{device_type}:0"
    variable_device, traced = variable_support(device)
    result = {"variables": variable_device, "traced": traced, "loss": train(device, variable_device, traced)}
    return {**result, "loss_on_cpu": train("/CPU:0", "/CPU:0")} if compare else result


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1] if len(sys.argv) > 1 else "MYACCEL")))
