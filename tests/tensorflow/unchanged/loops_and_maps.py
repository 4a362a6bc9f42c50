"""tf.while_loop, tf.scan, tf.map_fn, tf.foldl, tf.vectorized_map, autograph's `for`, `while`, `break`; gradients through them."""
# rtol: 1e-4

import numpy as np
import tensorflow as tf
from report import report

x = tf.constant(np.random.RandomState(1).uniform(0.1, 1, size=(6, 3)).astype("float32"))


@tf.function
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        if steps > 500:
            break
    return steps


@tf.function
def all_of_them(x):
    root = tf.while_loop(lambda g: tf.reduce_max(tf.abs(g * g - x)) > 1e-4, lambda g: [(g + x / g) / 2], [tf.ones_like(x)])[0]
    scanned = tf.scan(lambda a, row: a * 0.5 + row, x)
    mapped = tf.map_fn(lambda row: (tf.reduce_sum(row), row * 2), x, fn_output_signature=(tf.float32, tf.float32))
    folded = tf.foldl(lambda a, row: a * row + 1, x)
    vectorized = tf.vectorized_map(lambda row: tf.tensordot(row, row, 1), x)
    total = tf.constant(0.0)
    for row in x:
        if tf.reduce_sum(row) > 1.5:
            total += tf.reduce_max(row)
        else:
            total -= row[0]
    return root, scanned, mapped, folded, vectorized, total


with tf.GradientTape() as tape:
    tape.watch(x)
    results = all_of_them(x)
    loss = sum(tf.reduce_sum(it) for it in tf.nest.flatten(results))
report(results=results, gradient=tape.gradient(loss, x), collatz=collatz(tf.constant(27)))
