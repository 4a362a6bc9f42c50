"""Times training steps of Keras 3 under default arguments, which ask for XLA, on the plugin's device.

    target/made/tensorflow-2.21/bin/python tests/bench/keras_defaults.py [--only lstm] [--runs 15]

The models are those of models.py. Each trains by `fit` with the defaults and with `jit_compile=False` on the device, with the
defaults on the CPU, by XLA, and once more with `jit_compile=False` on the device. The four alternate in one process. `ratio` is the
median of the defaults' time over that with `jit_compile=False`, `spread` that of the second such model: what differs from 1 there
is noise.
"""

import os

import alternation  # Precedes TensorFlow.
import models
import tensorflow as tf

keras = tf.keras
STEPS = 10


def training(name, device, **arguments):
    """Returns a function from a number of calls to the time of a step, in which the model trains by `fit` on the device."""
    with tf.device(device):
        keras.utils.set_random_seed(1)
        network, inputs, optimizer = models.MODELS[name]()
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        network.compile(optimizer=optimizer, loss=loss, **arguments)
        batch = (tf.constant(inputs), tf.range(models.BATCH) % models.CLASSES)
        batches = tf.data.Dataset.from_tensors(batch).repeat(STEPS)

    def fit():
        with tf.device(device):
            return tf.constant(network.fit(batches, verbose=0).history["loss"])

    asks_for_xla = network.jit_compile if hasattr(network, "jit_compile") else network._jit_compile
    assert bool(asks_for_xla) == (not arguments), f"{name} does not ask for XLA by default"
    return fit


def main():
    arguments = alternation.parser(__doc__, runs=15).parse_args()
    names = alternation.chosen(models.MODELS, arguments)
    print(f"TensorFlow {tf.__version__}, {os.cpu_count()} cores; milliseconds for one step of `fit`")
    print(f"{'':12} {'defaults':>9} {'no jit':>9} {'ratio':>6} {'spread':>6} {'CPU, XLA':>9} {'ratio':>6}")
    ordinary = {"jit_compile": False}
    ways = [(alternation.PLUGIN, {}), (alternation.PLUGIN, ordinary), (alternation.PLUGIN, ordinary), (alternation.CPU, {})]
    for name in names:
        fits = [training(name, device, **options) for device, options in ways]
        clock = alternation.clock(arguments)
        timers = [lambda calls, fit=fit: alternation.seconds(fit, calls, clock) for fit in fits]
        medians = alternation.medians(timers, arguments.runs)
        defaults, plain, again, xla = (1e3 * it / STEPS for it in medians)
        print(f"{name:12} {defaults:9.2f} {plain:9.2f} {defaults / plain:6.3f} {again / plain:6.3f} {xla:9.2f} {defaults / xla:6.2f}", flush=True)


if __name__ == "__main__":
    main()
