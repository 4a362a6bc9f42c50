"""tf.linalg: solutions, decompositions, determinants, bands, einsum; a least-squares fit by gradients."""
# rtol: 1e-3

import numpy as np
import tensorflow as tf
from report import report

linalg = tf.linalg
random = np.random.RandomState(1)
a = tf.constant(random.normal(size=(2, 4, 4)).astype("float32"))
b = tf.constant(random.normal(size=(2, 4, 3)).astype("float32"))
positive = tf.matmul(a, a, transpose_b=True) + 2 * tf.eye(4)


@tf.function
def results(a, b, positive):
    q, r = linalg.qr(a)
    singular, u, v = linalg.svd(a)
    return {
        "solved": linalg.solve(positive, b),
        "inverse": linalg.inv(positive),
        "determinant": linalg.det(a),
        "logarithm": linalg.slogdet(positive)[1],
        "factor": linalg.cholesky(positive),
        "triangular": linalg.triangular_solve(linalg.cholesky(positive), b),
        "values": linalg.eigvalsh(positive),
        "restored": tf.matmul(q, r),
        "singular": singular,
        "composed": tf.matmul(u * singular[:, None], v, transpose_b=True),
        "band": linalg.band_part(a, 1, 0),
        "diagonal": linalg.set_diag(a, tf.zeros([2, 4])),
        "trace": linalg.trace(a),
        "least": linalg.lstsq(positive, b, fast=True),
        "power": linalg.expm(a * 0.1),
        "einsum": tf.einsum("bij,bjk,bik->bi", a, b, b),
        "norm": linalg.norm(b, ord="fro", axis=[1, 2]),
        "cross": linalg.cross(b[..., :3], b[..., :3] * 2 + 1),
        "batch": linalg.matvec(a, b[..., 0]),
        "adjoint": linalg.adjoint(tf.complex(b, b * 2)),
    }


with tf.GradientTape() as tape:
    tape.watch(positive)
    total = tf.reduce_sum(linalg.solve(positive, b)) + tf.reduce_sum(linalg.cholesky(positive))
report(**results(a, b, positive), gradient=tape.gradient(total, positive))
