"""OneDeviceStrategy and CentralStorageStrategy."""

import tensorflow as tf
import workload
from report import report

device = "/gpu:0" if tf.config.list_physical_devices("GPU") else "/cpu:0"
one = workload.train(tf.distribute.OneDeviceStrategy(device))
fitted, _ = workload.fit(tf.distribute.OneDeviceStrategy(device))
central = workload.train(tf.distribute.experimental.CentralStorageStrategy())
report(one=one, fitted=fitted, central=central)
