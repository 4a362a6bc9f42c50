"""Trains Keras models on a device and on the CPU, and prints the losses as JSON.

    python type_program.py DEVICE LIBRARY [PART...]

DEVICE is a name such as `/gpu:0`. The library is that of a plugin of tests/examples; then the installed plugins are not loaded.
Without one, `-`, they are. A part is `MODEL OPTIMIZER`, or `mixed precision`: from then on graphs may be in half
precision, and the results have the names `MODEL OPTIMIZER in mixed precision`.
"""

import ctypes
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# Without it the pass for mixed precision changes graphs of fast devices of NVIDIA only.
os.environ["TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_IGNORE_PERFORMANCE"] = "1"
DEVICE, LIBRARY, *PARTS = sys.argv[1:]
if LIBRARY != "-":
    # TensorFlow loads the plugins of folders with this name, if it exists.
    exists = os.path.exists
    os.path.exists = lambda path: not str(path).endswith("tensorflow-plugins") and exists(path)

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.python.framework import load_library  # noqa: E402

keras = tf.keras
layers = keras.layers
RELEASE = tuple(map(int, tf.__version__.split(".")[:2]))
OPTIMIZERS = {
    "SGD": lambda: keras.optimizers.SGD(0.1, momentum=0.9),
    "Adam": lambda: keras.optimizers.Adam(0.01),
    "RMSprop": lambda: keras.optimizers.RMSprop(0.01),
    "Adagrad": lambda: keras.optimizers.Adagrad(0.01),
}


def mlp():
    return keras.Sequential([layers.Input((16,)), layers.Dense(32, activation="relu"), layers.Dense(4)])


def cnn():
    """Returns a model whose convolutions, biases, normalizations and activations core's remapper fuses."""
    return keras.Sequential([
        layers.Input((8, 8, 3)),
        layers.Conv2D(8, 3, padding="same", activation="relu"),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.MaxPool2D(),
        layers.Conv2D(8, 3, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.GlobalAveragePooling2D(),
        layers.Dense(4),
    ])


def recurrent(layer):
    return lambda: keras.Sequential([layers.Input((6, 5)), layer(7, return_sequences=True), layer(6), layers.Dense(4)])


MODELS = {
    "mlp": (mlp, (64, 16)), "cnn": (cnn, (16, 8, 8, 3)),
    "lstm": (recurrent(layers.LSTM), (16, 6, 5)), "gru": (recurrent(layers.GRU), (16, 6, 5)),
}  # fmt: skip


def losses(device, model, optimizer):
    """Returns the losses of a few steps in a tf.function, and the sum of the predictions after them."""
    create, shape = MODELS[model]
    random = np.random.default_rng(7)
    features, labels = random.normal(size=shape).astype(np.float32), random.integers(0, 4, shape[0])
    with tf.device(device):
        model = create()
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer=OPTIMIZERS[optimizer](), loss=loss)
        starts = [weight.shape for weight in model.get_weights()]
        model.set_weights([np.abs(random.normal(scale=0.3, size=start)).astype(np.float32) for start in starts])
        found = [float(np.ravel(model.train_on_batch(features, labels))[0]) for _ in range(5)]
        return found + [float(np.sum(model.predict_on_batch(features)))]


def kernels_called():
    """Returns the ops whose kernels of the plugin have run."""
    count = ctypes.CDLL(LIBRARY).sp_kernel_calls
    count.argtypes, count.restype = [ctypes.c_char_p, ctypes.c_size_t], ctypes.c_size_t
    text = ctypes.create_string_buffer(count(None, 0) + 1024)
    count(text, len(text))
    lines = text.value.decode().splitlines()
    return sorted({line.split()[0] for line in lines if " calls=0" not in line})


if LIBRARY != "-":
    load_library.load_pluggable_device_library(LIBRARY)
results = {}
for part in PARTS:
    if part == "mixed precision":
        tf.config.optimizer.set_experimental_options({"auto_mixed_precision": True})
        continue
    name = part + (" in mixed precision" if tf.config.optimizer.get_experimental_options().get("auto_mixed_precision") else "")
    results[name] = {"cpu": losses("/CPU:0", *part.split()), "device": losses(DEVICE, *part.split())}
if LIBRARY != "-":
    results["kernels called"] = kernels_called()
results["devices"] = [device.name for device in tf.config.list_logical_devices()]
print(json.dumps(results))
