"""TensorFlow Probability: regression by a Gaussian process, and a structural time series."""
# packages: tensorflow_probability, tf_keras

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from report import report

tfd = tfp.distributions
x = np.linspace(0.0, 3.0, 12)[:, None].astype("float32")
y = np.sin(2 * x[:, 0])
amplitude, length = tf.Variable(1.0), tf.Variable(0.5)
optimizer = tf.keras.optimizers.Adam(0.05)


def process():
    kernel = tfp.math.psd_kernels.ExponentiatedQuadratic(amplitude, length)
    return tfd.GaussianProcess(kernel, x, observation_noise_variance=0.01)


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = -process().log_prob(y)
    gradients = tape.gradient(loss, [amplitude, length])
    optimizer.apply_gradients(zip(gradients, [amplitude, length]))
    return loss


losses = [step() for _ in range(10)]
kernel = tfp.math.psd_kernels.ExponentiatedQuadratic(amplitude, length)
posterior = tfd.GaussianProcessRegressionModel(kernel, x[:5] + 0.1, x, y, observation_noise_variance=0.01)
trend = tfp.sts.LocalLinearTrend(observed_time_series=y)
series = tfp.sts.Sum([trend], observed_time_series=y)
parameters = [tf.constant(0.1), tf.constant(0.1), tf.constant(0.1)]
likelihood = series.make_state_space_model(12, parameters).log_prob(y[:, None])
report(losses=losses, mean=posterior.mean(), deviation=posterior.stddev(), likelihood=likelihood)
