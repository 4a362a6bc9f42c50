"""Layers written with keras.ops, a seed generator, `compute_output_spec`, stateless calls, `keras.ops.fori_loop`, `vectorized_map`."""
# releases: 2.16 and later

import keras
import numpy as np
from keras import ops
from report import report


class Attention(keras.layers.Layer):
    def __init__(self, width):
        super().__init__()
        self.query, self.key, self.value = (keras.layers.Dense(width, use_bias=False) for _ in range(3))
        self.seeds = keras.random.SeedGenerator(7)

    def call(self, x, training=False):
        scores = ops.einsum("bik,bjk->bij", self.query(x), self.key(x)) / ops.sqrt(ops.cast(ops.shape(x)[-1], "float32"))
        mask = ops.triu(ops.ones((x.shape[1], x.shape[1]), "bool"), k=1)
        scores = ops.softmax(ops.where(mask, -1e9, scores), axis=-1)
        if training:
            scores = keras.random.dropout(scores, 0.1, seed=self.seeds)
        return ops.matmul(scores, self.value(x))


keras.utils.set_random_seed(1)
x = np.random.normal(size=(32, 6, 8)).astype("float32")
model = keras.Sequential([Attention(8), keras.layers.RMSNormalization(), keras.layers.Flatten(), keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
history = model.fit(x, np.random.randint(0, 2, size=(32,)), epochs=2, batch_size=8, verbose=0)
stateless, _ = model.stateless_call(model.trainable_variables, model.non_trainable_variables, x[:2])
values = ops.convert_to_tensor(x[0])
report(
    history=history.history,
    stateless=stateless,
    loop=ops.fori_loop(0, 4, lambda i, it: it * 0.5 + ops.cast(i, "float32"), values),
    scanned=ops.scan(lambda carry, row: (carry + row, carry * row), values[0], values),
    mapped=ops.vectorized_map(lambda row: ops.sum(row**2), values),
    condition=ops.cond(ops.sum(values) > 0, lambda: values, lambda: -values),
    updated=ops.slice_update(values, [1, 2], ops.zeros((2, 3))),
    scattered=ops.scatter([[0], [3]], values[:2], (5, 8)),
    segments=ops.segment_sum(values, ops.array([0, 0, 1, 2, 2, 2])),
    top=ops.top_k(values, 3).values,
    quantile=ops.quantile(values, 0.3, axis=1),
    sorted=ops.argsort(values, axis=0),
    normal=keras.random.normal((3,), seed=5),
    shuffled=keras.random.shuffle(ops.arange(6), seed=6),
)
