"""Each loss of Keras with its gradient, weights and reductions."""
# rtol: 1e-4

import numpy as np
import tensorflow as tf
from report import report

losses = tf.keras.losses
random = np.random.RandomState(1)
truth, predicted = random.uniform(0.1, 1, size=(8, 3)).astype("float32"), random.uniform(0.1, 0.9, size=(8, 3)).astype("float32")
kinds = random.randint(0, 3, size=(8,))
one_hot = np.eye(3, dtype="float32")[kinds]
signs = np.sign(truth - 0.5)
CASES = {
    "MeanSquaredError": truth, "MeanAbsoluteError": truth, "MeanAbsolutePercentageError": truth,
    "MeanSquaredLogarithmicError": truth, "CosineSimilarity": truth, "KLDivergence": truth, "Poisson": truth, "LogCosh": truth,
    "Huber": truth, "Hinge": signs, "SquaredHinge": signs, "CategoricalHinge": one_hot, "BinaryCrossentropy": one_hot,
    "BinaryFocalCrossentropy": one_hot, "CategoricalCrossentropy": one_hot, "SparseCategoricalCrossentropy": kinds,
}
weights = tf.constant(random.uniform(size=(8,)).astype("float32"))
results = {}
for name, y in CASES.items():
    loss = getattr(losses, name)()
    with tf.GradientTape() as tape:
        x = tf.constant(predicted)
        tape.watch(x)
        value = loss(y, x, sample_weight=weights)
    results[name] = [value, tape.gradient(value, x), tf.function(loss)(tf.constant(y), tf.constant(predicted))]
smooth = losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1, reduction="none")(one_hot, predicted)
report(**results, smooth=smooth)
