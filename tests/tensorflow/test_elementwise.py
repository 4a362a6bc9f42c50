"""Trees of elementwise nodes in traced functions, which one op replaces, with the bits of the single ones."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context, execute

from conftest import DEVICE, RELEASE
from test_fusion import ON_DEVICE, numbers, run, without_fusion

pytestmark = pytest.mark.skipif(RELEASE < (2, 8), reason="functions return no tensors of the device")
FUSED, MERGED = "SpElementwise", "SpElementwiseResults"
SPECIAL = np.float32([0, -0.0, 1, -1, 0.5, -2.5, 1e-38, 1e-45, 3e38, -3e38, np.inf, -np.inf, np.nan, 20, -20, 88])
ONE = "Abs Erf Exp Expm1 Log Log1p Neg Reciprocal Rsqrt Sigmoid Sign Softplus Sqrt Square Tanh".split()
TWO = "AddV2 DivNoNan Maximum Minimum Mul Pow RealDiv SquaredDifference Sub".split()
GRADIENTS = "ReluGrad RsqrtGrad SigmoidGrad SqrtGrad TanhGrad".split()


def bits(array):
    array = np.asarray(array)
    return np.where(np.isnan(array), np.float32(np.nan), array).view(np.int32)


def compare(function, *values):
    """Runs a function with and without fusions, compares the bits of its results, and returns the fused graph's ops."""
    with without_fusion():
        expected, _ = run(lambda *args: function(*args), *values)
    results, ops = run(function, *values)
    assert len(results) == len(expected)
    for result, other in zip(results, expected):
        np.testing.assert_array_equal(bits(result), bits(other))
    return ops


@pytest.mark.parametrize("op", ONE)
def test_function_of_one_operand(op):
    name = "features" if op == "Softplus" else "x"
    function = lambda x: tf.tanh(getattr(tf.raw_ops, op)(**{name: x}))
    assert compare(function, np.concatenate([SPECIAL, numbers(5000)]))[FUSED] == 1


@pytest.mark.parametrize("op", TWO + GRADIENTS)
def test_function_of_two_operands(op):
    names = {"ReluGrad": ("gradients", "features"), **dict.fromkeys(GRADIENTS[1:], ("y", "dy"))}
    first, second = names.get(op, ("x", "y"))
    function = lambda x, y: tf.tanh(getattr(tf.raw_ops, op)(**{first: x, second: y}))
    x, y = [it.ravel() for it in np.meshgrid(SPECIAL, SPECIAL)]
    assert compare(function, x, y)[FUSED] == 1


def test_authors_kernel_stays():
    ops = compare(lambda x: tf.tanh(tf.nn.relu(tf.square(x) - 1.0)), numbers(100))
    assert (ops["Relu"], ops["Tanh"], ops[FUSED]) == (1, 1, 1)


def test_sum_of_two_tensors():
    function = lambda x, y: tf.sqrt(tf.raw_ops.AddN(inputs=[x * 2.0, y]))
    assert compare(function, numbers(300, 7), numbers(300, 7, seed=2))[FUSED] == 1


def test_update_of_optimizer():
    def update(m, v, gradient, rate):
        m = m + (gradient - m) * (1 - 0.9)
        v = v + (gradient * gradient - v) * (1 - 0.999)
        return m, v, m * rate / (tf.sqrt(v) + 1e-7)

    ops = compare(update, *[np.abs(numbers(100, 300, seed=seed)) for seed in range(3)], np.float32(0.01))
    assert (ops[MERGED], ops[FUSED]) == (1, 0)
    assert ops["Sub"] + ops["Mul"] + ops["RealDiv"] + ops["Sqrt"] + ops["AddV2"] == 0


def test_gelu_and_its_gradient():
    def gelu(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.nn.gelu(x))
        return y, tape.gradient(y, x)

    ops = compare(gelu, numbers(32, 64, 48))
    assert ops[FUSED] + ops[MERGED] >= 1


@pytest.mark.parametrize("shape", [(), (1,), (50,), (40, 1), (3, 1, 50), (3, 40, 1), (1, 1, 1)])
def test_operands_broadcast(shape):
    function = lambda x, y: tf.square(x - y) * y
    assert compare(function, numbers(3, 40, 50), numbers(*shape, seed=2))[FUSED] == 1


def test_shapes_that_differ_within_a_tree():
    function = lambda x, rate: x - tf.sqrt(rate * 2.0) * x
    ops = compare(function, numbers(64, 9), np.abs(numbers(1)))
    assert ops[FUSED] == 2


def test_empty_tensors():
    function = lambda x, y: tf.square(x - y) * 2.0
    assert compare(function, numbers(0, 5), numbers(5))[FUSED] == 1


@pytest.mark.parametrize("shape", [[None, 3], [None, None], None])
def test_unknown_shapes(calls, shape):
    traced = tf.function(lambda x, y: tf.square(x - y) * 2.0, [tf.TensorSpec(shape), tf.TensorSpec([3])])
    before = calls()[FUSED]
    with tf.device(ON_DEVICE):
        for rows in (2, 1, 5):
            x, y = numbers(rows, 3), numbers(3, seed=2)
            np.testing.assert_array_equal(traced(tf.constant(x), tf.constant(y)), np.square(x - y) * 2)
    assert calls()[FUSED] == before + 3


def test_smaller_shapes_within_a_tree_of_unknown_shapes():
    any_shape = [tf.TensorSpec(None)] * 3
    small, large = tf.ones([3]), tf.ones([2, 3])
    with tf.device(ON_DEVICE):
        total = tf.function(lambda a, b, x: tf.raw_ops.AddN(inputs=[a, b]) * x, any_shape)
        np.testing.assert_array_equal(total(small, small, large), np.full([2, 3], 2, np.float32))
        gradient = tf.function(lambda a, b, c: tf.raw_ops.TanhGrad(y=a * b, dy=c) * 2.0, any_shape)
        np.testing.assert_array_equal(gradient(small, large, large), np.zeros([2, 3], np.float32))
        with pytest.raises(tf.errors.InvalidArgumentError):
            gradient(small, small, large)


def test_results_that_are_read_twice():
    def function(x):
        sigmoid = tf.sigmoid(x)
        return sigmoid * (1.0 - sigmoid) * x, tf.reduce_sum(sigmoid)

    ops = compare(function, numbers(1000))
    assert (ops[MERGED], ops["Sigmoid"], ops[FUSED]) == (1, 0, 0)


def test_cell_of_recurrent_layer_is_one_op_in_each_direction():
    def cell(x, state):
        with tf.GradientTape() as tape:
            tape.watch([x, state])
            forget, enter, change, leave = tf.split(x, 4, axis=1)
            state = tf.sigmoid(forget) * state + tf.sigmoid(enter) * tf.tanh(change)
            y = tf.sigmoid(leave) * tf.tanh(state)
            total = tf.reduce_sum(y * y)
        return y, state, *tape.gradient(total, [x, state])

    ops = compare(cell, numbers(32, 512), numbers(32, 128, seed=2))
    assert ops[MERGED] in (1, 2) and ops["Sigmoid"] + ops["Tanh"] + ops["SigmoidGrad"] + ops["TanhGrad"] == 0


def test_results_of_several_shapes():
    """The shapes are not known when the nodes are merged."""
    function = tf.function(lambda a, b, x: (a + b, tf.sqrt(a + b) * x), [tf.TensorSpec(None)] * 3)
    for large in ([2, 3], [3]):
        with tf.device(ON_DEVICE):
            total, scaled = function(tf.ones([3]), tf.fill([3], 3.0), tf.fill(large, 5.0))
        np.testing.assert_array_equal(total, np.full([3], 4, np.float32))
        np.testing.assert_array_equal(scaled, np.full(large, 10, np.float32))


def test_value_of_branch_that_is_not_taken():
    """A result that only one branch reads may be dead, while the results that it is computed from are not."""

    def function(x, p):
        y = tf.exp(x)
        z = tf.cond(p > 0.0, lambda: tf.tanh(y) * y, lambda: tf.matmul(y, y))
        return y * 2.0, z

    for p in (1.0, -1.0):
        compare(function, numbers(5, 5), np.float32(p))


def test_branches_and_loops():
    def function(x):
        for i in tf.range(4):
            if i % 2 == 0:
                x = tf.exp(-x) * 0.5
            else:
                x = tf.square(x + 1.0) / 3.0
        return x

    assert compare(function, numbers(20, 30))[FUSED] == 2


def test_control_dependencies():
    def function(x, y):
        with tf.control_dependencies([tf.debugging.assert_equal(tf.reduce_sum(y), 3.0)]):
            return tf.square(x - y) * 2.0

    assert compare(function, numbers(3), np.float32([1, 1, 1]))[FUSED] == 1
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(function, numbers(3), np.float32([1, 1, 2]))


def test_other_types_stay_single():
    function = lambda x: tf.square(x - 1.0) * 2.0
    with tf.device(ON_DEVICE):
        for dtype in (tf.float64, tf.float16, tf.bfloat16):
            x = tf.cast(tf.constant([1.0, 2.5]), dtype)
            np.testing.assert_array_equal(tf.cast(tf.function(function)(x), tf.float32), [0, 4.5])


def elementwise(steps, *inputs):
    """Calls the op, which has no function in Python, in eager mode."""
    attributes = (b"N", len(inputs), b"T", tf.float32.as_datatype_enum, b"steps", steps)
    return execute.execute(FUSED.encode(), 1, list(inputs), attributes, context.context())[0]


def test_wrong_steps_and_shapes_are_errors(in_plugin, hard_placement):
    x = [tf.ones([2, 3]), tf.ones([3])]
    with tf.device(ON_DEVICE):
        np.testing.assert_array_equal(elementwise(["AddV2 0 1", "Neg 2"], *x), np.full([2, 3], -2, np.float32))
        for steps in (["AddV2 0"], ["Neg 0 1"], ["AddV2 0 2"], ["AddV2 0 -1"], ["MatMul 0 1"], [""], ["Neg 9" * 99]):
            with pytest.raises(tf.errors.InvalidArgumentError, match="not valid"):
                elementwise(steps, *x)
        with pytest.raises(tf.errors.InvalidArgumentError):
            elementwise(["AddV2 0 1"], x[0], tf.ones([4]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="must have one shape"):
            elementwise(["TanhGrad 0 1", "Neg 2"], *x)


def losses():
    """Returns the losses of a dense network with GELU, which Adam trains by assignments."""
    with tf.device(ON_DEVICE):
        weights = [tf.Variable(numbers(*shape, seed=3) * 0.3) for shape in ((8, 16), (16, 4))]
        moments = [[tf.Variable(tf.zeros_like(it)) for it in weights] for _ in range(2)]
        x, y = tf.constant(numbers(32, 8)), tf.constant(numbers(32, 4, seed=2))

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(tf.nn.gelu(tf.matmul(x, weights[0])), weights[1]) - y))
        for weight, m, v, gradient in zip(weights, *moments, tape.gradient(loss, weights)):
            m.assign(m + (gradient - m) * 0.1)
            v.assign(v + (tf.square(gradient) - v) * 0.01)
            weight.assign(weight - 0.02 * m / (tf.sqrt(v) + 1e-7))
        return loss

    with tf.device(ON_DEVICE):
        return [float(step()) for _ in range(20)]


def test_losses_are_those_without_fusion(calls):
    with without_fusion():
        expected = losses()
    before = calls()[FUSED]
    assert losses() == expected
    assert calls()[FUSED] - before >= 20 * 6
    assert expected[-1] < expected[0] / 2


LARGE = (64, 80)
UPDATES_ARE_REPLACED = (2, 19) <= RELEASE <= (2, 21)


def updated(calls, update, *shapes):
    """Returns the variables after two updates in a function, with and without fusions, and the number of trees of the former."""
    results = []
    for fused in (False, True):
        with tf.device(ON_DEVICE):
            variables = [tf.Variable(numbers(*shape, seed=5)) for shape in shapes]
            gradients = [tf.constant(numbers(*shape, seed=6)) for shape in shapes]
        step = tf.function(lambda: update(*variables, *gradients))
        before = calls()[FUSED]
        with tf.device(ON_DEVICE):
            if fused:
                step(), step()
            else:
                with without_fusion():
                    step(), step()
        results.append([it.numpy() for it in variables])
    for expected, found in zip(*results):
        np.testing.assert_array_equal(bits(expected), bits(found))
    return calls()[FUSED] - before


def test_updates_of_variables_are_parts_of_trees(calls):
    def adam(weight, m, v, *gradients):
        gradient = gradients[0]
        m.assign_add((gradient - m) * 0.1)
        v.assign_add((tf.square(gradient) - v) * 0.01)
        weight.assign_sub(0.02 * m / (tf.sqrt(tf.abs(v)) + 1e-7))

    assert updated(calls, adam, LARGE, LARGE, LARGE) == 6


def test_update_by_one_node_is_a_tree_where_plugins_cannot_use_variables(calls):
    sgd = lambda weight, gradient: weight.assign_sub(gradient * 0.1)
    assert updated(calls, sgd, LARGE) == (2 if UPDATES_ARE_REPLACED else 0)


def test_small_and_repeated_updates_stay(calls):
    small = lambda weight, gradient: weight.assign_sub(gradient * 0.1)
    assert updated(calls, small, (8, 8)) == 0

    def twice(weight, gradient):
        weight.assign_add(gradient * 0.5)
        weight.assign_sub(gradient * weight)

    assert updated(calls, twice, LARGE) == 0


def test_update_sees_the_assignment_before_it(calls):
    def update(weight, other, gradient, factor):
        before = weight * factor
        other.assign(before)
        weight.assign_sub(gradient * other)

    updated(calls, update, LARGE, LARGE)


def test_update_of_another_shape_is_an_error():
    with tf.device(ON_DEVICE):
        weight, row = tf.Variable(numbers(*LARGE), shape=tf.TensorShape(None)), tf.constant(numbers(1, 8000))

        @tf.function
        def step():
            weight.assign_add(tf.square(row) * 2.0)

        with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
            step()
    np.testing.assert_array_equal(weight.numpy(), numbers(*LARGE))


@pytest.mark.skipif(not UPDATES_ARE_REPLACED, reason="a plugin can use variables")
def test_unordered_updates_of_aliases_are_not_lost():
    """In a v1 graph no edge orders these updates, which core's kernels apply one at a time."""
    length, ones = 64 * 80, np.ones(64 * 80, np.float32)

    def updates(handle, term, add):
        return [add(tf.identity(handle), tf.square(term) * float(i)) for i in range(1, 5)]

    add = lambda handle, value: tf.raw_ops.AssignAddVariableOp(resource=handle, value=value)
    with tf.Graph().as_default(), tf.device(ON_DEVICE):
        handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[length], shared_name="aliases")
        term = tf.compat.v1.placeholder(tf.float32, [length])
        initial = tf.raw_ops.AssignVariableOp(resource=handle, value=tf.zeros([length]))
        with tf.control_dependencies(updates(handle, term, add)):
            done = tf.no_op()
        read = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
        with tf.compat.v1.Session() as session:
            session.run(initial)
            for count in range(1, 4):
                session.run(done, {term: ones})
                np.testing.assert_array_equal(session.run(read), ones * 10 * count)
