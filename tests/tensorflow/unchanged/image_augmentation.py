"""Image augmentation layers with seeds, as layers of a model and in a pipeline; resizing, cropping."""
# rtol: 1e-3

import numpy as np
import tensorflow as tf
from report import report

layers = tf.keras.layers
tf.keras.utils.set_random_seed(1)
x = np.random.uniform(size=(24, 12, 12, 3)).astype("float32")
y = np.random.randint(0, 2, size=(24,))
augment = [
    layers.RandomFlip("horizontal", seed=1),
    layers.RandomRotation(0.1, seed=2),
    layers.RandomZoom(0.2, seed=3),
    layers.RandomContrast(0.2, seed=4),
    layers.RandomTranslation(0.1, 0.1, seed=5),
]
alone = [layer(x[:2], training=True) for layer in augment]
kept = augment[0](x[:2], training=False)
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(8).map(lambda it, label: (layers.Resizing(10, 10)(it), label))
model = tf.keras.Sequential([*augment[:2], layers.CenterCrop(8, 8), layers.Conv2D(4, 3), layers.GlobalMaxPooling2D(), layers.Dense(2)])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(data, epochs=2, verbose=0)
report(alone=alone, kept=kept, loss=history.history["loss"], predicted=model.predict(x[:2, :10, :10], verbose=0))
