"""TensorFlow Probability's layers: a variational autoencoder, DenseFlipout, a probabilistic regression."""
# packages: tensorflow_probability, tf_keras
# rtol: 1e-2

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from report import report

tfd, tfpl, layers = tfp.distributions, tfp.layers, tf.keras.layers
tf.keras.utils.set_random_seed(1)
x = np.random.normal(size=(64, 8)).astype("float32")
y = x[:, :1] * 2.0 + 0.3


def fit(model, loss, targets):
    model.compile(optimizer="adam", loss=loss)
    return model.fit(x, targets, epochs=2, batch_size=16, shuffle=False, verbose=0).history["loss"]


prior = tfd.Independent(tfd.Normal(tf.zeros(2), 1.0), 1)
encoder = tf.keras.Sequential([
    layers.InputLayer(8), layers.Dense(16, activation="relu"), layers.Dense(tfpl.IndependentNormal.params_size(2)),
    tfpl.IndependentNormal(2, activity_regularizer=tfpl.KLDivergenceRegularizer(prior)),
])
decoder = tf.keras.Sequential([
    layers.InputLayer(2), layers.Dense(16, activation="relu"), layers.Dense(tfpl.IndependentNormal.params_size(8)), tfpl.IndependentNormal(8),
])
autoencoder = tf.keras.Model(encoder.inputs, decoder(encoder.outputs[0]))
flipout = tf.keras.Sequential([tfpl.DenseFlipout(16, activation="relu", seed=3), tfpl.DenseFlipout(1, seed=4)])
regression = tf.keras.Sequential([layers.Dense(2), tfpl.DistributionLambda(lambda t: tfd.Normal(t[..., :1], 1e-3 + tf.math.softplus(t[..., 1:])))])


def negative_log_likelihood(value, distribution):
    return -distribution.log_prob(value)


report(
    autoencoder=fit(autoencoder, negative_log_likelihood, x),
    flipout=fit(flipout, "mse", y),
    regression=fit(regression, negative_log_likelihood, y),
    predicted=regression(x[:4]).mean(),
)
