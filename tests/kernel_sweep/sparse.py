"""Families of sparse tensors and of rows that indices select."""

import numpy as np
from calls import function_of
from families import INTEGERS


def pairs(r, rows):
    """Returns indices of rows and the ascending segments that they belong to.

    There is at least one: the gradient of no indices has no defined elements on the CPU.
    """
    count = r.between(1, 6)
    indices = r.rng.integers(0, rows, count)
    if r.chance(0.06):
        indices[r.below(count)] = r.choice([-1, 99])
    ids = np.sort(r.rng.integers(0, 4, count + (1 if r.chance(0.03) else 0)))
    return [indices.astype(r.choice(INTEGERS)), ids.astype(r.choice(INTEGERS))]


def totals(op):
    """Totals of segments, whose number is an input."""

    def make(r):
        data = r.tensor((r.between(1, 5), *r.shape(0, 2)), few=True)
        inputs = [data, *pairs(r, data.shape[0])]
        return function_of(op), [*inputs, np.array(r.between(3, 6), r.choice(INTEGERS))]

    return make


def totals_gradient(op):
    def make(r):
        gradient, rows = r.normal((r.between(4, 5), *r.shape(0, 2))), r.between(1, 5)
        return function_of(op), [gradient, *pairs(r, rows), np.array(rows, np.int32)]

    return make


def to_dense(r):
    dims = r.shape(1, 3)
    cells = np.sort(r.rng.permutation(int(np.prod(dims)))[: r.below(5)])
    cells = cells[::-1] if r.chance(0.1) else cells
    indices = np.stack(np.unravel_index(cells, dims), -1)
    if indices.size and r.chance(0.06):
        indices[0, 0] = r.choice([-1, 99])
    kind = r.choice(INTEGERS)
    indices = indices[:, 0] if len(dims) == 1 and r.chance(0.5) else indices
    values = r.tensor(() if r.chance(0.2) else (len(cells),))
    inputs = [indices.astype(kind), np.array(dims, kind), values, r.tensor(())]
    return function_of("SparseToDense", validate_indices=r.chance(0.7)), inputs


def mat_mul(r):
    rows, inner, columns = (r.between(1, 5) for _ in range(3))
    is_a_transposed, is_b_transposed, count = r.chance(0.5), r.chance(0.5), r.below(7)
    dims = [inner, rows] if is_a_transposed else [rows, inner]
    indices = np.stack([r.rng.integers(0, dim, count) for dim in dims], -1)
    if count and r.chance(0.06):
        indices[0, r.below(2)] = r.choice([-1, 99])
    b = r.normal((columns, inner) if is_b_transposed else (inner, columns))
    b = r.normal((7, 2)) if r.chance(0.03) else b
    run = function_of("SparseTensorDenseMatMul", adjoint_a=is_a_transposed, adjoint_b=is_b_transposed)
    return run, [indices.astype(r.choice(INTEGERS)), r.normal((count,)), np.array(dims, np.int64), b]
