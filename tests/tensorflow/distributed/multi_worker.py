"""MultiWorkerMirroredStrategy in two processes: a loop of the program's own, and `fit` of Keras 2; Keras 3 does not support the strategy."""
# processes: worker worker

import tensorflow as tf
import workload
from report import report

strategy = tf.distribute.MultiWorkerMirroredStrategy()
losses, weights = workload.train(strategy)
fitted = workload.fit(strategy)[0] if workload.HAS_KERAS_2 else []
report(losses=losses, weights=weights, fitted=fitted)
