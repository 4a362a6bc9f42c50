"""TensorFlow Probability: seeded samples of distributions that have one algorithm for all devices."""
# packages: tensorflow_probability, tf_keras

import tensorflow as tf
import tensorflow_probability as tfp
from report import report

tfd = tfp.distributions
SEED = [3, 14]
distributions = {
    "normal": tfd.Normal(0.5, [1.0, 2.0, 3.0]),
    "uniform": tfd.Uniform(-1.0, [1.0, 2.0, 3.0]),
    "laplace": tfd.Laplace(0.5, [1.0, 2.0, 3.0]),
    "exponential": tfd.Exponential([1.0, 2.0, 3.0]),
    "truncated": tfd.TruncatedNormal(0.0, 1.0, -1.0, [0.5, 1.0, 2.0]),
    "bernoulli": tfd.Bernoulli(probs=[0.1, 0.5, 0.9]),
    "categorical": tfd.Categorical(logits=[0.1, 2.0, 0.3]),
    "one_hot": tfd.OneHotCategorical(logits=[0.1, 2.0, 0.3]),
    "relaxed": tfd.RelaxedOneHotCategorical(0.5, logits=[0.1, 2.0, 0.3]),
    "multivariate": tfd.MultivariateNormalTriL([0.0, 1.0, 2.0], tf.constant([[1.0, 0, 0], [0.5, 2, 0], [0.1, 0.2, 3]])),
    "mixture": tfd.MixtureSameFamily(tfd.Categorical(probs=[0.3, 0.7]), tfd.Normal([-1.0, 1.0], [0.5, 1.5])),
    "transformed": tfd.TransformedDistribution(tfd.Normal(0.0, 1.0), tfp.bijectors.Softplus()),
}


@tf.function
def compiled():
    return {name: it.sample(4, seed=SEED) for name, it in distributions.items()}


tf.random.set_seed(5)
report(
    eager={name: it.sample(4, seed=SEED) for name, it in distributions.items()},
    compiled=compiled(),
    stateful=[tfd.Normal(0.0, 1.0).sample(3, seed=1), tfd.Bernoulli(0.5).sample(6, seed=2)],
)
