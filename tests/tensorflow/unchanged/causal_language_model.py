"""A small causal language model: masks, tied embeddings, a schedule, and a loop that generates text."""

import numpy as np
import tensorflow as tf
from report import report

layers, WORDS, LENGTH = tf.keras.layers, 20, 10


class Decoder(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embedding = layers.Embedding(WORDS, 16)
        self.place = self.add_weight(shape=(LENGTH, 16), initializer="zeros", name="place")
        self.attention, self.norm = layers.MultiHeadAttention(2, 8), layers.LayerNormalization()
        self.dense = layers.Dense(16, activation="relu")

    def call(self, words):
        x = self.embedding(words) + self.place[: tf.shape(words)[1]]
        x = self.norm(x + self.attention(x, x, use_causal_mask=True))
        return tf.matmul(x + self.dense(x), self.embedding.embeddings, transpose_b=True)


tf.keras.utils.set_random_seed(1)
text = (np.arange(LENGTH + 1)[None] + np.random.randint(0, WORDS, size=(64, 1))) % WORDS
model = Decoder()
schedule = tf.keras.optimizers.schedules.CosineDecay(0.01, 24, alpha=0.1)
model.compile(tf.keras.optimizers.Adam(schedule), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(text[:, :-1], text[:, 1:], epochs=6, batch_size=16, verbose=0)


@tf.function
def generate(start):
    words = start
    for _ in range(LENGTH - 1):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(words, tf.TensorShape([None, None]))])
        following = tf.argmax(model(words)[:, -1], axis=-1, output_type=tf.int32)
        words = tf.concat([words, following[:, None]], axis=1)
    return words


report(loss=history.history["loss"], text=generate(tf.constant([[3], [7]])))
