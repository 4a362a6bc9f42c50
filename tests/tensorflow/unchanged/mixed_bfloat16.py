"""Mixed precision with bfloat16: an LSTM and a dense layer."""
# releases: 2.16 and later
# rtol: 5e-2: bfloat16 has 8 bits, and XLA rounds fewer intermediate results

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
x = np.random.normal(size=(64, 7, 5)).astype("float32")
y = x.sum(axis=(1, 2))[:, None] * 0.1
inputs = tf.keras.Input((7, 5))
outputs = tf.keras.layers.Dense(1, dtype="float32")(tf.keras.layers.LSTM(8)(inputs))
model = tf.keras.Model(inputs, outputs)
model.compile("adam", "mse")
history = model.fit(x, y, epochs=3, batch_size=32, verbose=0)
report(loss=history.history["loss"], predicted=model.predict(x[:8], verbose=0))
