"""Stateless and seeded random numbers: uniform, normal, gamma, Poisson, binomial, categorical, shuffled."""
# rtol: 1e-4

import tensorflow as tf
from report import report

SEED = [3, 14]
random = tf.random
stateless = {
    "uniform": random.stateless_uniform([6], SEED),
    "integers": random.stateless_uniform([6], SEED, minval=-5, maxval=9, dtype=tf.int64),
    "normal": random.stateless_normal([2, 3], SEED),
    "truncated": random.stateless_truncated_normal([6], SEED),
    "gamma": random.stateless_gamma([4], SEED, alpha=[0.5, 1.0, 2.0, 9.0]),
    "poisson": random.stateless_poisson([4], SEED, lam=[0.5, 1.0, 5.0, 50.0]),
    "binomial": random.stateless_binomial([4], SEED, counts=[10.0, 20.0, 30.0, 5.0], probs=[0.1, 0.5, 0.9, 0.4]),
    "categorical": random.stateless_categorical([[0.1, 2.0, 0.3]], 8, SEED),
    "shuffled": random.experimental.stateless_shuffle(tf.range(8), SEED),
    "split": random.split(SEED, 3) if hasattr(random, "split") else random.experimental.stateless_split(SEED, 3),
}
tf.random.set_seed(5)


@tf.function
def seeded():
    first = random.normal([3], seed=1), random.uniform([3], seed=2), random.shuffle(tf.range(6), seed=3)
    return first, random.categorical([[0.5, 0.5]], 4, seed=4), random.truncated_normal([2], seed=5)


eager = random.normal([3], seed=7), random.uniform([2], maxval=50, dtype=tf.int32, seed=8), random.gamma([2], 2.0, seed=9)
report(stateless=stateless, seeded=[seeded() for _ in range(2)], eager=eager)
