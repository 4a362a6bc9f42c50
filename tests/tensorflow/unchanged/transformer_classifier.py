"""A Transformer block with token and position embeddings, trained by `fit`; attention scores with a mask."""

import numpy as np
import tensorflow as tf
from report import report

layers = tf.keras.layers


class Block(layers.Layer):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = layers.MultiHeadAttention(num_heads=heads, key_dim=width // heads, dropout=0.1)
        self.feed = tf.keras.Sequential([layers.Dense(2 * width, activation="gelu"), layers.Dense(width)])
        self.norms = [layers.LayerNormalization(epsilon=1e-6) for _ in range(2)]

    def call(self, x, training=False):
        x = self.norms[0](x + self.attention(x, x, training=training))
        return self.norms[1](x + self.feed(x))


class Positions(layers.Layer):
    def __init__(self, words, length, width):
        super().__init__()
        self.words, self.positions = layers.Embedding(words, width), layers.Embedding(length, width)

    def call(self, x):
        return self.words(x) + self.positions(tf.range(tf.shape(x)[-1]))


tf.keras.utils.set_random_seed(1)
words, labels = np.random.randint(0, 60, size=(96, 12)), np.random.randint(0, 2, size=(96,))
inputs = tf.keras.Input((12,), dtype="int32")
x = Block(16, 4)(Positions(60, 12, 16)(inputs))
model = tf.keras.Model(inputs, layers.Dense(2, activation="softmax")(layers.GlobalAveragePooling1D()(x)))
model.compile(tf.keras.optimizers.AdamW(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(words, labels, epochs=2, batch_size=32, verbose=0)

values = np.random.normal(size=(2, 5, 8)).astype("float32")
mask = np.tri(5, dtype=bool)[None].repeat(2, 0)
attended, scores = layers.MultiHeadAttention(2, 4)(values, values, attention_mask=mask, return_attention_scores=True)
report(history=history.history, predicted=model.predict(words[:4], verbose=0), attended=attended, scores=scores)
