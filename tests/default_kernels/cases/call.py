"""The tensors of a case."""

import itertools

import numpy as np
import tensorflow as tf

R = tf.raw_ops
V1 = tf.compat.v1

FLOATS = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
INTEGERS = np.array([5, 3, 8, 1], np.int32)


class Call:
    """The tensors of a case: results of computations that an asynchronous device may not have finished."""

    def tensor(self, value):
        """Returns a tensor with this value, which is not negative, on the device."""
        with tf.init_scope():
            constant = tf.constant(value)
        # The kernel of the reference device for Relu returns before its work is done.
        return R.Relu(features=constant) if constant.dtype == tf.float32 else constant

    def floats(self, factor=1.0):
        return self.tensor(np.float32(factor) * FLOATS)

    def integers(self):
        return self.tensor(INTEGERS)

    def handle(self, value=FLOATS):
        """Returns the handle of a new variable. A tf.function may not create a tf.Variable each time it is traced."""
        with tf.init_scope():
            value = tf.convert_to_tensor(value)
            handle = R.VarHandleOp(dtype=value.dtype, shape=value.shape, shared_name=new_name("variable"))
            R.AssignVariableOp(resource=handle, value=value)
        return handle


def new_name(prefix):
    """Returns a name that no other resource of this process has."""
    return f"{prefix}_{next(NUMBERS)}"


NUMBERS = itertools.count()


class SessionCall(Call):
    """The tensors of a case in a graph of TensorFlow 1."""

    def tensor(self, value):
        constant = V1.placeholder_with_default(tf.constant(value), np.shape(value))
        return R.Relu(features=constant) if constant.dtype == tf.float32 else constant

    def reference(self, value=FLOATS):
        """Returns a reference to a new variable that has this value."""
        variable = R.VariableV2(shape=value.shape, dtype=value.dtype)
        return R.Assign(ref=variable, value=self.tensor(value))


def function_of(body, *specs):
    return tf.function(body).get_concrete_function(*specs)


def spec(*shape, dtype=tf.float32):
    return tf.TensorSpec(shape, dtype)
