"""TextVectorization in a pipeline and in a model, with an Embedding; n-grams and tf-idf."""

import numpy as np
import tensorflow as tf
from report import report

layers = tf.keras.layers
tf.keras.utils.set_random_seed(1)
text = ["The cat sat on the mat", "A dog barked at the cat", "Birds sing in the morning", "The dog and the bird sat"] * 8
y = np.array([0, 1, 1, 0] * 8, "float32")
vectorize = layers.TextVectorization(max_tokens=30, output_sequence_length=6)
vectorize.adapt(text)
data = tf.data.Dataset.from_tensor_slices((text, y)).batch(8).map(lambda it, label: (vectorize(it), label))
model = tf.keras.Sequential([
    layers.Embedding(30, 8, mask_zero=True), layers.GlobalAveragePooling1D(), layers.Dense(1, activation="sigmoid")
])
model.compile("adam", "binary_crossentropy")
history = model.fit(data, epochs=3, verbose=0)
inputs = tf.keras.Input((1,), dtype="string")
whole = tf.keras.Model(inputs, model(vectorize(inputs)))
weighted = layers.TextVectorization(max_tokens=20, output_mode="tf_idf", ngrams=2)
weighted.adapt(tf.constant(text))
report(
    loss=history.history["loss"],
    words=vectorize.get_vocabulary(),
    ids=vectorize(text[:2]),
    predicted=whole.predict(tf.constant([["the cat sat"], ["birds barked"]]), verbose=0),
    weighted=weighted(tf.constant(text[:2])),
)
