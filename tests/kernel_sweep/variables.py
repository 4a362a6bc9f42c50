"""Families of ops on variables. A function creates the variables, runs the op and returns their values."""

import itertools

import numpy as np
import tensorflow as tf
from calls import call, function_of
from tensorflow.python.framework import op_def_registry
from families import INTEGERS, part
from random_ops import limit, shape_of
from shape_cases import spec

NAMES = itertools.count()
# Coefficients of training rules; others are between 0.1 and 0.9.
COEFFICIENTS = {"epsilon": 1e-3, "lr_power": -0.5, "logbase": 0.9}
SIGNED = ("var", "m", "mg", "mom", "linear", "grad", "delta")


def with_variables(op, count, **attributes):
    """Returns a function of tensors, the first of which are the values of variables before the op."""

    def run(*tensors):
        if op.startswith("ResourceGather"):
            attributes["dtype"] = tensors[0].dtype
        handles = [new_variable(it) for it in tensors[:count]]
        result = call(op, [*handles, *tensors[count:]], **attributes)
        results = [result] if isinstance(result, tf.Tensor) else []
        control = [] if tf.executing_eagerly() else [result]
        with tf.control_dependencies([it for it in control if it is not None]):
            values = [tf.raw_ops.ReadVariableOp(resource=handle, dtype=it.dtype) for handle, it in zip(handles, tensors)]
        return results + values

    return run


def new_variable(value):
    handle = tf.raw_ops.VarHandleOp(dtype=value.dtype, shape=tf.TensorShape(None), shared_name=f"sweep{next(NAMES)}")
    assign = tf.raw_ops.AssignVariableOp(resource=handle, value=value)
    with tf.control_dependencies([] if tf.executing_eagerly() else [assign]):
        return tf.raw_ops.Identity(input=handle)


def training(op):
    """A rule of an optimizer: its scalars and flags are those of the op's definition."""
    definition = op_def_registry.get(op)
    names, count = [it.name for it in definition.input_arg], sum(it.type == tf.resource for it in definition.input_arg)
    flags = [it.name for it in definition.attr if it.type == "bool" and it.name != "use_locking"]

    def make(r):
        shape = r.shape(0, 3)
        other = (*shape, 2) if r.chance(0.03) else shape
        run = with_variables(op, count, **{it: r.chance(0.5) for it in flags})
        return run, [argument(r, name, shape, other) for name in names]

    return make


def rows_training(op):
    """A rule on rows of the variables. Each row is changed once: the order of changes is not defined."""
    definition = op_def_registry.get(op)
    names, count = [it.name for it in definition.input_arg], sum(it.type == tf.resource for it in definition.input_arg)
    flags = [it.name for it in definition.attr if it.type == "bool" and it.name != "use_locking"]

    def make(r):
        shape = (r.between(1, 6), *r.shape(0, 2))
        order = r.rng.permutation(shape[0])[: r.below(shape[0] + 1)]
        if order.size and r.chance(0.06):
            order[0] = r.choice([-1, 99])
        indices = order.astype(r.choice(INTEGERS))
        gradient = (len(order) + (1 if r.chance(0.03) else 0), *shape[1:])
        inputs = [indices if name == "indices" else argument(r, name, shape, gradient) for name in names]
        return with_variables(op, count, **{it: r.chance(0.5) for it in flags}), inputs

    return make


def strided(op):
    """Replaces a slice as Python writes it by a value that broadcasts."""

    def make(r):
        table = r.tensor(r.shape(0, 4))
        limits, masks = spec(r, table.ndim)
        try:
            with tf.device("/CPU:0"):
                begin, end, strides = limits
                dims = tf.raw_ops.StridedSlice(input=table, begin=begin, end=end, strides=strides, **masks).shape
        except tf.errors.OpError:
            dims = r.shape(0, 4)
        value = r.tensor((*(1 for _ in range(r.below(2))), *part(r, dims)))
        run = with_variables(op, 1, **masks) if op.startswith("Resource") else function_of(op, **masks)
        return run, [table, *limits, value]

    return make


def generator(op):
    """Random numbers of a generator whose state is a variable."""

    def make(r):
        # The CPU's RngReadAndSkip ends the process for a longer state.
        sizes = [3, 3, 3, 2] if op == "RngReadAndSkip" else [3, 3, 3, 5, 2]
        state = r.rng.integers(-(2**63), 2**63 - 1, r.choice(sizes), np.int64)
        number, count = (np.int32, np.uint64) if op == "RngReadAndSkip" else (np.int64, np.int64)
        algorithm = np.array(r.choice([1, 1, 1, 3, 2, 9]), number)
        if op.startswith("Rng"):
            return with_variables(op, 1), [state, algorithm, np.array(r.between(0, 2**60), count)]
        inputs = [state, algorithm, shape_of(r)]
        if op == "StatefulUniformInt":
            return with_variables(op, 1), [*inputs, limit(r, -50, 1), limit(r, 1, 99)]
        return with_variables(op, 1, dtype=tf.as_dtype(r.kernel_type)), inputs

    return make


def binomial(r):
    """Numbers of the binomial distribution, of a generator whose state is a variable.

    The CPU loses the next state of a variable whose buffer another tensor has, as here: test_generators.py compares that.
    """
    counts = r.rng.integers(0, r.choice([20, 400]), [r.between(1, 3) for _ in range(r.below(3))])
    parameters = [counts.astype(r.kernel_type), r.rng.uniform(0, 1, counts.shape).astype(r.kernel_type)]
    state = r.rng.integers(-(2**63), 2**63 - 1, r.choice([3, 3, 5, 2]), np.int64)
    # The CPU ends the process if a shape of int64 has more dims than the counts.
    rows = [r.between(1, 4) for _ in range(r.below(3))]
    shape = np.array((*rows, *counts.shape), np.int32)
    draw = with_variables("StatefulRandomBinomial", 1, dtype=r.choice([tf.float64, tf.int64]))
    return lambda *tensors: draw(*tensors)[:1], [state, np.array(r.choice([1, 1, 1, 9]), np.int64), shape, *parameters]


def argument(r, name, shape, other):
    if name in ("grad", "delta", "var") or name in SIGNED:
        return r.normal(other if name in ("grad", "delta") else shape)
    is_slot = name in ("accum", "accum_update", "v", "vhat", "ms")
    if is_slot:
        # The mean of squares is above the square of the mean, which has the magnitude 3.
        return r.positive(shape) + r.kernel_type.type(200 if name == "ms" else 0)
    return np.array(COEFFICIENTS.get(name, r.choice([0.5, 0.1, 0.9])), r.kernel_type)


def assign(op):
    def make(r):
        shape = r.shape(0, 4)
        return with_variables(op, 1), [r.tensor(shape), r.tensor((*shape, 2) if r.chance(0.04) else shape)]

    return make


def rows(op):
    """Changes or reads rows of a variable. Each row is changed once: the order of changes is not defined."""

    def make(r):
        table = r.tensor((r.between(1, 6), *r.shape(0, 2)), few=True)
        order = r.rng.permutation(table.shape[0])[: r.below(table.shape[0] + 1)]
        if order.size and r.chance(0.06):
            order[0] = r.choice([-1, 99])
        indices = order.astype(r.choice(INTEGERS))
        if op == "ResourceGather":
            return with_variables(op, 1), [table, indices]
        return with_variables(op, 1), [table, indices, r.tensor((len(order), *table.shape[1:]), few=True)]

    return make


def elements(op):
    def make(r):
        table = r.tensor((r.between(1, 5), r.between(1, 4), *r.shape(0, 1)), few=True)
        depth = r.between(1, 2)
        cells = r.rng.permutation(int(np.prod(table.shape[:depth])))[: r.below(5)]
        indices = np.stack(np.unravel_index(cells, table.shape[:depth]), -1).astype(r.choice(INTEGERS))
        if indices.size and r.chance(0.06):
            indices[0, 0] = r.choice([-1, 99])
        if op == "ResourceGatherNd":
            return with_variables(op, 1), [table, indices]
        return with_variables(op, 1), [table, indices, r.tensor((len(cells), *table.shape[depth:]), few=True)]

    return make
