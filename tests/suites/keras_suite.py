"""Keras's own tests, from the installed wheel."""

import argparse
import os

from . import exceptions
from .compare import Suite, compare, facts

COMMAND = "tests/keras"
# The fast part: files of trainers and optimizers, with parts of the names of the tests to run; all if there is none.
FAST = {
    "trainers/trainer_test.py": [
        "_flow_jit", "on_batch_methods_jit", "custom_train_step", "custom_test_step_dict", "adapter_py_dataset_cw", "_tf_dataset_infinite",
        "predict_generator_1_jit", "predict_preserve_order_1_jit", "loss_scaling_prevents", "update_state_at_batch", "custom_compute_loss",
    ],
    "trainers/epoch_iterator_test.py": [],
    "trainers/compile_utils_test.py": [],
    "optimizers/adam_test.py": [],
    "optimizers/sgd_test.py": [],
    "optimizers/optimizer_sparse_test.py": [],
    "optimizers/loss_scale_optimizer_test.py": [],
    "optimizers/schedules/learning_rate_schedule_test.py": [],
}
# Other backends; their tests need them.
LEFT_OUT = ["backend/jax/", "backend/numpy/", "backend/openvino/", "backend/torch/"]
FACTS = """
import json, os, pathlib
os.environ.update(KERAS_BACKEND="tensorflow", TF_CPP_MIN_LOG_LEVEL="3")
import tensorflow as tf, keras, pytest
root = pathlib.Path(keras.__file__).parents[1]
files = sorted(str(it.relative_to(root)) for it in (root / "keras" / "src").rglob("*_test.py"))
devices = sorted({it.device_type for it in tf.config.list_physical_devices()} - {"CPU"})
print(json.dumps({"tensorflow": tf.__version__, "keras": keras.__version__, "root": str(root), "files": files, "devices": devices}))
"""


def main(arguments):
    """Runs the tests and prints the difference; returns the exit status."""
    options = parse(arguments)
    found = facts(COMMAND, options.python, FACTS)
    if found is None:
        return 2
    files = [it for it in found["files"] if is_chosen(it, options)]
    print(f"TensorFlow {found['tensorflow']}, Keras {found['keras']}: {len(files)} files", flush=True)
    known = exceptions.of_release(found["tensorflow"])
    suite = Suite(COMMAND, options.python, found["root"], ["tensorflow", "keras"], "in_keras/conftest", found["devices"], known)
    return compare(suite, {file: FAST.get(short(file), []) if options.part else [] for file in files})


def parse(arguments):
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("python", metavar="PYTHON")
    parser.add_argument("--only", metavar="PATTERN", default="")
    parser.add_argument("--without", metavar="PATTERN", action="append", default=[])
    parser.add_argument("--part", choices=["fast"])
    options = parser.parse_args(arguments)
    options.python = os.path.abspath(options.python)
    return options


def short(file):
    return file.removeprefix("keras/src/")


def is_chosen(file, options):
    name = short(file)
    is_in_part = options.part is None or name in FAST
    is_wanted = options.only in name and not any(pattern in name for pattern in options.without)
    return is_in_part and is_wanted and not name.startswith(tuple(LEFT_OUT))
