"""Random numbers of generators on the device, whose state is a variable: they are those of a generator on the CPU to the bit."""

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE, RELEASE

HAS_VARIABLES = RELEASE <= (2, 18) or RELEASE >= (2, 22)
pytestmark = pytest.mark.usefixtures("hard_placement")
needs_variables = pytest.mark.skipif(not HAS_VARIABLES, reason="core exports no function of variables from 2.19 to 2.21")
# From 2.19 to 2.21 the SDK's optimizer replaces the ops in graphs.
MODES = [False, True] if HAS_VARIABLES else [True]

DEVICES = ["/CPU:0", f"/device:{DEVICE}:0"]
NUMBERS = {
    "normal": lambda it: it.normal([3, 5], dtype=tf.float64), "truncated": lambda it: it.truncated_normal([70], dtype=tf.half),
    "uniform": lambda it: it.uniform([9], dtype=tf.bfloat16), "integers": lambda it: it.uniform([7], -3, 90, dtype=tf.int64),
    "all integers": lambda it: it.uniform_full_int([2, 3], dtype=tf.uint32), "seeds": lambda it: it.make_seeds(4),
    "none": lambda it: it.normal([0]), "skip": lambda it: it.skip(7),
}  # fmt: skip


@pytest.mark.parametrize("graph", MODES)
def test_generator_has_the_numbers_of_the_cpu(calls, graph):
    op = "RngReadAndSkip" if HAS_VARIABLES else "SpReserveNumbers"
    found, before = [], calls().get(op, 0)
    for device in DEVICES:
        with tf.device(device):
            generator = tf.random.Generator.from_seed(2**60 + 5)
            for draw in NUMBERS.values():
                run = tf.function(draw, autograph=False) if graph else draw
                found.append((draw(generator) if not graph else run(generator), generator.state.numpy()))
            if HAS_VARIABLES:
                found.append((tf.stack([it.normal([]) for it in generator.split(3)]), generator.state.numpy()))
    expected, found = found[: len(found) // 2], found[len(found) // 2 :]
    for (one, state), (other, other_state) in zip(expected, found, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_array_equal(one.numpy(), other.numpy())
        np.testing.assert_array_equal(state, other_state)
    assert calls()[op] > before


def test_draws_of_one_graph_have_different_numbers():
    """No edge orders them: each call reserves its part of the state."""
    with tf.device(DEVICES[1]):
        generator = tf.random.Generator.from_state([0, 0, 7], alg="philox")
        draw = tf.function(lambda: [generator.uniform([100]) for _ in range(20)])
        numbers = np.concatenate([it.numpy() for it in draw()])
    np.testing.assert_array_equal(generator.state.numpy(), [20 * 100 * 256, 0, 7])
    assert len(np.unique(numbers)) > 1990


@needs_variables
@pytest.mark.parametrize(
    ("state", "algorithm", "error"),
    [([1, 2], 1, tf.errors.InvalidArgumentError), ([1, 2, 3], 2, tf.errors.UnimplementedError), ([1, 2, 3], 7, tf.errors.InvalidArgumentError),
     ([[1, 2, 3]], 1, tf.errors.InvalidArgumentError), ([1.0, 2.0, 3.0], 1, tf.errors.InvalidArgumentError)],
)  # fmt: skip
def test_wrong_states_and_algorithms_are_errors(state, algorithm, error):
    with tf.device(DEVICES[1]):
        variable = tf.Variable(np.array(state, np.float64 if isinstance(state[0], float) else np.int64))
        with pytest.raises(error):
            tf.raw_ops.StatefulUniform(resource=variable.handle, algorithm=np.int64(algorithm), shape=[3])
    np.testing.assert_array_equal(variable.numpy(), state)


OPS = {
    "StatefulUniform": dict(dtype=tf.float32), "StatefulUniformFullInt": dict(dtype=tf.int64), "StatefulStandardNormalV2": dict(dtype=tf.float64),
    "StatefulTruncatedNormal": dict(dtype=tf.float16), "StatefulUniformInt": dict(minval=np.int32(-5), maxval=np.int32(70)),
}  # fmt: skip


@pytest.mark.parametrize("shape_type", [np.int32, np.int64])
@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("graph", MODES)
def test_op_of_a_state_has_the_numbers_of_the_cpu(op, graph, shape_type):
    results = []
    for device in DEVICES:
        with tf.device(device):
            state = tf.Variable(np.array([2**62, -1, 7, 5], np.int64))

            def draw():
                call = lambda n: getattr(tf.raw_ops, op)(resource=state.handle, algorithm=np.int64(1), shape=np.array([n, 3], shape_type), **OPS[op])
                # The second state is not that of the first call.
                return [call(5), call(2)]

            numbers = (tf.function(draw) if graph else draw)()
            results.append([it.numpy() for it in [*numbers, state]])
    # No edge of the graph orders the two calls, on the CPU either.
    expected, found = [[it.tobytes() for it in result] for result in results]
    assert found[2] == expected[2]
    if expected[:2] == found[:2]:
        return
    merged = [np.concatenate([np.ravel(it) for it in sorted(result[:2], key=len)]) for result in results]
    assert graph and merged[0].shape == merged[1].shape


def test_draws_of_one_state_in_a_graph_differ():
    """Without an edge between them, two would read one state."""
    with tf.device(DEVICES[1]):
        state = tf.Variable(np.array([0, 0, 7], np.int64))

        @tf.function
        def draw():
            return [tf.raw_ops.StatefulUniformFullInt(resource=state.handle, algorithm=np.int64(1), shape=[1], dtype=tf.int64) for _ in range(30)]

        numbers = [int(it.numpy()[0]) for it in draw()]
    np.testing.assert_array_equal(state.numpy(), [30 * 256, 0, 7])
    assert len(set(numbers)) == 30


@pytest.mark.skipif(HAS_VARIABLES, reason="the plugin has kernels of variables")
def test_eager_generator_without_functions_of_variables_names_what_to_use():
    with tf.device(DEVICES[1]):
        state = tf.Variable(np.array([0, 0, 7], np.int64))
        with pytest.raises(tf.errors.UnimplementedError, match="tf.random.Generator"):
            tf.raw_ops.RngReadAndSkip(resource=state.handle, alg=np.int32(1), delta=np.uint64(3))
    np.testing.assert_array_equal(state.numpy(), [0, 0, 7])


# Counts and probabilities of which both methods draw, and those of limits.
DISTRIBUTIONS = [
    (10.0, 0.3), (1e6, 0.3), (100.0, 0.9), (50.0, 0.6), ([10.0, 20.0], [0.3, 0.9]), ([[10.0], [200.0]], [0.3, 0.9]),
    ([-1.0, 3.0, 3.0, 3.0, 0.0], [0.5, 0.0, -1.0, 2.0, 0.5]), (3.0, [0.1, 0.5, 0.99]),
]  # fmt: skip


def binomial(counts, probs, dtype, dims, op, **arguments):
    counts, probs = np.asarray(counts, dtype), np.asarray(probs, dtype)
    shape = np.array([*dims, *np.broadcast_shapes(counts.shape, probs.shape)], np.int32)
    return getattr(tf.raw_ops, op)(shape=shape, counts=counts, probs=probs, dtype=tf.as_dtype(dtype), **arguments)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("case", range(len(DISTRIBUTIONS)))
def test_binomial_numbers_of_a_seed_are_those_of_the_cpu(in_plugin, case, dtype):
    if np.max(DISTRIBUTIONS[case][0]) > np.finfo(dtype).max:
        pytest.skip("an infinite count")
    draw = lambda: binomial(*DISTRIBUTIONS[case], dtype, [7], "StatelessRandomBinomial", seed=np.array([3, 4])).numpy()
    with tf.device(DEVICES[0]):
        expected = draw()
    with in_plugin("StatelessRandomBinomial"):
        found = draw()
    np.testing.assert_array_equal(found, expected)


BINOMIAL = "StatefulRandomBinomial" if HAS_VARIABLES else "SpRandomBinomial"


@pytest.mark.parametrize("graph", MODES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", range(len(DISTRIBUTIONS)))
def test_binomial_numbers_of_a_state_are_those_of_the_cpu(in_plugin, case, dtype, graph):
    results = []
    for device in DEVICES:
        with tf.device(device):
            state = tf.Variable(np.array([5, 0, 7], np.int64))

            def draw():
                call = lambda: binomial(*DISTRIBUTIONS[case], dtype, [7], "StatefulRandomBinomial", resource=state.handle, algorithm=np.int64(1))
                first = call()
                with tf.control_dependencies([first]):
                    # The CPU can lose the next state: it is written to a copy if the variable's buffer is shared.
                    return first, call() if device != DEVICES[0] else first

            draw = tf.function(draw) if graph else draw
            if device == DEVICES[0]:
                numbers, _ = draw()
            else:
                with in_plugin(BINOMIAL, times=2):
                    numbers, others = draw()
            results.append(numbers.numpy())
    np.testing.assert_array_equal(*results)
    assert state.numpy()[0] > 5
    if case == 0:
        assert (numbers.numpy() != others.numpy()).any()


@pytest.mark.parametrize("graph", [False, True])
def test_binomial_numbers_of_generator_on_the_device(graph):
    results = []
    for device in DEVICES:
        with tf.device(device):
            generator = tf.random.Generator.from_seed(1)
            draw = lambda: generator.binomial([5], 10.0, 0.4, dtype=tf.float32)
            results.append((tf.function(draw) if graph else draw)().numpy())
    np.testing.assert_array_equal(*results)


def test_binomial_numbers_as_integers():
    with tf.device(DEVICES[1]):
        generator = tf.random.Generator.from_seed(3)
        numbers = generator.binomial([3, 2], [100.0, 10.0], [0.0, 1.0], dtype=tf.int32)
    assert numbers.numpy().tolist() == [[0, 10]] * 3


@pytest.mark.parametrize("arguments, message", [
    (dict(counts=[1.0, 2.0, 3.0], probs=0.5, shape=[2]), "Shape passed in must end with broadcasted shape"),
    (dict(counts=[1.0, 2.0, 3.0], probs=[0.5, 0.1], shape=[2]), "counts and probs must have compatible batch dimensions"),
])  # fmt: skip
@pytest.mark.parametrize("device", DEVICES)
def test_wrong_shapes_of_binomial_numbers_are_errors(device, arguments, message):
    with tf.device(device), pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.raw_ops.StatelessRandomBinomial(seed=[1, 2], **arguments)
