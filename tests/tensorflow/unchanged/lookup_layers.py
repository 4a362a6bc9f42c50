"""StringLookup and IntegerLookup in each output mode, inverted, with several values out of vocabulary; a mutable table."""
# rtol: 1e-5

import numpy as np
import tensorflow as tf
from report import report

layers = tf.keras.layers
colors = tf.constant([["red", "blue"], ["black", "red"]])
lookup = layers.StringLookup(vocabulary=["red", "green", "blue"])
adapted = layers.StringLookup(num_oov_indices=2)
adapted.adapt(np.array(["x", "y", "x", "z"]))
numbers = layers.IntegerLookup(vocabulary=[10, 20, 30], output_mode="multi_hot")
table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
table.insert(tf.constant(["a", "b"]), tf.constant([5, 7], tf.int64))
crossed = layers.HashedCrossing(num_bins=6)
report(
    ids=lookup(colors),
    inverted=layers.StringLookup(vocabulary=["red", "green", "blue"], invert=True)(lookup(colors)),
    one_hot=layers.StringLookup(vocabulary=["red", "green"], output_mode="one_hot")(tf.constant(["green", "red"])),
    counted=layers.StringLookup(vocabulary=["red", "blue"], output_mode="count")(colors),
    words=adapted.get_vocabulary(),
    adapted=adapted(tf.constant(["x", "q", "z"])),
    numbers=numbers(np.array([[10, 30], [7, 20]])),
    found=table.lookup(tf.constant(["b", "c"])),
    size=table.size(),
    crossed=crossed((tf.constant(["u", "v"]), tf.constant([1, 2]))),
)
