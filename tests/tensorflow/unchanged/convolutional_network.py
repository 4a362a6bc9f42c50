"""An image classifier: convolutions, batch normalization, residual sums, pools of each kind, random augmentation, `fit`."""
# rtol: 5e-3: in 2.12 the CPU differs so from itself if oneDNN is switched off

import numpy as np
import tensorflow as tf
from report import report

layers = tf.keras.layers
tf.keras.utils.set_random_seed(1)
x = np.random.uniform(size=(64, 16, 16, 3)).astype("float32")
y = np.random.randint(0, 5, size=(64,))


def residual(x, filters, strides):
    short = layers.Conv2D(filters, 1, strides=strides, use_bias=False)(x)
    x = layers.Conv2D(filters, 3, strides=strides, padding="same", use_bias=False)(x)
    x = layers.ReLU()(layers.BatchNormalization()(x))
    x = layers.BatchNormalization()(layers.Conv2D(filters, 3, padding="same")(x))
    return layers.ReLU()(layers.Add()([x, short]))


inputs = tf.keras.Input((16, 16, 3))
h = residual(residual(inputs, 8, 1), 16, 2)
h = layers.AveragePooling2D(2)(layers.ZeroPadding2D(1)(h))
h = layers.Concatenate()([layers.GlobalMaxPooling2D()(h), layers.GlobalAveragePooling2D()(h)])
model = tf.keras.Model(inputs, layers.Dense(5, activation="softmax")(layers.SpatialDropout1D(0.1)(h[:, None])[:, 0]))
optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True)
model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, epochs=3, batch_size=16, verbose=0)
report(loss=history.history["loss"], scores=model.evaluate(x, y, verbose=0), predicted=model.predict(x[:4], verbose=0))
