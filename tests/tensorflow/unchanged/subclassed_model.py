"""A subclassed model with a layer of its own, `add_loss`, a regularizer and class weights."""

import numpy as np
import tensorflow as tf
from report import report


class Scale(tf.keras.layers.Layer):
    def build(self, shape):
        self.factor = self.add_weight(shape=(shape[-1],), initializer="ones", name="factor")

    def call(self, x):
        self.add_loss(0.01 * tf.reduce_sum(tf.square(self.factor)))
        return x * self.factor


class Classifier(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(24, activation="elu", kernel_regularizer=tf.keras.regularizers.l2(1e-3))
        self.scale, self.dropout = Scale(), tf.keras.layers.Dropout(0.3)
        self.top = tf.keras.layers.Dense(2)

    def call(self, x, training=False):
        return self.top(self.dropout(self.scale(self.hidden(x)), training=training))


tf.keras.utils.set_random_seed(1)
x = np.random.normal(size=(200, 10)).astype("float32")
y = (x.sum(1) > 0).astype("int32")
model = Classifier()
model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
history = model.fit(x, y, epochs=3, class_weight={0: 1.0, 1: 2.0}, verbose=0)
report(history=history.history, logits=model(x[:5]))
