"""Stateless random numbers, which are those of TensorFlow's CPU to the bit."""

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE, RELEASE
from outcomes import assert_same_outcome, hard_placement, INVALID, outcome, R  # noqa: F401 (a fixture)

KEY, COUNTER = np.array([0x0123456789ABCDEF], np.uint64), np.array([5, 2**64 - 3], np.uint64)
DISTRIBUTIONS = [
    ("StatelessRandomUniformV2", [tf.float32, tf.float64]), ("StatelessRandomNormalV2", [tf.float32, tf.float64]),
    ("StatelessTruncatedNormalV2", [tf.float32, tf.float64]), ("StatelessRandomUniformFullIntV2", [tf.int32, tf.int64, tf.uint32, tf.uint64]),
]


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("op, dtype", [(op, dtype) for op, dtypes in DISTRIBUTIONS for dtype in dtypes])
def test_random_numbers_are_those_of_the_cpu(calls, op, dtype, graph):
    for shape in [[], [1], [3], [0, 4], [5, 7], [2, 3, 4], [70001]]:
        for counter in (COUNTER, np.array([2**64 - 1, 2**64 - 1], np.uint64), np.array([1, 2, 3], np.uint64)):
            run = lambda **data: getattr(R, op)(**data, alg=1, dtype=dtype)
            data = dict(shape=np.array(shape, np.int32), key=KEY, counter=counter)
            assert_same_outcome(op, calls, run, 0, f"{op} {shape} {counter}", graph, **data)


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_random_integers_are_those_of_the_cpu(calls, dtype):
    op, numbers = "StatelessRandomUniformIntV2", dtype.as_numpy_dtype
    for low, high in [(0, 10), (-5, 1_000_003), (dtype.min, dtype.max), (dtype.min, 0), (3, 4)]:
        for shape in [[], [0], [9], [4001]]:
            run = lambda: getattr(R, op)(shape=np.array(shape, np.int64), key=KEY, counter=COUNTER, alg=1, minval=numbers(low), maxval=numbers(high))
            assert_same_outcome(op, calls, run, 0, f"{low}..{high} {shape}")


def test_key_and_counter_of_a_seed_are_those_of_the_cpu(calls):
    for seed in (np.array([5, -7], np.int64), np.array([2**40, 3], np.int64), np.array([-1, 2], np.int32), np.array([1, 2, 3], np.int32), np.array(1, np.int32)):
        assert_same_outcome("StatelessRandomGetKeyCounter", calls, lambda: list(R.StatelessRandomGetKeyCounter(seed=seed)), 0, str(seed))
    assert_same_outcome("StatelessRandomGetAlg", calls, lambda: R.StatelessRandomGetAlg(), 0)


def test_stateless_random_functions_of_keras_run_on_the_device(calls):
    for function in (tf.random.stateless_uniform, tf.random.stateless_normal, tf.random.stateless_truncated_normal):
        run = lambda seed: function([3, 5], seed=seed)
        assert_same_outcome("StatelessRandomGetKeyCounter", calls, run, 0, str(function), graph=True, seed=np.array([1, 2]))


@pytest.mark.parametrize("wrong", [
    dict(key=np.array([1, 2], np.uint64)), dict(key=np.uint64(1)), dict(counter=np.zeros([0], np.uint64)), dict(counter=np.uint64(1)), dict(counter=np.zeros([1, 2], np.uint64)),
    dict(alg=0), dict(alg=2), dict(alg=7), dict(alg=[1]), dict(shape=[-2]), dict(shape=[[3]]), dict(shape=3), dict(shape=np.array([2**40, 2**40], np.int64)),
    dict(shape=np.array([2**40, 2**40, 0], np.int64)), dict(shape=[0], alg=2),
], ids=str)
def test_wrong_selections_of_random_numbers(calls, wrong):
    for op in ("StatelessRandomUniformV2", "StatelessRandomUniformIntV2"):
        more = dict(minval=0, maxval=5) if "Int" in op else {}
        arguments = {**dict(shape=[3], key=KEY, counter=COUNTER, alg=1), **wrong, **more}
        if wrong == dict(alg=2) and RELEASE >= (2, 22):
            # ThreeFry is Unimplemented there, in earlier releases an invalid argument.
            assert isinstance(outcome(lambda: getattr(R, op)(**arguments), f"/device:{DEVICE}:0"), INVALID)
            continue
        assert_same_outcome(op, calls, lambda: getattr(R, op)(**arguments), 0, str(wrong))


def test_wrong_ranges_of_random_integers(calls):
    for wrong in (dict(minval=5, maxval=5), dict(minval=6, maxval=5), dict(minval=[5], maxval=7), dict(minval=5, maxval=[7]), dict(shape=[0], minval=6, maxval=5)):
        arguments = {**dict(shape=[3], key=KEY, counter=COUNTER, alg=1), **wrong}
        assert_same_outcome("StatelessRandomUniformIntV2", calls, lambda: R.StatelessRandomUniformIntV2(**arguments), 0, str(wrong))
