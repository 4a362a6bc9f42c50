"""`.keras` files and weights with `import keras`, a quantized model, `model.export` with a signature."""
# releases: 2.16 and later

import pathlib
import tempfile

import keras
import numpy as np
import tensorflow as tf
from report import report

keras.utils.set_random_seed(1)
folder = pathlib.Path(tempfile.mkdtemp())
x = np.random.normal(size=(32, 5, 6)).astype("float32")
y = np.random.normal(size=(32, 2)).astype("float32")
inputs = keras.Input((5, 6))
outputs = keras.layers.Dense(2)(keras.layers.Bidirectional(keras.layers.LSTM(4))(inputs))
model = keras.Model(inputs, outputs)
model.compile("adam", "mse")
model.fit(x, y, epochs=1, verbose=0)
model.save(folder / "model.keras")
model.save_weights(folder / "model.weights.h5")
loaded = keras.saving.load_model(folder / "model.keras")
again = loaded.fit(x, y, epochs=2, shuffle=False, verbose=0).history["loss"]
loaded.load_weights(folder / "model.weights.h5")
archive = keras.export.ExportArchive()
archive.track(loaded)
archive.add_endpoint("call", lambda it: loaded(it), input_signature=[tf.TensorSpec([None, 5, 6])])
archive.write_out(str(folder / "served"), verbose=False)
restored = tf.saved_model.load(str(folder / "served"))
served = restored.call(tf.constant(x[:3]))
layer = keras.layers.TFSMLayer(str(folder / "served"), call_endpoint="call")
loaded.quantize("int8")
quantized = loaded.predict(x[:3], verbose=0)
report(again=again, predicted=model.predict(x[:3], verbose=0), served=served, layer=layer(x[:3]), quantized=quantized)
