"""Runs ops on a plugin's device of type GPU in a build of TensorFlow with CUDA, and prints their results, errors and kernels as JSON.

    python cuda_build_program.py LIBRARY

LIBRARY is that of a plugin of tests/examples; the installed plugins are not loaded. The program ends with a signal if a kernel for
CUDA runs on the plugin's stream. `kernels` has each op of which core has a kernel of type GPU, with the priorities of all its kernels
for that type; `results` the largest difference from the CPU of some ops that the plugin does not have, and `errors` their messages;
`growth` the memory in MB that the process has gained after 200 calls with tensors of 1 MB.
"""

import collections
import json
import os
import resource
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
LIBRARY = sys.argv[1]
exists = os.path.exists
os.path.exists = lambda path: not str(path).endswith("tensorflow-plugins") and exists(path)

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.python.framework import kernels, load_library  # noqa: E402

R = tf.raw_ops
RANDOM = np.random.RandomState(7)
MATRIX = (RANDOM.normal(size=(2, 4, 4)) + 3 * np.eye(4)).astype("float32")
POSITIVE = (MATRIX @ MATRIX.transpose(0, 2, 1)).astype("float32")
SPARSE = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [4, 3])


def sparse_product(x):
    matrix = R.SparseTensorToCSRSparseMatrix(indices=SPARSE.indices, values=SPARSE.values, dense_shape=SPARSE.dense_shape)
    return R.SparseMatrixMatMul(a=matrix, b=x)


def list_of_rows(x):
    """Returns what a loop over the rows writes to a list, and a gradient that core's kernels of lists compute."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        rows = tf.TensorArray(tf.float32, size=x.shape[0], element_shape=x.shape[1:])
        y = tf.while_loop(
            lambda step, _: step < x.shape[0], lambda step, rows: (step + 1, rows.write(step, 2.0 * x[step])), [0, rows]
        )[1].stack()
        loss = tf.reduce_sum(y * y)
    return y, tape.gradient(loss, x)


OPS = {
    "inverse": lambda: tf.linalg.inv(tf.constant(MATRIX)),
    "singular values": lambda: tf.linalg.svd(tf.constant(MATRIX), compute_uv=False),
    "Cholesky": lambda: tf.linalg.cholesky(tf.constant(POSITIVE)),
    "QR": lambda: tf.abs(tf.linalg.qr(tf.constant(MATRIX))[1]),
    "LU": lambda: tf.linalg.lu(tf.constant(MATRIX))[0],
    "determinant": lambda: tf.linalg.slogdet(tf.constant(MATRIX))[1],
    "eigenvalues": lambda: tf.linalg.eigvalsh(tf.constant(POSITIVE)),
    "solution": lambda: tf.linalg.solve(tf.constant(MATRIX), tf.ones([2, 4, 1])),
    "triangular solution": lambda: tf.linalg.triangular_solve(tf.constant(MATRIX), tf.ones([2, 4, 1])),
    "tridiagonal solution": lambda: tf.linalg.tridiagonal_solve(tf.constant(POSITIVE[0, :3]), tf.ones([4])),
    "contrast": lambda: tf.image.adjust_contrast(tf.constant(np.abs(MATRIX)[..., None]), 2.0),
    "sparse rows": lambda: tf.sparse.reorder(tf.sparse.concat(0, [SPARSE, SPARSE])).values,
    "sparse reshape": lambda: tf.sparse.reshape(SPARSE, [3, 4]).indices,
    "empty rows": lambda: tf.sparse.fill_empty_rows(SPARSE, 5.0)[0].values,
    "sparse product": lambda: sparse_product(tf.constant(POSITIVE[0, :3])),
    "list": lambda: list_of_rows(tf.constant(MATRIX)),
    "list in a function": lambda: tf.function(list_of_rows)(tf.constant(MATRIX)),
    "variable": lambda: updated(tf.Variable([1.0, 2.0])),
    "integer variable": lambda: updated(tf.Variable([1, 2])),
    "random numbers": lambda: random_numbers(),
    "text": lambda: tf.strings.length(tf.constant(["ab", "c"])),
}


def random_numbers():
    """Returns the numbers of a generator before and after `set_seed`, and of a second node with equal seeds."""
    draw = lambda: R.ParameterizedTruncatedNormal(
        shape=[4], means=tf.zeros([1]), stdevs=tf.ones([1]), minvals=[-1.0], maxvals=[1.0], seed=3, seed2=4
    )
    tf.random.set_seed(1)
    first = [draw(), draw()]
    tf.random.set_seed(1)
    return tf.stack([*first, draw(), *tf.function(lambda: (draw(), draw()))()])


def updated(variable):
    variable.assign_add(tf.ones_like(variable))
    variable.assign_sub(tf.ones_like(variable) * 3)
    variable[1].assign(7)
    variable.scatter_add(tf.IndexedSlices(tf.ones([1], variable.dtype), tf.constant([0])))
    return variable.read_value()


def reference_variable():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        with tf.device("/gpu:0"):
            # The function of the op's module would place it on the CPU.
            variable = R.VariableV2(shape=[2], dtype=tf.float32)
            changed = R.Assign(ref=variable, value=[1.0, 1.0])
        return session.run(changed)


def arrays(results):
    return [it.numpy() for it in (results if isinstance(results, tuple) else [results])]


def difference(function):
    """Returns the largest difference between the results on the device and on the CPU."""
    with tf.device("/gpu:0"):
        found = arrays(function())
    with tf.device("/cpu:0"):
        expected = arrays(function())
    pairs = list(zip(found, expected, strict=True))
    assert all(a.dtype == b.dtype and a.shape == b.shape for a, b in pairs), pairs
    return max(float(np.abs(a.astype("float64") - b.astype("float64")).max()) for a, b in pairs)


def error(function):
    try:
        function()
    except tf.errors.OpError as found:
        return found.message
    return ""


def priorities():
    """Returns the priorities of the kernels of type GPU, by op."""
    found = collections.defaultdict(set)
    for it in kernels.get_all_registered_kernels().kernel:
        if it.device_type == "GPU":
            found[it.op].add(it.priority)
    return {op: sorted(priorities) for op, priorities in found.items()}


def growth():
    """Returns the growth of the largest memory, in MB, by calls that would lose 200 MB of each argument that is not deleted."""
    x = tf.constant(RANDOM.normal(size=(256, 32, 32)).astype("float32"))

    def call():
        with tf.device("/gpu:0"):
            tf.linalg.inv(x)

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    for _ in range(10):
        call()
    before = peak()
    for _ in range(200):
        call()
    return peak() - before


load_library.load_pluggable_device_library(LIBRARY)
results = {name: difference(function) for name, function in OPS.items()}
errors = {"reference variable": error(reference_variable)}
print(json.dumps({"kernels": priorities(), "results": results, "errors": errors, "growth": growth()}))
