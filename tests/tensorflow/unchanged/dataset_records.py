"""TFRecord files that are interleaved and parsed, then `fit` on windows of a series."""

import pathlib
import tempfile

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
folder = pathlib.Path(tempfile.mkdtemp())
for shard in range(3):
    with tf.io.TFRecordWriter(str(folder / f"{shard}.tfrecord")) as writer:
        for row in np.random.normal(size=(32, 4)).astype("float32"):
            feature = {
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=row)),
                "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(row[0] > 0)])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())

parsed = {"x": tf.io.FixedLenFeature([4], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64)}
files = tf.data.Dataset.list_files(str(folder / "*.tfrecord"), shuffle=False)
data = files.interleave(tf.data.TFRecordDataset, cycle_length=3).batch(16)
data = data.map(lambda it: tf.io.parse_example(it, parsed)).map(lambda it: (it["x"], it["y"])).prefetch(2)
# With an unknown number of batches TensorFlow may count the call that finds the end as a step, also on the CPU.
data = data.apply(tf.data.experimental.assert_cardinality(6))
model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
model.compile("adam", tf.keras.losses.BinaryCrossentropy(from_logits=True))
records = model.fit(data, epochs=2, verbose=0).history["loss"]

series = np.sin(np.arange(200) / 7).astype("float32")
windows = tf.keras.utils.timeseries_dataset_from_array(series[:-5], series[5:], sequence_length=5, batch_size=32)
forecast = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(1)])
forecast.compile("sgd", "mse")
report(records=records, forecast=forecast.fit(windows, epochs=2, verbose=0).history["loss"])
