"""Softmax and cross entropy compared with TensorFlow's on the CPU."""

import numpy as np
import pytest

from conftest import DEVICE
from outcomes import assert_same_outcome, FLOATS, INVALID, outcome, R

pytestmark = pytest.mark.usefixtures("hard_placement")


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax(calls, dtype, graph):
    for shape in [(5,), (1, 1), (3, 7), (2, 3, 4), (64, 1000), (0, 4), (3, 0), (2, 3, 4, 5, 2)]:
        x = np.random.default_rng(3).normal(scale=4, size=shape).astype(dtype)
        for op in ("Softmax", "LogSoftmax"):
            assert_same_outcome(op, calls, lambda logits: getattr(R, op)(logits=logits), 2e-6 if dtype == np.float32 else 1e-14, f"{op} {shape}", graph, logits=x)


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax_cross_entropy(calls, dtype, graph):
    for x, y in [((3, 7), (3, 7)), ((64, 1000), (64, 1000)), ((1, 7), (3, 7)), ((3, 7), (1, 7)), ((3, 1), (3, 7)), ((7,), (3, 7)), ((0, 4), (0, 4)), ((3, 7), (7,))]:
        random = np.random.default_rng(3)
        data = dict(features=random.normal(scale=4, size=x).astype(dtype), labels=random.dirichlet(np.ones(y[-1]), size=y[:-1]).astype(dtype))
        run = lambda **data: list(R.SoftmaxCrossEntropyWithLogits(**data))
        assert_same_outcome("SoftmaxCrossEntropyWithLogits", calls, run, 4e-6 if dtype == np.float32 else 1e-13, f"{x} {y}", graph, **data)


def test_softmax_of_odd_shapes(calls):
    assert isinstance(outcome(lambda: R.Softmax(logits=np.float32(1)), f"/device:{DEVICE}:0"), INVALID)  # with oneDNN the CPU's is Aborted
    for x, y in [((3,), (3,)), ((2, 3), (2, 4)), ((2, 2, 3), (2, 2, 3)), ((3, 0), (3, 0))]:
        run = lambda: list(R.SoftmaxCrossEntropyWithLogits(features=np.ones(x, np.float32), labels=np.ones(y, np.float32)))
        assert_same_outcome("SoftmaxCrossEntropyWithLogits", calls, run, 0, f"{x} {y}")
