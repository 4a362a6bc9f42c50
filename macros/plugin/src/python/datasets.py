"""Datasets of the tf.data service stay on the CPU, if the plugin's devices have the type GPU.

Core has a kernel of type GPU for the counter of such a dataset, and from 2.18 on for the dataset, which is placed where its counter is. An
iterator of it on a plugin's device ends the process in 2.18; later the elements cannot be copied to the device.

The plugin runs this text once, with the global DEVICE_TYPE.
"""

import functools
import sys


def install():
    module = sys.modules["tensorflow.python.ops.gen_experimental_dataset_ops"]
    ops = sys.modules["tensorflow.python.framework.ops"]
    create = module.dummy_iteration_counter

    @functools.wraps(create)
    def dummy_iteration_counter(*arguments, **keywords):
        with ops.device("/device:CPU:0"):
            return create(*arguments, **keywords)

    module.dummy_iteration_counter = dummy_iteration_counter
