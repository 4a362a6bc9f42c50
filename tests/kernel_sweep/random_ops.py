"""Families of random numbers, which are those of the CPU to the bit."""

import numpy as np
import tensorflow as tf
from calls import call, function_of
from families import INTEGERS


def shape_of(r):
    return np.array(r.shape(0, 3), r.choice(INTEGERS))


def seeds(r):
    # A seed of 0 means a random one.
    return dict(seed=r.between(1, 2**31 - 1), seed2=r.between(1, 2**31 - 1))


def seeded(op):
    """A kernel whose seeds are attributes; its first call has the numbers of the CPU's first call."""

    def make(r):
        attributes = dict(seeds(r), dtype=tf.as_dtype(r.kernel_type)) if op != "RandomUniformInt" else seeds(r)
        inputs = [shape_of(r)] + ([limit(r, -50, 0), limit(r, 1, 99)] if op == "RandomUniformInt" else [])
        run = function_of(op, **attributes)
        return run, inputs

    return make


def limit(r, low, high):
    return np.array(max(r.between(low, high), np.iinfo(r.kernel_type).min), r.kernel_type)


def generator(r):
    return [r.rng.integers(0, 2**64 - 1, 1, np.uint64), r.rng.integers(0, 2**64 - 1, 2, np.uint64), np.array(1, np.int32)]


def stateless(op):
    def make(r):
        inputs = [shape_of(r), *generator(r)]
        if op == "StatelessRandomUniformIntV2":
            return function_of(op), [*inputs, limit(r, -50, 0), limit(r, 1, 99)]
        return function_of(op, dtype=tf.as_dtype(r.kernel_type)), inputs

    return make


def seed(r):
    return np.array([r.between(-(2**31), 2**31 - 1) for _ in range(1 if r.chance(0.03) else 2)], r.choice(INTEGERS))


def by_seed(op):
    """A kernel whose seed is an input."""

    def make(r):
        inputs = [shape_of(r), seed(r)]
        if op == "StatelessRandomUniformInt":
            return function_of(op), [*inputs, limit(r, -50, 0), limit(r, 1, 99)]
        return function_of(op, dtype=tf.as_dtype(r.kernel_type)), inputs

    return make


def gamma(op):
    """The type is that of the parameters, whose shape ends that of the result."""

    def make(r):
        alpha = r.positive(r.shape(0, 2))
        alpha = np.ones_like(alpha) if r.chance(0.1) else alpha / alpha.dtype.type(4)
        dims = (*r.shape(0, 2), *alpha.shape, *([2] if r.chance(0.05) else []))
        shape = np.array(dims, r.choice(INTEGERS))
        return function_of(op), [shape, *([seed(r)] if op == "StatelessRandomGammaV2" else generator(r)), alpha]

    return make


def binomial(op):
    """Counts and probabilities, whose shape ends that of the result: both methods, and limits."""

    def make(r):
        counts = r.rng.integers(-2, r.choice([20, 400]), r.shape(0, 2))
        probs = r.rng.uniform(-0.1, 1.1, counts.shape if r.chance(0.5) else ())
        shape = np.array((*r.shape(0, 2), *counts.shape, *([2] if r.chance(0.05) else [])), r.choice(INTEGERS))
        parameters = [np.asarray(it).astype(r.kernel_type) for it in (counts, probs)]
        run = function_of(op, dtype=r.choice([tf.float64, tf.int64, tf.int32, tf.half]))
        return run, [shape, seed(r), *parameters]

    return make


def key_counter(op):
    return lambda r: (function_of(op), [seed(r)])


def algorithm(r):
    return lambda: call("StatelessRandomGetAlg", []), []


def classes(op):
    def make(r):
        logits, count = r.normal((r.between(0, 4), r.between(1, 7))), np.array(r.between(0, 9), np.int32)
        kind = r.choice([tf.int32, tf.int64])
        if op == "Multinomial":
            return function_of(op, output_dtype=kind, **seeds(r)), [logits, count]
        seed = np.array([r.between(0, 2**31 - 1), r.between(0, 99)], r.choice(INTEGERS))
        return function_of(op, output_dtype=kind), [logits, count, seed]

    return make
