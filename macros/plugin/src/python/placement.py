"""Ops that stay on the CPU, if the plugin's devices have the type GPU.

Core has kernels of type GPU for these ops or for those that use their results, so that both are placed on the plugin's device:

- the counter of a dataset of the tf.data service, from 2.18 on, where the dataset follows it. An iterator of it on a plugin's device ends the
  process in 2.18; later the elements cannot be copied to the device;
- in a build with CUDA the variables that are references and the tensor arrays of TensorFlow 1. The ops that use them are placed where
  they are, and only core can compute these.

The functions that create them place them so in the whole process, whatever device a program names.

The plugin runs this text once, with the global CUDA_BUILD: `1`, or an empty text.
"""

import functools
import sys

OPS = (("gen_experimental_dataset_ops", "dummy_iteration_counter"),)
OPS_OF_CUDA_BUILD = (("gen_state_ops", "variable"), ("gen_state_ops", "variable_v2"), ("gen_data_flow_ops", "tensor_array_v3"))


def on_cpu(create):
    """Returns the function that creates the op on the CPU."""
    ops = sys.modules["tensorflow.python.framework.ops"]

    @functools.wraps(create)
    def create_on_cpu(*arguments, **keywords):
        with ops.device("/device:CPU:0"):
            return create(*arguments, **keywords)

    return create_on_cpu


def install():
    found = OPS + OPS_OF_CUDA_BUILD if CUDA_BUILD else OPS
    modules = [(sys.modules["tensorflow.python.ops." + module], name) for module, name in found]
    created = [on_cpu(getattr(module, name)) for module, name in modules]
    for (module, name), function in zip(modules, created):
        setattr(module, name, function)
