"""Programs without a model: k-means, PageRank, Newton's iteration in float64, integers, complex numbers, tf.experimental.numpy."""
# rtol: 1e-4

import numpy as np
import tensorflow as tf
import tensorflow.experimental.numpy as tnp
from report import report

points = tf.constant(np.random.RandomState(1).normal(size=(60, 2)).astype("float32"))
links = tf.constant(np.random.RandomState(2).uniform(size=(12, 12)).astype("float32"))


@tf.function
def k_means(points, count):
    centers = points[:count]
    for _ in tf.range(6):
        distances = tf.reduce_sum((points[:, None] - centers[None]) ** 2, axis=2)
        nearest = tf.argmin(distances, axis=1)
        sizes = tf.math.unsorted_segment_sum(tf.ones([60]), nearest, count)
        centers = tf.math.unsorted_segment_sum(points, nearest, count) / tf.maximum(sizes, 1.0)[:, None]
    return centers, nearest


@tf.function(jit_compile=True)
def rank(links):
    matrix, ranks = links / tf.reduce_sum(links, axis=0), tf.fill([12, 1], 1 / 12)
    for _ in range(20):
        ranks = 0.85 * tf.matmul(matrix, ranks) + 0.15 / 12
    return tf.math.top_k(ranks[:, 0], 5)


root = tf.constant(2.0, tf.float64)
guess = root
for _ in range(6):
    guess = (guess + root / guess) / 2
whole = tf.constant([17, -17, 8, 255])
z = tf.complex(points[:, 0], points[:, 1])
array = tnp.asarray(np.arange(12).reshape(3, 4)) * 2
report(
    k_means=k_means(points, 4),
    rank=rank(links),
    root=guess,
    arithmetic=[whole // 5, whole % 5, tf.bitwise.bitwise_xor(whole, 3), tf.bitwise.left_shift(whole, 2), whole**2],
    complex=[z * tf.math.conj(z), tf.math.angle(z[:5]), tf.exp(z[:5])],
    numpy=[tnp.mean(array, axis=0), tnp.matmul(tnp.transpose(array), array), tnp.where(array > 6, array, -array), tnp.cumsum(array, axis=1)],
    statistics=[tf.nn.moments(points, [0]), tf.math.reduce_std(points), tf.histogram_fixed_width(points, [-2.0, 2.0], 5)],
    special=[tf.math.lgamma(points[:4] + 5), tf.math.erf(points[:4]), tf.math.bessel_i0(points[:4]), tf.math.igamma(2.0, 1.5)],
    moved=[tf.roll(whole, 1, 0), tf.reverse(whole, [0]), tf.boolean_mask(whole, whole > 0), tf.where(whole > 9)],
    meshes=tf.meshgrid(tf.range(3), tf.range(2)),
    sequence=tf.sequence_mask([1, 3], 4),
)
