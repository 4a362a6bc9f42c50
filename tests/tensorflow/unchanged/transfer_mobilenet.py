"""Transfer learning on MobileNetV2: features with frozen weights, a new top; then its last block is trained too."""
# rtol: 1e-2: normalizations of many layers amplify rounding

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
x = np.random.uniform(0, 255, size=(12, 32, 32, 3)).astype("float32")
y = np.random.randint(0, 2, size=(12,))
base = tf.keras.applications.MobileNetV2(input_shape=(32, 32, 3), include_top=False, weights=None, alpha=0.35)
base.trainable = False
inputs = tf.keras.Input((32, 32, 3))
features = base(tf.keras.layers.Rescaling(1 / 127.5, offset=-1)(inputs), training=False)
outputs = tf.keras.layers.Dense(1)(tf.keras.layers.Dropout(0.2)(tf.keras.layers.GlobalAveragePooling2D()(features)))
model = tf.keras.Model(inputs, outputs)
loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)
model.compile(tf.keras.optimizers.Adam(1e-3), loss)
frozen = model.fit(x, y, epochs=2, batch_size=4, verbose=0).history["loss"]
base.trainable = True
for layer in base.layers[:-8]:
    layer.trainable = False
model.compile(tf.keras.optimizers.RMSprop(1e-5), loss)
tuned = model.fit(x, y, epochs=1, batch_size=4, verbose=0).history["loss"]
report(frozen=frozen, tuned=tuned, trained=len(model.trainable_variables), predicted=model.predict(x, verbose=0))
