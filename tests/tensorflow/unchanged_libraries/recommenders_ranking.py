"""TensorFlow Recommenders: a ranking model with a Cross layer and DotInteraction, `fit` and `evaluate`."""
# packages: tensorflow_recommenders, tf_keras

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tensorflow_recommenders as tfrs
from report import report

tf.keras.utils.set_random_seed(1)
draws = np.random.RandomState(0)
features = {"user": draws.randint(0, 12, 128), "film": draws.randint(0, 20, 128), "rating": draws.randint(1, 6, 128).astype("float32")}
data = tf.data.Dataset.from_tensor_slices(features).batch(32)


class Ranking(tfrs.Model):
    def __init__(self):
        super().__init__()
        self.user, self.film = tf.keras.layers.Embedding(12, 8), tf.keras.layers.Embedding(20, 8)
        self.cross = tfrs.layers.dcn.Cross()
        self.interaction = tfrs.layers.feature_interaction.DotInteraction()
        self.head = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
        self.task = tfrs.tasks.Ranking(loss=tf.keras.losses.MeanSquaredError(), metrics=[tf.keras.metrics.RootMeanSquaredError()])

    def call(self, inputs):
        user, film = self.user(inputs["user"]), self.film(inputs["film"])
        return self.head(tf.concat([self.cross(tf.concat([user, film], 1)), self.interaction([user, film])], 1))

    def compute_loss(self, inputs, training=False):
        return self.task(labels=inputs["rating"][:, None], predictions=self(inputs))


model = Ranking()
model.compile(optimizer=tf.keras.optimizers.Adam(0.01))
history = model.fit(data, epochs=3, verbose=0)
scores = model.evaluate(data, return_dict=True, verbose=0)
report(history=history.history, scores=scores, predicted=model({"user": tf.constant([1, 2]), "film": tf.constant([3, 4])}))
