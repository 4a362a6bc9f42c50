"""Convolutions in groups, eagerly and in `fit`."""

import numpy as np
import tensorflow as tf
from report import report

layers = tf.keras.layers
tf.keras.utils.set_random_seed(1)
x = np.random.normal(size=(16, 9, 9, 6)).astype("float32")
y = np.random.randint(0, 2, size=(16,))
layer = layers.Conv2D(12, 3, groups=3, activation="relu")
with tf.GradientTape() as tape:
    eager = layer(x)
    total = tf.reduce_sum(eager**2)
gradient = tape.gradient(total, layer.kernel if isinstance(layer.kernel, tf.Variable) else layer.kernel.value)
line = layers.Conv1D(8, 3, groups=2, padding="causal")(x[:, 0])
model = tf.keras.Sequential([layer, layers.Conv2D(12, 3, groups=12), layers.GlobalAveragePooling2D(), layers.Dense(2)])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(x, y, epochs=3, batch_size=8, verbose=0)
report(eager=eager, gradient=gradient, line=line, loss=history.history["loss"], predicted=model.predict(x, verbose=0))
