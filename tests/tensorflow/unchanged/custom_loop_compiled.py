"""A training loop whose step the program compiles by XLA: `jit_compile=True`, with a nested function and a method."""

import numpy as np
import tensorflow as tf
from report import report


class Trainer(tf.Module):
    def __init__(self):
        super().__init__()
        self.w1 = tf.Variable(tf.random.stateless_normal([6, 16], seed=[1, 2]) * 0.3)
        self.w2 = tf.Variable(tf.random.stateless_normal([16, 1], seed=[3, 4]) * 0.3)

    @tf.function(jit_compile=True)
    def forward(self, x):
        return tf.matmul(tf.nn.relu(tf.matmul(x, self.w1)), self.w2)

    @tf.function(jit_compile=True, reduce_retracing=True)
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.forward(x) - y))
        for variable, gradient in zip([self.w1, self.w2], tape.gradient(loss, [self.w1, self.w2])):
            variable.assign_sub(0.05 * gradient)
        return loss


x = np.random.RandomState(1).normal(size=(64, 6)).astype("float32")
y = np.sin(x).sum(1, keepdims=True)
trainer = Trainer()
losses = [trainer.step(tf.constant(x), tf.constant(y)) for _ in range(8)]
with tf.GradientTape() as tape:
    outside = tf.reduce_sum(trainer.forward(tf.constant(x)))
gradient = tape.gradient(outside, trainer.w1)
report(losses=losses, predicted=trainer.forward(tf.constant(x[:4])), gradient=gradient)
