"""`fit`, `evaluate` and `predict` on a Sequence, which Keras 3 calls PyDataset; batches come from worker threads."""

import numpy as np
import tensorflow as tf
from report import report

Base = getattr(tf.keras.utils, "PyDataset", None) or tf.keras.utils.Sequence
IS_KERAS_3 = hasattr(tf.keras.utils, "PyDataset")


class Images(Base):
    def __init__(self, count, **options):
        super().__init__(**options)
        random = np.random.RandomState(4)
        self.x = random.normal(size=(count, 6, 6, 2)).astype("float32")
        self.y = random.randint(0, 3, size=(count,))

    def __len__(self):
        return len(self.x) // 16

    def __getitem__(self, index):
        rows = slice(index * 16, index * 16 + 16)
        return self.x[rows], self.y[rows]


tf.keras.utils.set_random_seed(1)
options = dict(workers=2, max_queue_size=4)
data = Images(96, **options) if IS_KERAS_3 else Images(96)
model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(4, 3, activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(3, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy")
history = model.fit(data, epochs=2, shuffle=False, verbose=0, **({} if IS_KERAS_3 else options))
report(loss=history.history["loss"], score=model.evaluate(data, verbose=0), predicted=model.predict(data, verbose=0))
