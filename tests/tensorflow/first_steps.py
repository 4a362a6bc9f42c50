"""A short test of a plugin in a release: lists the device, adds, and trains the small model.

    python first_steps.py [DEVICE_TYPE]

Prints a line of JSON after each step, so that the last step before a crash is known.
"""

import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf

import small_model


def print_step(**step):
    print(json.dumps(step), flush=True)


def main(device_type, compare=True):
    devices = [device.name for device in tf.config.list_physical_devices(device_type)]
    print_step(version=tf.__version__, devices=devices)
    if not devices:
        return
    with tf.device(f"/device:{device_type}:0"):
        total = tf.constant([1.0, 2.5]) + tf.constant([3.0, -4.0])
    print_step(added=total.numpy().tolist(), on=total.device)
    print_step(**small_model.main(device_type, compare))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "MYACCEL")
