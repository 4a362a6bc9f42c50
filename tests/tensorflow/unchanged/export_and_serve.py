"""`model.export`, loaded by `tf.saved_model.load`: its endpoint and its signature, in a process that has only the files."""
# releases: 2.13 and later

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
folder = tempfile.mkdtemp()
x = np.random.normal(size=(8, 8, 8, 3)).astype("float32")
y = np.random.randint(0, 4, size=(8,))
model = tf.keras.Sequential([
    tf.keras.Input((8, 8, 3)), tf.keras.layers.Conv2D(6, 3, activation="relu"), tf.keras.layers.Flatten(), tf.keras.layers.Dense(4)
])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=1, verbose=0)
model.export(folder)
loaded = tf.saved_model.load(folder)
served, signature = loaded.serve(x), loaded.signatures["serving_default"]
(by_signature,) = signature(tf.constant(x)).values()

np.save(f"{folder}/x.npy", x)
program = f"""
import numpy as np, tensorflow as tf
loaded = tf.saved_model.load({folder!r})
served = loaded.serve(np.load({folder!r} + "/x.npy"))
np.save({folder!r} + "/served.npy", served)
"""
subprocess.run([sys.executable, "-c", program], check=True)
other = np.load(pathlib.Path(folder) / "served.npy")
report(predicted=model.predict(x, verbose=0), served=served, by_signature=by_signature, other=other)
