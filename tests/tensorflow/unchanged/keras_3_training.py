"""What Keras 3 has: gradient accumulation, `steps_per_execution`, moving averages, layers that are frozen, low-rank adaption."""
# releases: 2.16 and later

import keras
import numpy as np
from report import report

keras.utils.set_random_seed(1)
x = np.random.normal(size=(64, 8)).astype("float32")
y = np.random.randint(0, 3, size=(64,))


def new_model(optimizer, **options):
    keras.utils.set_random_seed(2)
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(12, activation="silu"), keras.layers.Dense(3)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, metrics=["sparse_categorical_accuracy"], **options)
    return model


accumulated = new_model(keras.optimizers.Adam(0.01, gradient_accumulation_steps=2)).fit(x, y, batch_size=8, epochs=2, verbose=0)
several = new_model("adam", steps_per_execution=4)
executed = several.fit(x, y, batch_size=8, epochs=2, verbose=0)
averaged = new_model(keras.optimizers.SGD(0.05, use_ema=True, ema_momentum=0.8))
swapped = averaged.fit(x, y, epochs=2, callbacks=[keras.callbacks.SwapEMAWeights(swap_on_epoch=True)], verbose=0)
frozen = new_model("rmsprop")
frozen.layers[0].trainable = False
frozen.compile("rmsprop", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
frozen.fit(x, y, epochs=1, verbose=0)
low_rank = new_model("adam")
low_rank.layers[0].enable_lora(2)
low_rank.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
report(
    accumulated=accumulated.history,
    executed=executed.history,
    predicted=several.predict(x[:20], batch_size=4, verbose=0),
    swapped=swapped.history,
    frozen=frozen.predict(x[:4], verbose=0),
    adapted=low_rank.fit(x, y, epochs=2, verbose=0).history,
)
