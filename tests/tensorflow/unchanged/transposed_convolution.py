"""A U-Net with transposed convolutions, upsampling and cropping; transposed convolutions of series and volumes."""

import numpy as np
import tensorflow as tf
from report import report

layers = tf.keras.layers
tf.keras.utils.set_random_seed(1)
x = np.random.uniform(size=(12, 16, 16, 1)).astype("float32")
y = (x > 0.5).astype("float32")
inputs = tf.keras.Input((16, 16, 1))
a = layers.Conv2D(6, 3, padding="same", activation="relu")(inputs)
b = layers.Conv2D(12, 3, padding="same", activation="relu")(layers.MaxPooling2D()(a))
up = layers.Conv2DTranspose(6, 2, strides=2)(b)
wide = layers.Conv2D(4, 1)(layers.UpSampling2D(2, interpolation="bilinear")(b))
joined = layers.Concatenate()([a, up, wide, layers.Cropping2D(1)(layers.ZeroPadding2D(1)(a))])
model = tf.keras.Model(inputs, layers.Conv2D(1, 1, activation="sigmoid")(joined))
model.compile("adam", "binary_crossentropy")
history = model.fit(x, y, epochs=3, batch_size=4, verbose=0)
line = layers.Conv1DTranspose(3, 3, strides=2, padding="same")(x[:, 0])
volume = layers.Conv3DTranspose(2, 2, strides=2)(x[:2, None, :4, :4])
report(loss=history.history["loss"], predicted=model.predict(x[:2], verbose=0), line=line, volume=volume)
