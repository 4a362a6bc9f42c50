"""Tests of the kernel sweep without a plugin: `python -m pytest tests/pages`."""

import os
import pathlib
import sys

import numpy as np
import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "kernel_sweep"), str(TESTS / "tensorflow")]
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf = pytest.importorskip("tensorflow")
pytest.importorskip("hypothesis")

import cells  # noqa: E402  (the folders must be set before)
import ops  # noqa: E402
from compare import accepted, equal, errors  # noqa: E402

# The second device computes what is planted.
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2)


def planted(change):
    """Returns an op that adds 1, except for what a device has in its place."""

    def run(x):
        result = x + tf.constant(1, x.dtype)
        return change(result) if tf.identity(x).device.endswith("CPU:1") else result

    return ops.Op(lambda r: (run, [r.normal((r.between(1, 3),))]))


def failures(monkeypatch, tmp_path, change):
    monkeypatch.setitem(ops.OPS, "Planted", planted(change))
    cell = cells.Cell("CPU", "Planted", "float32", tmp_path / "last")
    cell.device = "/device:CPU:1"
    cell.examples("eager", 50, cell.check)
    return cell.failures


def test_right_kernel_has_no_failure(monkeypatch, tmp_path):
    assert failures(monkeypatch, tmp_path, lambda it: it) == []


def test_wrong_element_is_reported_with_the_least_shape(monkeypatch, tmp_path):
    wrong = lambda it: tf.tensor_scatter_nd_add(it, [[it.shape[0] - 1]], [1e-3 * (it.shape[0] > 1)])
    (failure,) = failures(monkeypatch, tmp_path, wrong)
    assert "element [1] is" in failure and "the CPU's is" in failure


def test_wrong_shape_type_and_error_are_reported(monkeypatch, tmp_path):
    def error(result):
        raise tf.errors.InvalidArgumentError(None, None, "planted")

    for change, expected in [(lambda it: it[None], "float32[1, 1]"), (lambda it: tf.cast(it, tf.float64), "float64"), (error, "planted")]:
        (failure,) = failures(monkeypatch, tmp_path, change)
        assert expected in failure


def test_second_call_with_other_bits_is_reported(monkeypatch, tmp_path):
    results = iter([0.0, 1e-7] * 1000)
    (failure,) = failures(monkeypatch, tmp_path, lambda it: it * 0 + tf.constant(1 + next(results), tf.float32))
    assert "the second call has other bits" in failure or "element" in failure


def test_op_without_a_line_is_reported():
    import sweep

    assert sweep.without_line(["Tanh", "FusedBiasRelu", "NewOp"]) == ["NewOp"]


def test_errors_are_in_units_of_the_type():
    one, eps = np.array([1.0]), 2.0**-23
    assert errors(one + 3 * eps, one, np.zeros(1), np.float32) == [3]
    assert errors(one + 3 * eps, one, np.array([8.0]), np.float32) == [3 / 8]
    assert errors(np.array([np.nan]), one, np.zeros(1), np.float32) == [0]


def test_accepted_results():
    def accepts(found, cpu, precise, limit=4):
        return bool(accepted(*(np.array([it]) for it in (found, cpu, precise)), np.zeros(1), np.dtype(np.float32), limit)[0])

    eps = 2.0**-23
    assert accepts(1 + 3 * eps, 1.0, 1.0) and not accepts(1 + 5 * eps, 1.0, 1.0)
    assert accepts(1 + 5 * eps, 1 + 4 * eps, 1.0), "the CPU's error is nearly as large"
    assert accepts(np.nan, np.nan, 1.0) and not accepts(np.nan, 1.0, 1.0) and not accepts(1.0, np.inf, np.inf)
    assert accepts(0.0, 1e-40, 1e-40), "numbers below the least normal one may be flushed to zero"
    assert accepts(np.inf, 3e38, 4e38) and not accepts(np.inf, 3e38, 3e38)


def test_equal_results():
    found, cpu = np.array([0.0, np.nan, 1.0, 1e-40], np.float32), np.array([-0.0, np.nan, 2.0, 0.0], np.float32)
    assert equal(found, cpu).tolist() == [True, True, False, True]
