"""MirroredStrategy over all devices in eager mode: a training loop, a mean and a gather of replicas' values."""

import os

import tensorflow as tf
import workload
from report import report

names = os.environ.get("SP_DEVICES")
strategy = tf.distribute.MirroredStrategy(names.split() if names else None)
losses, weights = workload.train(strategy, wrap=lambda step: step)
ones = strategy.run(lambda: tf.ones([1, 3]))
mean = strategy.reduce("MEAN", ones, axis=None)
rows = strategy.gather(ones, axis=0)
report(losses=losses, weights=weights, mean=mean, row=rows[0])
