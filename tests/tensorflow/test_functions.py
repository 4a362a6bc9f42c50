"""Functions of one and two elements, and their gradients, compared with TensorFlow's on the CPU."""

import numpy as np
import pytest

from conftest import DEVICE, RELEASE
from outcomes import assert_same_outcome, FLOATS, INVALID, outcome, R

IN_FUNCTION = pytest.mark.skipif(RELEASE < (2, 8), reason="functions return no tensors of the device")
GRAPH = [False, pytest.param(True, marks=IN_FUNCTION)]

pytestmark = pytest.mark.usefixtures("hard_placement")

# Units in the last place. Up to 2.18 reciprocals of the CPU are estimates.
UNARY = {"Ceil": 0, "Cos": 2, "Erf": 4, "Erfc": 4, "Exp": 2, "Expm1": 4, "Floor": 0, "Inv": 4, "Log": 2, "Log1p": 4, "Reciprocal": 4, "Rint": 0, "Round": 0, "Rsqrt": 3,
         "Sigmoid": 6, "Sin": 2, "Tanh": 8, "Abs": 0, "Sign": 0, "Elu": 4, "Relu6": 0, "Selu": 4, "Softplus": 6, "Softsign": 2}
OF_FEATURES = {"Elu", "Relu6", "Selu", "Softplus", "Softsign", "LeakyRelu"}


def numbers(dtype):
    """Returns numbers of many magnitudes; subnormal ones are flushed on some threads of TensorFlow."""
    random = np.random.default_rng(8)
    many = np.concatenate([random.normal(scale=scale, size=400) for scale in (1e-6, 1e-2, 1, 10, 60)])
    return np.concatenate([many, [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 1e30, -1e30]]).astype(dtype)


def assert_ulps(found, expected, ulps, about):
    with np.errstate(all="ignore"):
        tiny = np.finfo(expected.dtype).tiny * 4
        same = (found == expected) | (np.isnan(found) & np.isnan(expected)) | ((np.abs(found) < tiny) & (np.abs(expected) < tiny))
        near = np.abs(found - expected) <= ulps * np.spacing(np.maximum(np.abs(found), np.abs(expected)))
    wrong = ~(same | near)
    assert not wrong.any(), f"{about}: {found[wrong][:5]}, not {expected[wrong][:5]}"


@pytest.mark.parametrize("graph", GRAPH)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", UNARY)
def test_functions(calls, op, dtype, graph):
    x, name = numbers(dtype), "features" if op in OF_FEATURES else "x"
    run = lambda x: getattr(R, op)(**{name: x})
    before = calls()[op]
    (found,), (expected,) = (outcome(run, device, graph, dict(x=x)) for device in (f"/device:{DEVICE}:0", "/CPU:0"))
    assert calls()[op] > before
    if op in ("Erf", "Erfc", "Softplus", "Elu", "Selu", "Sigmoid", "Tanh", "Expm1", "Log1p", "Erfc"):
        # The CPU's are approximations, some of them rough near 0 and for large numbers.
        np.testing.assert_allclose(found, expected, rtol=3e-6 if dtype == np.float32 else 1e-13, atol=2e-7 if dtype == np.float32 else 1e-15, err_msg=op)
    else:
        assert_ulps(found, expected, UNARY[op], op)
    # The CPU's error function of infinities is NaN in float64.
    special = np.array([np.nan] if op == "Erf" else [np.nan, np.inf, -np.inf], dtype)
    assert_same_outcome(op, calls, run, 1e-6, f"{op} of special numbers", graph, x=special)
    for shape in [(), (0,), (2, 0, 3), (3, 4)]:
        assert_same_outcome(op, calls, run, 3e-6, f"{op} {shape}", graph, x=np.full(shape, 0.3, dtype))


BINARY = ["Add", "Maximum", "Minimum", "SquaredDifference", "Xdivy", "Xlogy", "Xlog1py", "MulNoNan", "Greater", "GreaterEqual", "Less", "LessEqual"]
GRADIENTS = {"EluGrad": ("gradients", "outputs"), "InvGrad": ("y", "dy"), "ReciprocalGrad": ("y", "dy"), "Relu6Grad": ("gradients", "features"), "RsqrtGrad": ("y", "dy"),
             "SeluGrad": ("gradients", "outputs"), "SigmoidGrad": ("y", "dy"), "SoftplusGrad": ("gradients", "features"), "SoftsignGrad": ("gradients", "features"),
             "SqrtGrad": ("y", "dy"), "TanhGrad": ("y", "dy"), "LeakyReluGrad": ("gradients", "features")}
GRID = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 7.0, np.inf, -np.inf, np.nan])


@pytest.mark.parametrize("graph", GRAPH)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", BINARY)
def test_functions_of_two_numbers(calls, op, dtype, graph):
    run = lambda **data: getattr(R, op)(**data)
    tolerance = 2e-6 if dtype == np.float32 else 1e-13
    assert_same_outcome(op, calls, run, tolerance, f"{op} of special numbers", graph, x=np.repeat(GRID, 10).astype(dtype), y=np.tile(GRID, 10).astype(dtype))
    random = np.random.default_rng(6)
    for x, y in [((), ()), ((3, 4), (4,)), ((2, 1, 3), (5, 1)), ((0, 3), (1, 3)), ((70001,), (70001,))]:
        data = dict(x=random.uniform(0.1, 4, size=x).astype(dtype), y=random.uniform(0.1, 4, size=y).astype(dtype))
        assert_same_outcome(op, calls, run, tolerance, f"{op} {x} {y}", graph, **data)
    assert_same_outcome(op, calls, lambda: run(x=np.ones((2, 3), dtype), y=np.ones((4,), dtype)), 0)


@pytest.mark.parametrize("graph", GRAPH)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", GRADIENTS)
def test_gradients_of_functions(calls, op, dtype, graph):
    first, second = GRADIENTS[op]
    run = lambda **data: getattr(R, op)(**data)
    for shape in [(), (0, 3), (5, 7), (70001,)]:
        random = np.random.default_rng(6)
        data = {name: random.normal(scale=2, size=shape).astype(dtype) for name in (first, second)}
        assert_same_outcome(op, calls, run, 3e-6 if dtype == np.float32 else 1e-13, f"{op} {shape}", graph, **data)
    found = outcome(lambda: run(**{first: np.ones((2, 3), dtype), second: np.ones((4,), dtype)}), f"/device:{DEVICE}:0")
    assert isinstance(found, INVALID)


@pytest.mark.parametrize("graph", GRAPH)
def test_leaky_relu(calls, graph):
    for dtype in FLOATS:
        for alpha in (0.2, 0.0, 1.5, -0.5):
            run = lambda features: R.LeakyRelu(features=features, alpha=alpha)
            assert_same_outcome("LeakyRelu", calls, run, 1e-6, f"{alpha}", graph, features=numbers(dtype))


@pytest.mark.parametrize("graph", GRAPH)
def test_add_n(calls, graph):
    for dtype in [np.float32, np.float64, np.int64]:
        # Of one or two inputs TensorFlow makes other ops while it optimizes a graph.
        for count, shape in [(1, (3,)), (2, (4, 5)), (9, (2, 3)), (3, ()), (5, (70001,))][2 if graph else 0 :]:
            inputs = [(np.random.default_rng(i).normal(size=shape) * 9).astype(dtype) for i in range(count)]
            assert_same_outcome("AddN", calls, lambda inputs: R.AddN(inputs=inputs), 1e-6, f"{count} {shape}", graph, inputs=inputs)
    assert_same_outcome("AddN", calls, lambda: R.AddN(inputs=[np.ones(2, np.float32), np.ones(3, np.float32)]), 0)
