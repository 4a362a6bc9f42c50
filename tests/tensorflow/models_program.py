"""Trains models of tests/traced_ops on the CPU and on the device from one seed, and prints the results as JSON.

Arguments: the names of the models, or `--list`, which prints the names of all. The placement of each node is in TensorFlow's log on stderr, between lines that name the model.
"""

import json
import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "0"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "traced_ops"))
import models  # noqa: E402
import networks  # noqa: E402

STEPS = 5
DEVICES = {"cpu": "/CPU:0", "device": "/device:MYACCEL:0"}
FAMILIES = [
    models.layer_models, models.loss_models, models.optimizer_models, models.metric_models, networks.network_models,
    models.application_models,
]


def run(function, *arguments):
    """Returns the mean and the deviation of each result of some calls."""
    compiled = tf.function(function, autograph=False, jit_compile=False)
    return [summary(it) for _ in range(STEPS) for it in tf.nest.flatten(compiled(*arguments))]


def summary(tensor):
    values = tensor.numpy().astype(np.float64)
    return [values.mean(), values.std()]


def policy_of(name):
    """Returns the type in which a model computes. Applications normalize two images of one pixel, which amplifies rounding: their
    losses in float32 differ by 15 to 35% between the CPU device with oneDNN and without it."""
    return "float64" if name.startswith("application") else "float32"


def train(name, model, device):
    tf.keras.utils.set_random_seed(1)
    tf.keras.mixed_precision.set_global_policy(policy_of(name))
    print(f"begin {name}", file=sys.stderr, flush=True)
    try:
        with tf.device(device):
            return model()
    except tf.errors.OpError as error:
        return str(error)
    except (AttributeError, TypeError, ValueError) as error:
        if hasattr(tf.keras, "ops"):
            raise
        return f"not in Keras 2: {error}"
    finally:
        print("end", file=sys.stderr, flush=True)


def main(names):
    every = dict(pair for family in FAMILIES for pair in family())
    if names == ["--list"]:
        return print("\n".join(every))
    models.Use.of_function = staticmethod(run)
    tf.debugging.set_log_device_placement(True)
    found = {name: {key: train(f"{name} on {key}", every[name], device) for key, device in DEVICES.items()} for name in names}
    print(json.dumps(found))


main(sys.argv[1:])
