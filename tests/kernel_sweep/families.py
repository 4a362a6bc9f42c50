"""Families of ops: how the inputs and attributes of a call are drawn.

A family takes an op and returns a function of `Drawn`, which returns a function of tensors and their values.
"""

import numpy as np
import tensorflow as tf
from calls import function_of
from drawn import is_float

INTEGERS = [np.int32, np.int64]


def unary(op, low=None, high=None, **attributes):
    """An op of each element; with limits, most inputs are numbers between them."""

    def make(r):
        shape = r.shape(most=8)
        is_between = low is not None and r.chance(0.7)
        return function_of(op, **attributes), [r.uniform(low, high, shape) if is_between else r.tensor(shape)]

    return make


def rounded(r):
    """An integer is its own result, as TensorFlow documents; the CPU's kernel returns 0, and tf.round does not call it."""
    x, run = r.tensor(r.shape(most=8)), function_of("Round")
    if x.dtype.kind in "iu":
        run.on_cpu = tf.identity
    return run, [x]


def between(op, *limits):
    """An op of inputs of one shape, or scalars, with numbers from a range for each."""

    def make(r):
        shape = r.shape(most=4)
        return function_of(op), [r.uniform(low, high, shape if r.chance(0.9) else ()) for low, high in limits]

    return make


def polygamma(r):
    shape = r.shape(most=4)
    return function_of("Polygamma"), [r.rng.integers(0, 6, shape).astype(r.kernel_type), r.uniform(0.1, 20, shape)]


def leaky(op, inputs):
    def make(r):
        shape, alpha = r.shape(), r.choice([0.2, 0.0, 1.5, -0.5])
        return function_of(op, alpha=alpha), [r.tensor(shape) for _ in range(inputs)]

    return make


def part(r, dims):
    """Returns a shape that broadcasts to these dims, or rarely another one."""
    shape = tuple(1 if r.chance(0.3) else dim for dim in dims)
    shape = shape[r.below(len(shape) + 1) if shape and r.chance(0.4) else 0 :]
    return (*shape, 2) if r.chance(0.03) else shape


def binary(op, few=False, **attributes):
    """An op of two inputs that broadcast."""

    def make(r):
        dims = r.shape(most=8)
        return function_of(op, **attributes), [r.tensor(part(r, dims), few=few) for _ in range(2)]

    return make


def division(op):
    def make(r):
        dims = r.shape(most=8)
        x, y = r.tensor(part(r, dims)), r.tensor(part(r, dims))
        is_valid = y.dtype.kind == "f" or r.chance(0.2)
        return function_of(op), [x, y if is_valid else np.where(y == 0, y.dtype.type(3), y)]

    return make


def same_shape(op, inputs=2):
    """An op of inputs of one shape, such as a gradient."""

    def make(r):
        shape = r.shape(most=8)
        other = (*shape, 2) if r.chance(0.03) else shape
        return function_of(op), [r.tensor(other if index else shape) for index in range(inputs)]

    return make


def sigmoid_grad(r):
    shape = r.shape(most=8)
    return function_of("SigmoidGrad"), [r.uniform(0, 1, shape), r.tensor(shape)]


def add_n(r):
    shape = r.shape(most=8)
    return function_of("AddN"), [r.tensor(shape) for _ in range(r.between(1, 5))]


def clip(r):
    shape = r.shape()
    limit = lambda: r.tensor(shape if r.chance(0.3) else ())
    return function_of("ClipByValue"), [r.tensor(shape), limit(), limit()]


def cross(r):
    shape = (*r.shape(0, 3), 3)
    return function_of("Cross"), [r.normal(shape) for _ in range(2)]


def reduction(op):
    def make(r):
        shape = r.shape(most=8)
        # A product of extreme numbers depends on the order of its factors.
        is_sum = op in ("Sum", "Mean", "EuclideanNorm") and r.chance(0.7)
        is_normal = (is_float(r.kernel_type) or r.kernel_type.kind == "c") and (op == "Prod" or is_sum)
        x = r.normal(shape) if is_normal else r.tensor(shape)
        axes = [axis - x.ndim if r.chance(0.3) else axis for axis in range(x.ndim) if r.chance(0.5)]
        axes = axes + [x.ndim + 1] if r.chance(0.03) else axes
        axes = np.array(axes[0] if len(axes) == 1 and r.chance(0.3) else axes, r.choice(INTEGERS))
        return function_of(op, keep_dims=r.chance(0.5)), [x, axes]

    return make


def arg_max(r):
    """The maximum's index, in each type that indices can have; `ArgMin` has fewer."""
    x = r.tensor(r.shape(1, 5), few=r.chance(0.7))
    return function_of("ArgMax", output_type=r.choice([tf.int32, tf.int64, tf.int16, tf.uint16])), [x, r.axis(x.ndim)]


def top_k(r):
    x, index = r.tensor(r.shape(1, 4), few=r.chance(0.7)), r.choice([tf.int32, tf.int64, tf.int16])
    k = np.array(r.between(0, x.shape[-1] + (1 if r.chance(0.05) else 0)), r.choice([np.int32, np.int64, np.int16]))
    return function_of("TopKV2", index_type=index), [x, k]


def l2_loss(r):
    return function_of("L2Loss"), [r.normal(r.shape())]


def running(op):
    def make(r):
        x = r.normal(r.shape(1, 4))
        return function_of(op, exclusive=r.chance(0.5), reverse=r.chance(0.5)), [x, r.axis(x.ndim)]

    return make


def cast(r):
    """Between any types. Casts that truncate are errors of the plugin: `Truncate` is left out."""
    types = "half bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128".split()
    source, target = (tf.as_dtype(r.choice(types)) for _ in range(2))
    x = r.tensor(r.shape(most=8), source.as_numpy_dtype)
    if source.is_floating and target.is_integer or source.is_complex:
        x = np.abs(r.normal(x.shape, np.float32)).astype(source.as_numpy_dtype)  # other numbers have no defined result
    return function_of("Cast", DstT=target), [x]


def strings(r):
    texts = np.array([b"", b"text", b"x" * 40, "\u00fc\u20ac".encode()], object)
    return function_of("StringLength", unit=r.choice(["BYTE", "UTF8_CHAR"])), [texts[r.rng.integers(0, 4, r.shape(0, 3))]]


def softmax(op):
    def make(r):
        return function_of(op), [r.normal(r.shape(0 if r.chance(0.03) else 1, 4)) if r.chance(0.7) else r.tensor(r.shape(1, 4), few=True)]

    return make


def cross_entropy(r):
    rows, classes = r.between(0, 5), r.between(1, 7)
    shape = lambda: (1 if r.chance(0.1) else rows, classes)
    labels = np.abs(r.normal(shape()))
    return function_of("SoftmaxCrossEntropyWithLogits"), [r.normal(shape()), labels]


def sparse_cross_entropy(r):
    rows, classes = r.between(0, 5), r.between(1, 7)
    labels = r.rng.integers(0, classes, rows + (1 if r.chance(0.03) else 0)).astype(r.choice(INTEGERS))
    return function_of("SparseSoftmaxCrossEntropyWithLogits"), [r.normal((rows, classes)), labels]


def size(r):
    return 0 if r.chance(0.05) else r.choice([1, 2, 3, 5, 8, 17, 33])


def product(r):
    m, k, n = size(r), size(r), size(r)
    a, b = r.chance(0.5), r.chance(0.5)
    wrong = 1 if r.chance(0.03) else 0
    inputs = [r.normal((k, m) if a else (m, k)), r.normal((n, k + wrong) if b else (k + wrong, n))]
    return function_of("MatMul", transpose_a=a, transpose_b=b), inputs


def batch_product(r):
    m, k, n = size(r), size(r), size(r)
    x, y, batch = r.chance(0.5), r.chance(0.5), r.shape(0, 3)
    inputs = [r.normal((*part(r, batch), *((k, m) if x else (m, k)))), r.normal((*part(r, batch), *((n, k) if y else (k, n))))]
    return function_of("BatchMatMulV2", adj_x=x, adj_y=y), inputs


EQUATIONS = [
    "ij,jk->ik", "bij,bjk->bik", "bij,bkj->bik", "ij->ji", "ij->", "ii->i", "...i,...i->...", "i,j->ij", "bhqd,bhkd->bhqk", "abc,cd->abd",
    "...ij,...jk->...ik", "ij,ij->ij", "iij->ij", "ab,ab->", "bij->bji", "ij,k->ijk", "abc->b",
]  # fmt: skip


def einsum(r):
    equation, sizes = r.choice(EQUATIONS), {}
    batch = r.shape(0, 2)
    dim = lambda name: sizes.setdefault(name, r.choice([1, 2, 3, 5]))
    dims = lambda term: [it for name in term.replace("...", ".") for it in (batch if name == "." else [dim(name)])]
    return function_of("Einsum", equation=equation), [r.normal(dims(term)) for term in equation.split("->")[0].split(",")]


def bias(op):
    def make(r):
        first = r.chance(0.3)
        x = r.normal(r.shape(3 if first else 2, 5))
        channels = x.shape[1 if first else -1]
        inputs = [x, r.normal((channels + (1 if r.chance(0.05) else 0),))]
        return function_of(op, data_format="NCHW" if first else "NHWC"), inputs[: 1 if op == "BiasAddGrad" else 2]

    return make


def batch_norm(op):
    def make(r):
        x = r.normal((r.between(1, 3), r.between(1, 4), r.between(1, 4), r.between(1, 9)))
        vector = lambda: r.normal((x.shape[3],), np.float32)
        training = r.chance(0.5)
        attributes = dict(is_training=training, epsilon=r.choice([1e-3, 1e-4, 0.1]))
        if "Grad" in op:
            mean, spread = vector(), np.abs(vector()) + np.float32(0.5)
            run = function_of(op, **attributes)
            reserved = [np.zeros([0], np.float32)] if op.endswith("V3") else []
            return lambda *tensors: list(run(*tensors))[:3], [r.normal(x.shape), x, vector(), mean, spread, *reserved]
        averages = [vector(), np.abs(vector())] if not training or r.chance(0.3) else [np.zeros([0], np.float32)] * 2
        factor = r.choice([1.0, 0.1]) if averages[0].size else 1.0
        run = function_of(op, exponential_avg_factor=factor, **attributes)
        # The last outputs are the state of the gradient, or empty; their shapes differ by device.
        return lambda *tensors: list(run(*tensors))[:3], [x, vector(), vector(), *averages]

    return make


def normalization(op):
    def make(r):
        dims = (r.between(1, 2), r.between(1, 3), r.between(1, 3), r.between(1, 9))
        attributes = dict(depth_radius=r.choice([5, 0, 1, 2]), bias=r.choice([1.0, 2.0]))
        attributes.update(alpha=r.choice([1.0, 0.3]), beta=r.choice([0.5, 0.75, 1.0]))
        return function_of(op, **attributes), [r.normal(dims) for _ in range(1 if op == "LRN" else 3)]

    return make
