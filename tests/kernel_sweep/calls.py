"""Calls of ops by the order of their inputs, and a description of the last call."""

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_registry


class Calls:
    """`tf.raw_ops`, which remembers the last call with its attributes."""

    def __init__(self):
        self.last = ""

    def __getattr__(self, op):
        def run(**arguments):
            self.last = f"{op}({', '.join(f'{name}={describe(it)}' for name, it in arguments.items())})"
            return getattr(tf.raw_ops, op)(**arguments)

        return run


def describe(value):
    """Returns type and shape of a tensor, with its elements if they are few."""
    if isinstance(value, (list, tuple)) and any(isinstance(it, tf.Tensor) for it in value):
        return f"[{', '.join(map(describe, value))}]"
    if not isinstance(value, tf.Tensor):
        return repr(value)
    text = f"{value.dtype.name}{value.shape.as_list() if value.shape.rank is not None else ''}"
    is_short = hasattr(value, "numpy") and value.dtype not in (tf.resource, tf.variant) and value.shape.num_elements() <= 12
    return text + (f" {np.asarray(value.numpy()).tolist()}" if is_short else "")


R = Calls()
PYTHON_NAMES = {"reduction_indices": "axis"}


def call(op, tensors, **attributes):
    """Calls an op with its inputs in the order of its definition; an input that is a list takes all that remain."""
    arguments, rest = {}, list(tensors)
    for argument in op_def_registry.get(op).input_arg:
        arguments[PYTHON_NAMES.get(argument.name, argument.name)] = rest if argument.number_attr else rest.pop(0)
    return getattr(R, op)(**arguments, **attributes)


def function_of(op, **attributes):
    return lambda *tensors: call(op, tensors, **attributes)
