"""Random numbers of generators on the device, whose state is a variable: they are those of a generator on the CPU to the bit."""

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE, RELEASE

pytestmark = [
    pytest.mark.skipif((2, 19) <= RELEASE <= (2, 21), reason="core exports no function of variables"),
    pytest.mark.usefixtures("hard_placement"),
]

DEVICES = ["/CPU:0", f"/device:{DEVICE}:0"]
NUMBERS = {
    "normal": lambda it: it.normal([3, 5], dtype=tf.float64), "truncated": lambda it: it.truncated_normal([70], dtype=tf.half),
    "uniform": lambda it: it.uniform([9], dtype=tf.bfloat16), "integers": lambda it: it.uniform([7], -3, 90, dtype=tf.int64),
    "all integers": lambda it: it.uniform_full_int([2, 3], dtype=tf.uint32), "seeds": lambda it: it.make_seeds(4),
    "none": lambda it: it.normal([0]), "skip": lambda it: it.skip(7),
}  # fmt: skip


@pytest.mark.parametrize("graph", [False, True])
def test_generator_has_the_numbers_of_the_cpu(calls, graph):
    found, before = [], calls().get("RngReadAndSkip", 0)
    for device in DEVICES:
        with tf.device(device):
            generator = tf.random.Generator.from_seed(2**60 + 5)
            for draw in NUMBERS.values():
                run = tf.function(draw, autograph=False) if graph else draw
                found.append((draw(generator) if not graph else run(generator), generator.state.numpy()))
            found.append((tf.stack([it.normal([]) for it in generator.split(3)]), generator.state.numpy()))
    expected, found = found[: len(found) // 2], found[len(found) // 2 :]
    for (one, state), (other, other_state) in zip(expected, found, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_array_equal(one.numpy(), other.numpy())
        np.testing.assert_array_equal(state, other_state)
    assert calls()["RngReadAndSkip"] > before


def test_draws_of_one_graph_have_different_numbers():
    """No edge orders them: each call reserves its part of the state."""
    with tf.device(DEVICES[1]):
        generator = tf.random.Generator.from_state([0, 0, 7], alg="philox")
        draw = tf.function(lambda: [generator.uniform([100]) for _ in range(20)])
        numbers = np.concatenate([it.numpy() for it in draw()])
    np.testing.assert_array_equal(generator.state.numpy(), [20 * 100 * 256, 0, 7])
    assert len(np.unique(numbers)) > 1990


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
