"""TensorFlow Recommenders: a two-tower retrieval model, trained, evaluated with FactorizedTopK, and its BruteForce index."""
# packages: tensorflow_recommenders, tf_keras

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tensorflow_recommenders as tfrs
from report import report

tf.keras.utils.set_random_seed(1)
users = [f"user{it}" for it in range(12)]
films = [f"film{it}" for it in range(20)]
draws = np.random.RandomState(0)
ratings = tf.data.Dataset.from_tensor_slices({"user": draws.choice(users, 120), "film": draws.choice(films, 120)})
candidates = tf.data.Dataset.from_tensor_slices(films)


def tower(names):
    return tf.keras.Sequential([tf.keras.layers.StringLookup(vocabulary=names, mask_token=None), tf.keras.layers.Embedding(len(names) + 1, 8)])


class Retrieval(tfrs.Model):
    def __init__(self):
        super().__init__()
        self.user, self.film = tower(users), tower(films)
        # Without ids the metric compares a sum with a product of matrices, and their rounding decides.
        known = candidates.batch(10).map(lambda it: (it, self.film(it)))
        self.task = tfrs.tasks.Retrieval(metrics=tfrs.metrics.FactorizedTopK(candidates=known, ks=(1, 5)))

    def compute_loss(self, features, training=False):
        user, film = self.user(features["user"]), self.film(features["film"])
        return self.task(user, film, candidate_ids=features["film"], compute_metrics=not training)


model = Retrieval()
model.compile(optimizer=tf.keras.optimizers.Adagrad(0.5))
history = model.fit(ratings.batch(40), epochs=3, verbose=0)
scores = model.evaluate(ratings.batch(40), return_dict=True, verbose=0)
index = tfrs.layers.factorized_top_k.BruteForce(model.user, k=4)
index.index_from_dataset(tf.data.Dataset.zip((candidates.batch(10), candidates.batch(10).map(model.film))))
values, names = index(tf.constant(["user3", "user7"]))
report(history=history.history, scores=scores, values=values, names=names)
