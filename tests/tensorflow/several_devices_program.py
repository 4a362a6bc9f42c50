"""Uses two devices of the plugin in the ways that programs name them, and prints the result of each as JSON."""

import json
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["SP_CPU_DEVICES"] = "2"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

TYPE = "MYACCEL"
VALUE = np.float32([[-1, 2], [3, -4]])


def placed(name):
    """Returns the device that runs an op under `tf.device(name)`."""
    with tf.device(name):
        return tf.nn.relu(tf.constant(VALUE)).device.rsplit("/", 1)[-1]


def copied():
    with tf.device(f"/device:{TYPE}:0"):
        first = tf.nn.relu(tf.constant(VALUE))
    with tf.device(f"/device:{TYPE}:1"):
        second = first + first
    with tf.device("/CPU:0"):
        third = second + first
    return third.numpy().tolist()


def memory_info():
    """Returns whether TensorFlow counts the memory of a tensor on device 1."""
    before = tf.config.experimental.get_memory_info(f"{TYPE}:1")["current"]
    with tf.device(f"/device:{TYPE}:1"):
        kept = tf.nn.relu(tf.constant(np.ones([1000, 1000], np.float32)))
    counted = tf.config.experimental.get_memory_info(f"{TYPE}:1")["current"] - before
    return "counts" if counted >= kept.numpy().nbytes else f"{counted} bytes"


def details():
    return dict(tf.config.experimental.get_device_details(tf.config.list_physical_devices(TYPE)[0]))


def saved(saver, server):
    """Returns the result of a SavedModel that one device has saved and another one runs."""
    with tempfile.TemporaryDirectory() as folder:
        with tf.device(saver):
            module = tf.Module()
            module.weight = tf.Variable(VALUE)
            module.run = tf.function(lambda x: tf.nn.relu(tf.matmul(x, module.weight)), input_signature=[tf.TensorSpec([None, 2])])
            tf.saved_model.save(module, folder)
        with tf.device(server):
            loaded = tf.saved_model.load(folder)
            return loaded.run(tf.constant(np.eye(2, dtype=np.float32))).numpy().tolist()


def session():
    with tf.Graph().as_default(), tf.compat.v1.Session() as run:
        with tf.device(f"/device:{TYPE}:1"):
            x = tf.compat.v1.placeholder(tf.float32, [2, 2])
            y = tf.nn.relu(x)
        return run.run(y, {x: VALUE}).tolist()


def attempt(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return f"{type(error).__name__}"


def visible():
    """Makes one of two devices visible, and returns the logical devices; before anything else has used a device."""
    tf.config.set_visible_devices(tf.config.list_physical_devices(TYPE)[1:], TYPE)
    return [it.name for it in tf.config.list_logical_devices(TYPE)]


def facts():
    cpu, device = "/CPU:0", f"/device:{TYPE}:1"
    names = [f"/device:{TYPE}:1", f"{TYPE}:1", f"/{TYPE}:1", f"{TYPE.lower()}:1", f"/device:{TYPE.lower()}:1"]
    found = {f'tf.device("{name}")': attempt(placed, name) for name in names}
    found["copies between devices"] = attempt(copied)
    found["get_memory_info"] = attempt(memory_info)
    found["get_device_details"] = attempt(details)
    found["SavedModel, device to CPU"] = attempt(saved, device, cpu)
    found["SavedModel, CPU to device"] = attempt(saved, cpu, device)
    found["a Session of TensorFlow 1"] = attempt(session)
    return found


if __name__ == "__main__":
    import sys

    print(json.dumps(attempt(visible) if sys.argv[1:] == ["visible"] else facts()))
