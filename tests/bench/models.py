"""Compares training steps of Keras models on the plugin's device with those on the CPU device.

    target/made/tensorflow-2.21/bin/python tests/bench/models.py [--only lstm] [--runs 15] [--cpu-time] [--no-memory]

A figure is the median time of a step over the runs, in which the plugin, the CPU device and a second model on the CPU device
alternate in one process. `ratio` is the plugin's time over the CPU's, `spread` that of the second model on the CPU: what differs
from 1 there is noise. Steps are a `tf.function` with `jit_compile=False`, weights are random, batches have 32 examples.

The memory is what the peak of a process grows by, from the imports to the last of some steps, with one process for each device.
"""

import json
import os
import pathlib
import subprocess
import sys

import alternation  # Precedes TensorFlow.
import numpy as np
import tensorflow as tf

keras, layers = tf.keras, tf.keras.layers
BATCH, CLASSES = 32, 10
MEMORY_STEPS = 5
MODELS = {}


def model(function):
    """Registers a function that returns a model, its inputs and its optimizer."""
    MODELS[function.__name__] = function
    return function


def numbers(*shape):
    return np.random.default_rng(1).normal(size=(BATCH, *shape)).astype(np.float32)


@model
def mlp():
    dense = [layers.Dense(width, activation="relu") for width in (512, 256)]
    return keras.Sequential([*dense, layers.Dense(CLASSES)]), numbers(784), "adam"


@model
def cnn():
    parts = []
    for width in (32, 64):
        parts += [layers.Conv2D(width, 3, padding="same", activation="relu"), layers.MaxPooling2D()]
    return keras.Sequential([*parts, layers.Flatten(), layers.Dense(CLASSES)]), numbers(28, 28, 1), "adam"


def residual(x, width, step):
    """Returns a block of two convolutions, added to its input."""
    inner = layers.Conv2D(width, 3, step, padding="same", use_bias=False)(x)
    inner = layers.ReLU()(layers.BatchNormalization()(inner))
    inner = layers.Conv2D(width, 3, padding="same", use_bias=False)(inner)
    if step > 1:
        x = layers.Conv2D(width, 1, step, use_bias=False)(x)
    return layers.ReLU()(layers.Add()([layers.BatchNormalization()(inner), x]))


@model
def resnet():
    """ResNet-20 of images of CIFAR-10."""
    inputs = keras.Input([32, 32, 3])
    x = layers.Conv2D(16, 3, padding="same", use_bias=False)(inputs)
    x = layers.ReLU()(layers.BatchNormalization()(x))
    for width, steps in ((16, (1, 1, 1)), (32, (2, 1, 1)), (64, (2, 1, 1))):
        for step in steps:
            x = residual(x, width, step)
    outputs = layers.Dense(CLASSES)(layers.GlobalAveragePooling2D()(x))
    return keras.Model(inputs, outputs), numbers(32, 32, 3), keras.optimizers.SGD(0.01, momentum=0.9)


def attention_block(x, mask, width):
    attended = layers.MultiHeadAttention(4, width // 4, dropout=0.1)(x, x, attention_mask=mask)
    x = layers.LayerNormalization()(x + attended)
    hidden = layers.Dense(4 * width, activation="gelu")(x)
    return layers.LayerNormalization()(x + layers.Dropout(0.1)(layers.Dense(width)(hidden)))


@model
def transformer():
    """An encoder of two blocks over 64 tokens, with a mask."""
    length, width, words = 64, 128, 1000
    inputs = keras.Input([length], dtype="int64")
    mask = keras.ops.expand_dims(keras.ops.not_equal(inputs, 0), 1)
    x = layers.Embedding(words, width)(inputs)
    for _ in range(2):
        x = attention_block(x, mask, width)
    outputs = layers.Dense(CLASSES)(layers.GlobalAveragePooling1D()(x))
    tokens = np.random.default_rng(1).integers(0, words, (BATCH, length))
    return keras.Model(inputs, outputs), tokens, keras.optimizers.AdamW(0.001)


@model
def lstm():
    return keras.Sequential([layers.LSTM(128), layers.Dense(CLASSES)]), numbers(50, 64), "adam"


def training_step(name, device):
    """Returns a function that trains a model on the device, for one step, and returns the loss."""
    keras.utils.set_random_seed(1)
    with tf.device(device):
        network, inputs, optimizer = MODELS[name]()
        x, y = tf.constant(inputs), tf.range(BATCH) % CLASSES
        network(x)
        optimizer = keras.optimizers.get(optimizer)
        optimizer.build(network.trainable_variables)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function(jit_compile=False)
    def step(x, y):
        with tf.GradientTape() as tape:
            value = loss(y, network(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(value, network.trainable_variables), network.trainable_variables))
        return value

    def run():
        with tf.device(device):
            return step(x, y)

    return run


def times(name, runs, clock):
    """Returns the median times of a step on the plugin's device, the CPU device, and the CPU device again."""
    steps = [training_step(name, device) for device in (alternation.PLUGIN, alternation.CPU, alternation.CPU)]
    timers = [lambda calls, step=step: alternation.seconds(step, calls, clock) for step in steps]
    return alternation.medians(timers, runs)


def status(field):
    """Returns a size in the process's status, in MiB."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 1024


def print_growth(name, device):
    """Prints how much the process's peak grows by steps of training."""
    # Creates the devices.
    tf.config.list_logical_devices()
    before = status("VmRSS")
    step = training_step(name, device)
    for _ in range(MEMORY_STEPS):
        step().numpy()
    print(json.dumps(status("VmHWM") - before))


def growth(name, device):
    """Returns what a process of its own prints, in MiB."""
    command = [sys.executable, __file__, "--growth", name, device]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()[-1])


def main():
    if sys.argv[1:2] == ["--growth"]:
        return print_growth(*sys.argv[2:])
    parser = alternation.parser(__doc__, runs=15)
    parser.add_argument("--no-memory", action="store_true", help="leave out the peak memory")
    arguments = parser.parse_args()
    names = alternation.chosen(MODELS, arguments)
    print(f"TensorFlow {tf.__version__}, {os.cpu_count()} cores; milliseconds for one step, MiB")
    print(f"{'':12} {'plugin':>9} {'CPU':>9} {'ratio':>6} {'spread':>6} {'memory':>9} {'CPU':>9} {'ratio':>6}")
    for name in names:
        plugin, cpu, again = (1e3 * it for it in times(name, arguments.runs, alternation.clock(arguments)))
        row = f"{name:12} {plugin:9.2f} {cpu:9.2f} {plugin / cpu:6.2f} {again / cpu:6.2f}"
        if not arguments.no_memory:
            ours, theirs = (growth(name, device) for device in (alternation.PLUGIN, alternation.CPU))
            row += f" {ours:9.1f} {theirs:9.1f} {ours / theirs:6.2f}"
        print(row, flush=True)


if __name__ == "__main__":
    main()
