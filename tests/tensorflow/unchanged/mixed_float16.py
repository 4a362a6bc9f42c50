"""Mixed precision with float16: the global policy, `fit` with dynamic loss scaling, a convolution and a normalization."""
# rtol: 2e-2: float16 has 11 bits, and XLA rounds fewer intermediate results

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
tf.keras.mixed_precision.set_global_policy("mixed_float16")
x = np.random.normal(size=(96, 8, 8, 3)).astype("float32")
y = np.random.randint(0, 4, size=(96,))
model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(8, 3, activation="relu"),
    tf.keras.layers.BatchNormalization(),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(4),
    tf.keras.layers.Activation("softmax", dtype="float32"),
])
model.compile(tf.keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy")
history = model.fit(x, y, epochs=3, batch_size=32, verbose=0)
predicted = model.predict(x[:8], verbose=0)
report(loss=history.history["loss"], predicted=predicted, compute=str(model.layers[0].compute_dtype), dtype=str(predicted.dtype))
