"""An LSTM over padded words: `mask_zero`, Masking, return of states."""
# Keras as type GPU: 2.0 to 3.15: Keras 3.16's layers drop the mask, and cuDNN has zeros where the CPU repeats its last output

import numpy as np
import tensorflow as tf
from report import report

layers = tf.keras.layers
tf.keras.utils.set_random_seed(1)
words = np.random.randint(1, 40, size=(64, 9))
for row, length in enumerate(np.random.randint(2, 10, size=64)):
    words[row, length:] = 0
y = (words.sum(1) % 2).astype("float32")
model = tf.keras.Sequential([
    layers.Embedding(40, 12, mask_zero=True),
    layers.LSTM(10, return_sequences=True),
    layers.LSTM(6),
    layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
history = model.fit(words, y, epochs=2, batch_size=16, verbose=0)

values = np.random.normal(size=(8, 5, 3)).astype("float32")
values[:, 3:] = -1
output, hidden, cell = layers.LSTM(4, return_state=True)(layers.Masking(-1.0)(values))
report(history=history.history, predicted=model.predict(words[:6], verbose=0), output=output, hidden=hidden, cell=cell)
