"""TensorFlow Probability: means and deviations of samples of gamma, beta, Dirichlet, Poisson, binomial and Student's t.

Off the CPU the library draws these by other algorithms, of the same distribution: the samples differ, their moments do not.
"""
# packages: tensorflow_probability, tf_keras
# rtol: 5e-2: another algorithm draws the samples, of which the moments are estimates

import tensorflow as tf
import tensorflow_probability as tfp
from report import report

tfd = tfp.distributions
SEED = [3, 14]
distributions = {
    "gamma": tfd.Gamma([0.5, 1.0, 4.0], 2.0),
    "beta": tfd.Beta([0.5, 1.0, 4.0], 2.0),
    "dirichlet": tfd.Dirichlet([0.5, 1.0, 4.0]),
    "poisson": tfd.Poisson([0.5, 3.0, 20.0]),
    "binomial": tfd.Binomial(20.0, probs=[0.1, 0.5, 0.9]),
    "student": tfd.StudentT(9.0, 1.0, [1.0, 2.0, 3.0]),
}


def moments(distribution):
    samples = distribution.sample(20000, seed=SEED)
    return [tf.reduce_mean(samples, 0), tf.math.reduce_std(samples, 0)]


with tf.GradientTape() as tape:
    concentration = tf.constant([0.5, 1.0, 4.0])
    tape.watch(concentration)
    mean = tf.reduce_mean(tfd.Gamma(concentration, 2.0).sample(20000, seed=SEED), 0)
report(moments={name: moments(it) for name, it in distributions.items()}, gradient=tape.gradient(mean, concentration))
