"""Compares traced functions on the plugin's device with and without the SDK's fusions, and on the CPU device, in one process.

    target/made/tensorflow-2.21/bin/python tests/bench/fusion.py [--only dense] [--runs 21] [--cpu-time]

A figure is the median time of a call over the runs, in which the three alternate. `--cpu-time` counts the process's time on
all cores instead, with one thread for each device: less precise, and hardly changed by other processes.
"""

import os

import alternation  # Precedes TensorFlow.
import numpy as np
import tensorflow as tf

CASES = {}


def case(shapes, batch):
    """Registers a function of variables with these shapes and a batch of inputs of this shape."""

    def register(function):
        CASES[function.__name__] = function, shapes, batch
        return function

    return register


def dense(x, w, b, activation=tf.nn.relu):
    return activation(tf.nn.bias_add(tf.matmul(x, w), b))


def convolution(x, f, b):
    return tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, f, 1, "SAME"), b))


def loss_of(logits):
    labels = tf.range(logits.shape[0]) % 10
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))


def train(variables, loss):
    """Updates the variables by the gradients of a loss, and returns it."""
    with tf.GradientTape() as tape:
        value = loss()
    for variable, gradient in zip(variables, tape.gradient(value, variables)):
        variable.assign_sub(0.01 * gradient)
    return value


@case([(784, 128), (128,)], (32, 784))
def one_dense_layer(variables, x):
    return dense(x, *variables)


@case([(3, 3, 32, 64), (64,)], (16, 32, 32, 32))
def one_convolution(variables, x):
    return convolution(x, *variables)


@case([(3, 3, 1, 32), (32,)], (32, 28, 28, 1))
def first_convolution(variables, x):
    return convolution(x, *variables)


MLP = [(784, 512), (512,), (512, 256), (256,), (256, 10), (10,)]


def mlp(variables, x):
    x = dense(dense(x, *variables[:2]), *variables[2:4])
    return dense(x, *variables[4:], activation=tf.identity)


@case(MLP, (64, 784))
def mlp_inference(variables, x):
    return mlp(variables, x)


@case(MLP, (64, 784))
def mlp_training(variables, x):
    return train(variables, lambda: loss_of(mlp(variables, x)))


CNN = [(3, 3, 1, 32), (32,), (3, 3, 32, 64), (64,), (7 * 7 * 64, 10), (10,)]


def cnn(variables, x):
    for layer in (variables[:2], variables[2:4]):
        x = tf.nn.max_pool2d(convolution(x, *layer), 2, 2, "SAME")
    return dense(tf.reshape(x, [len(x), -1]), *variables[4:], activation=tf.identity)


@case(CNN, (32, 28, 28, 1))
def cnn_inference(variables, x):
    return cnn(variables, x)


@case(CNN, (32, 28, 28, 1))
def cnn_training(variables, x):
    return train(variables, lambda: loss_of(cnn(variables, x)))


def traced(name, device):
    """Returns a function without parameters that runs the case on the device."""
    function, shapes, batch = CASES[name]
    random = np.random.default_rng(1)
    numbers = lambda shape: tf.constant(0.05 * random.normal(size=shape), tf.float32)
    with tf.device(device):
        variables, x = [tf.Variable(numbers(shape)) for shape in shapes], numbers(batch)
        step = tf.function(lambda x: function(variables, x), jit_compile=False)
    return lambda: step(x)


def timer(name, device, is_fused, clock):
    """Returns a function from a number of calls to the time of one."""
    step = traced(name, device)

    def seconds(calls):
        # TensorFlow optimizes a function for each value of the option with which it is called.
        tf.config.optimizer.set_experimental_options({"use_plugin_optimizers": is_fused})
        with tf.device(device):
            return alternation.seconds(step, calls, clock)

    return seconds


def main():
    arguments = alternation.parser(__doc__, runs=21).parse_args()
    names = alternation.chosen(CASES, arguments)
    print(f"TensorFlow {tf.__version__}, {os.cpu_count()} cores; microseconds for one call")
    print(f"{'':20} {'single':>9} {'fused':>9} {'TensorFlow':>10} {'fused/single':>12} {'fused/TensorFlow':>16}")
    variants = [(alternation.PLUGIN, False), (alternation.PLUGIN, True), (alternation.CPU, True)]
    for name in names:
        timers = [timer(name, *variant, alternation.clock(arguments)) for variant in variants]
        single, fused, cpu = (1e6 * it for it in alternation.medians(timers, arguments.runs))
        print(f"{name:20} {single:9.1f} {fused:9.1f} {cpu:10.1f} {fused / single:12.3f} {fused / cpu:16.3f}", flush=True)


if __name__ == "__main__":
    main()
