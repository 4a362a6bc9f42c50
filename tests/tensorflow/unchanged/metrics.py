"""Metrics: classification, regression, ranking, segmentation; in a loop and in `evaluate`."""
# rtol: 1e-4

import numpy as np
import tensorflow as tf
from report import report

m = tf.keras.metrics
random = np.random.RandomState(1)
labels, scores = random.randint(0, 2, size=(40,)), random.uniform(size=(40,)).astype("float32")
kinds, logits = random.randint(0, 4, size=(40,)), random.uniform(size=(40, 4)).astype("float32")
BINARY = [m.AUC(), m.AUC(curve="PR", num_thresholds=20), m.Precision(), m.Recall(thresholds=[0.3, 0.6]), m.BinaryAccuracy()]
BINARY += [m.TruePositives(), m.FalseNegatives(), m.SensitivityAtSpecificity(0.5), m.PrecisionAtRecall(0.5), m.BinaryCrossentropy()]
REGRESSION = [m.MeanSquaredError(), m.MeanAbsoluteError(), m.RootMeanSquaredError(), m.CosineSimilarity(axis=0), m.LogCoshError()]
KINDS = [m.SparseCategoricalAccuracy(), m.SparseTopKCategoricalAccuracy(2), m.SparseCategoricalCrossentropy(from_logits=True)]
AREAS = [m.MeanIoU(num_classes=4), m.IoU(num_classes=4, target_class_ids=[1, 2]), m.OneHotMeanIoU(num_classes=4)]
results = []


def add(metric, truth, predicted, **options):
    metric.update_state(truth[:25], predicted[:25], **options)
    metric.update_state(truth[25:], predicted[25:])
    results.append(metric.result())


for metric in BINARY + REGRESSION:
    add(metric, labels, scores)
for metric in KINDS:
    add(metric, kinds, logits)
for metric in AREAS[:2]:
    add(metric, kinds, logits.argmax(1))
add(AREAS[2], np.eye(4, dtype="float32")[kinds], logits)
tf.keras.utils.set_random_seed(1)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("sgd", "binary_crossentropy", metrics=["AUC", m.Precision(), m.Recall()], weighted_metrics=["accuracy"])
evaluated = model.evaluate(logits, labels[:, None], sample_weight=scores, verbose=0)
report(results=results, evaluated=evaluated)
