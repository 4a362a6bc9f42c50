"""FeatureSpace: columns of texts, categories and numbers, adapted, in a model that is trained and takes raw rows."""
# releases: 2.16 and later

import keras
import numpy as np
import tensorflow as tf
from report import report

keras.utils.set_random_seed(1)
random = np.random.RandomState(1)
columns = {
    "age": random.uniform(20, 80, size=(64,)).astype("float32"),
    "city": random.choice(["Rome", "Oslo", "Lima"], size=(64,)),
    "code": random.randint(0, 5, size=(64,)),
}
y = (columns["age"] > 50).astype("float32")
data = tf.data.Dataset.from_tensor_slices((columns, y)).batch(16)
space = keras.utils.FeatureSpace(
    features={
        "age": keras.utils.FeatureSpace.float_normalized(),
        "city": keras.utils.FeatureSpace.string_categorical(num_oov_indices=1),
        "code": keras.utils.FeatureSpace.integer_hashed(num_bins=8),
    },
    crosses=[keras.utils.FeatureSpace.cross(feature_names=("city", "code"), crossing_dim=8)],
    output_mode="concat",
)
space.adapt(data.map(lambda it, _: it))
encoded = space.get_encoded_features()
outputs = keras.layers.Dense(1, activation="sigmoid")(keras.layers.Dense(8, activation="relu")(encoded))
model = keras.Model(encoded, outputs)
model.compile("adam", "binary_crossentropy")
history = model.fit(data.map(lambda it, label: (space(it), label)), epochs=2, verbose=0)
whole = keras.Model(space.get_inputs(), outputs)
rows = {name: tf.constant(it[:3]) for name, it in columns.items()}
report(loss=history.history["loss"], features=space(rows), predicted=whole.predict(rows, verbose=0))
