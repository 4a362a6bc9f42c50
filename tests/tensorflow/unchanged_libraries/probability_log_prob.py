"""TensorFlow Probability: log densities, moments, divergences and their gradients."""
# packages: tensorflow_probability, tf_keras

import tensorflow as tf
import tensorflow_probability as tfp
from report import report

tfd = tfp.distributions
x = tf.constant([0.1, 0.4, 0.8])
counts = tf.constant([0.0, 1.0, 3.0])
distributions = {
    "normal": (tfd.Normal(0.5, [1.0, 2.0, 3.0]), x),
    "log_normal": (tfd.LogNormal(0.5, [1.0, 2.0, 3.0]), x),
    "gamma": (tfd.Gamma([0.5, 1.0, 4.0], 2.0), x),
    "beta": (tfd.Beta([0.5, 1.0, 4.0], 2.0), x),
    "student": (tfd.StudentT([1.5, 3.0, 9.0], 0.0, 1.0), x),
    "von_mises": (tfd.VonMises(0.2, [0.5, 1.0, 4.0]), x),
    "poisson": (tfd.Poisson([0.5, 1.0, 4.0]), counts),
    "negative_binomial": (tfd.NegativeBinomial(5.0, probs=[0.1, 0.5, 0.9]), counts),
    "categorical": (tfd.Categorical(logits=[0.1, 2.0, 0.3]), tf.constant([0, 1, 2])),
    "dirichlet": (tfd.Dirichlet([0.5, 1.0, 4.0]), tf.constant([[0.2, 0.3, 0.5]])),
    "multivariate": (tfd.MultivariateNormalTriL([0.0, 1.0, 2.0], tf.constant([[1.0, 0, 0], [0.5, 2, 0], [0.1, 0.2, 3]])), x),
    "mixture": (tfd.MixtureSameFamily(tfd.Categorical(probs=[0.3, 0.7]), tfd.Normal([-1.0, 1.0], [0.5, 1.5])), x),
}
log_probs = {name: it.log_prob(value) for name, (it, value) in distributions.items()}


def moments(distribution):
    return [distribution.mean(), distribution.variance()]


def entropy_gradient(concentration):
    with tf.GradientTape() as tape:
        tape.watch(concentration)
        entropy = tfd.Gamma(concentration, 2.0).entropy() + tfd.Beta(concentration, 3.0).entropy()
    return tape.gradient(entropy, concentration)


report(
    log_probs=log_probs,
    moments={name: moments(distributions[name][0]) for name in ("gamma", "beta", "dirichlet", "mixture", "multivariate")},
    cumulative=[tfd.Normal(0.0, 1.0).cdf(x), tfd.Gamma(2.0, 1.0).cdf(x), tfd.Beta(2.0, 3.0).cdf(x), tfd.StudentT(3.0, 0.0, 1.0).cdf(x)],
    quantiles=[tfd.Normal(0.0, 1.0).quantile(x), tfd.Laplace(0.0, 1.0).quantile(x)],
    divergences=[tfd.kl_divergence(tfd.Normal(0.0, 1.0), tfd.Normal(x, 2.0)), tfd.kl_divergence(tfd.Gamma(2.0, 1.0), tfd.Gamma(x, 2.0))],
    entropy_gradient=entropy_gradient(x),
)
