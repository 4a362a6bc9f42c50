"""Einstein summation and batches of products compared with TensorFlow's on the CPU."""

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE
from outcomes import assert_same_outcome, CASES, outcome, R, SEED, seeds

pytestmark = pytest.mark.usefixtures("hard_placement")


def einsum_case(seed):
    """Returns a random equation that the CPU computes: no label of the result is repeated, which can abort there."""
    random = np.random.default_rng(seed)
    sizes = dict(zip("abcde", random.integers(0 if seed % 10 == 0 else 1, 5, size=5)))
    inputs = ["".join(random.choice(list("abcde"), size=random.integers(0, 5))) for _ in range(random.integers(1, 3))]
    letters = sorted(set("".join(inputs)))
    random.shuffle(letters)
    output = "".join(letters[: random.integers(0, len(letters) + 1)])
    shapes = [[int(sizes[it]) for it in text] for text in inputs]
    # With a label twice and an ellipsis, 2.18's CPU writes outside of its result: ...deaa,...b->...deab.
    if random.integers(0, 3) == 0 and all(len(set(text)) == len(text) for text in inputs):
        batch = [int(it) for it in random.integers(1, 4, size=2)]
        lengths = [int(random.integers(0, 3)) for _ in inputs]
        shapes = [[1 if random.integers(0, 3) == 0 else n for n in batch[2 - length :]] + shape for length, shape in zip(lengths, shapes)]
        inputs, output = [f"...{it}" for it in inputs], f"...{output}"
    dtype = [np.float32, np.float64, np.int32, np.int64][random.integers(0, 4)]
    return f"{','.join(inputs)}->{output}", [(random.normal(size=shape) * 4).astype(dtype) for shape in shapes], dtype


@pytest.mark.parametrize("graph", [False, True])
def test_einsum(calls, graph):
    for seed in range(SEED, SEED + 4 * CASES):
        equation, inputs, dtype = einsum_case(seed)
        tolerance = 1e-5 if dtype == np.float32 else 1e-13 if dtype == np.float64 else 0
        about = f"seed {seed}: {equation} {[it.shape for it in inputs]} {dtype.__name__}"
        assert_same_outcome("Einsum", calls, lambda inputs: R.Einsum(inputs=inputs, equation=equation), tolerance, about, graph, inputs=inputs)


EQUATIONS = [
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)), ("...ij,...jk->ik", (5, 2, 3), (5, 3, 4)), ("ij,ij->ij", (2, 3), (1, 3)), ("bij,bjk->bik", (1, 2, 3), (4, 3, 2)),
    ("ij,jk", (2, 3), (3, 4)), ("ij->ik", (2, 3)), ("ij -> i", (2, 3)), ("ij-> i", (2, 3)), ("i1->i", (2, 3)), ("ijk->ij", (2, 3)), ("ii->i", (2, 3)), ("ij,jk->ik", (2, 3), (4, 4)),
    ("ij->i...", (2, 3)), ("...->", (2, 3)), ("i.j->i", (2, 3)), ("->i", ()), ("ij->ij->ij", (2, 3)), ("", ()), ("i,i->i", (3,)), ("i->i,", (3,)), ("i->ii", (3,)), ("ij->ijj", (2, 3)),
    ("i...i->...ii", (3, 2, 3)), ("abcdefgh,abcdefgh->", (1,) * 8, (1,) * 8), ("abcdefgh->hgfedcba", (1, 2, 1, 1, 2, 1, 1, 1)),
]


@pytest.mark.parametrize("case", EQUATIONS, ids=str)
def test_einsum_of_odd_equations(calls, case):
    equation, *shapes = case
    inputs = [np.arange(np.prod(shape), dtype=np.float32).reshape(shape) for shape in shapes]
    assert_same_outcome("Einsum", calls, lambda: R.Einsum(inputs=inputs, equation=equation), 1e-6, equation)


def test_gradient_of_einsum(calls):
    x, y = (np.random.default_rng(seed).normal(size=(2, 3, 4)).astype(np.float32) for seed in (1, 2))

    def gradients():
        with tf.GradientTape() as tape:
            variables = tf.constant(x), tf.constant(y)
            tape.watch(variables)
            z = tf.einsum("bij,bkj->bik", *variables)
        return tape.gradient(z, variables, output_gradients=z)

    assert_same_outcome("Einsum", calls, gradients, 1e-5)


@pytest.mark.parametrize("graph", [False, True])
def test_batch_mat_mul(calls, graph):
    for seed in seeds():
        random = np.random.default_rng(seed)
        batch = list(random.integers(1, 4, size=random.integers(0, 3)))
        one = lambda: [1 if random.integers(0, 3) == 0 else n for n in batch]
        m, k, n = random.integers(0 if seed % 5 == 0 else 1, 9, size=3)
        adj_x, adj_y = bool(random.integers(0, 2)), bool(random.integers(0, 2))
        dtype = [np.float32, np.float64, np.int32, np.int64][random.integers(0, 4)]
        value = lambda shape: (random.normal(size=shape) * 4).astype(dtype)
        x, y = value(one() + ([k, m] if adj_x else [m, k])), value(one()[random.integers(0, 2) :] + ([n, k] if adj_y else [k, n]))
        tolerance = 1e-5 if dtype == np.float32 else 1e-13 if dtype == np.float64 else 0
        about = f"seed {seed}: {x.shape} {y.shape} {adj_x} {adj_y} {dtype.__name__}"
        run = lambda **data: R.BatchMatMulV2(**data, adj_x=adj_x, adj_y=adj_y)
        assert_same_outcome("BatchMatMulV2", calls, run, tolerance, about, graph, x=x, y=y)


@pytest.mark.parametrize("x, y", [((3,), (3, 4)), ((), (3, 4)), ((2, 2, 3), (3, 3, 4)), ((2, 2, 3), (2, 4, 4)), ((0, 2, 3), (2, 3, 4)), ((0, 2, 3), (1, 3, 4)), ((0, 2, 3), (3, 4)), ((2, 2, 0), (2, 0, 4))])
def test_batch_mat_mul_of_odd_shapes(calls, x, y):
    assert_same_outcome("BatchMatMulV2", calls, lambda: R.BatchMatMulV2(x=np.ones(x, np.float32), y=np.ones(y, np.float32)), 1e-6)


def test_batch_of_more_empty_matrices_than_memory_has_room_for():
    # The CPU's kernel faults.
    found = outcome(lambda: R.BatchMatMulV2(x=np.ones((2**40, 0, 3), np.float32), y=np.ones((3, 4), np.float32)), f"/device:{DEVICE}:0")
    assert found[0].shape == (2**40, 0, 4)
