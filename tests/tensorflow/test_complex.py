"""Kernels of complex numbers: gradients and functions of TensorFlow that call several of them."""

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE

pytestmark = pytest.mark.usefixtures("hard_placement")
RNG = np.random.default_rng(7)


def numbers(*shape):
    return (RNG.normal(size=shape) + 1j * RNG.normal(size=shape)).astype(np.complex64)


def on(device, function, *arrays):
    """Returns a function's result, and its gradients, as arrays."""
    with tf.device(device):
        inputs = [tf.constant(it) for it in arrays]
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            result = function(*inputs)
        found = tape.gradient(result, inputs)
        return [it.numpy() for it in [result, *found]]


def assert_same(function, *arrays):
    for found, expected in zip(on(f"/{DEVICE}:0", function, *arrays), on("/CPU:0", function, *arrays)):
        np.testing.assert_allclose(found, expected, 1e-4, 1e-4)


# Not `sign`: from 2.22 on it computes in complex128, which the device does not have.
FUNCTIONS = "cos cosh exp expm1 log log1p negative reciprocal sigmoid sin sinh sqrt square tan tanh conj real imag abs"


@pytest.mark.parametrize("name", [*FUNCTIONS.split(), "rsqrt"])
def test_gradient_of_a_function(name):
    assert_same(getattr(tf.math, name), numbers(3, 5))


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "divide_no_nan", "pow", "squared_difference", "xdivy"])
def test_gradient_of_a_function_of_operands_that_broadcast(name):
    assert_same(getattr(tf.math, name), numbers(4, 1, 3), numbers(2, 3))


@pytest.mark.parametrize("name", ["reduce_sum", "reduce_mean", "reduce_prod", "cumsum", "angle"])
def test_gradient_of_a_reduction(name):
    attributes = {"axis": -1} if name != "angle" else {}
    assert_same(lambda x: getattr(tf.math, name)(x, **attributes), numbers(3, 4))


@pytest.mark.parametrize("adjoint", [False, True])
def test_gradient_of_a_product(adjoint):
    assert_same(lambda a, b: tf.matmul(a, b, adjoint_a=adjoint), numbers(4, 4), numbers(4, 4))
    assert_same(lambda a, b: tf.matmul(a, b, adjoint_b=adjoint), numbers(3, 4, 4), numbers(3, 4, 4))


def test_gradient_of_the_parts_of_a_complex_number():
    parts = [it.astype(np.float32) for it in RNG.normal(size=(2, 3, 4))]
    assert_same(lambda re, im: tf.abs(tf.complex(re, im) * tf.complex(im, re)), *parts)


def test_transposition_conjugates_in_a_graph():
    x = numbers(2, 3, 4)
    function = tf.function(lambda x: tf.math.conj(tf.transpose(x, [2, 0, 1])), autograph=False)
    with tf.device(f"/{DEVICE}:0"):
        np.testing.assert_array_equal(function(tf.constant(x)).numpy(), np.conj(x.transpose(2, 0, 1)))
        np.testing.assert_array_equal(tf.linalg.adjoint(tf.constant(x)).numpy(), np.conj(x.transpose(0, 2, 1)))


def test_step_of_a_dense_layer_of_complex_numbers():
    """A gradient step, as models of complex numbers have: the loss is real and decreases."""
    x, target = numbers(16, 4), numbers(16, 2)
    with tf.device(f"/{DEVICE}:0"):
        x, target, w = tf.constant(x), tf.constant(target), tf.constant(numbers(4, 2))
        losses = []
        for _ in range(20):
            with tf.GradientTape() as tape:
                tape.watch(w)
                loss = tf.reduce_mean(tf.abs(tf.tanh(x @ w) - target) ** 2)
            w -= 0.1 * tf.cast(1, tf.complex64) * tape.gradient(loss, w)
            losses.append(float(loss))
    assert losses[-1] < losses[0]
