"""TensorFlow Probability: `fit_surrogate_posterior` for a joint distribution, and an optimizer of its own."""
# packages: tensorflow_probability, tf_keras

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf
import tensorflow_probability as tfp
from report import report

tfd, tfb = tfp.distributions, tfp.bijectors
tf.random.set_seed(3)
observed = tf.random.stateless_normal([40], [1, 2]) * 0.7 + 2.0
model = tfd.JointDistributionSequentialAutoBatched([
    tfd.Normal(0.0, 2.0, name="mean"),
    tfd.LogNormal(0.0, 1.0, name="scale"),
    lambda scale, mean: tfd.Sample(tfd.Normal(mean, scale), 40, name="observed"),
])
pinned = model.experimental_pin(observed=observed)
parts = [tfp.util.TransformedVariable(1.0, tfb.Softplus()) for _ in range(2)]
surrogate = tfd.JointDistributionSequentialAutoBatched([
    tfd.Normal(tf.Variable(0.0), parts[0]), tfd.LogNormal(tf.Variable(0.0), parts[1]),
])
losses = tfp.vi.fit_surrogate_posterior(
    pinned.unnormalized_log_prob, surrogate, tf.keras.optimizers.Adam(0.1), num_steps=30,
    sample_size=4, seed=[5, 6],
)
minimum = tfp.optimizer.lbfgs_minimize(
    lambda x: tfp.math.value_and_gradient(lambda y: tf.reduce_sum((y - [1.0, 2.0, 3.0]) ** 2), x), tf.zeros([3])
)
report(losses=losses, variables=list(surrogate.trainable_variables), position=minimum.position)
