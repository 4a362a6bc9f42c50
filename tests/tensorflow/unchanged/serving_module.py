"""A tf.Module that is served: signatures with names, a table of words, variables that a call changes, a function in it that
the program compiles by XLA."""

import tempfile

import tensorflow as tf
from report import report


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        keys = tf.lookup.KeyValueTensorInitializer(["red", "green", "blue"], tf.constant([0, 1, 2], tf.int64))
        self.table = tf.lookup.StaticHashTable(keys, default_value=3)
        self.weights = tf.Variable(tf.random.stateless_normal([4, 5], [1, 2]))
        self.count = tf.Variable(0, dtype=tf.int64)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="words")])
    def score(self, words):
        self.count.assign_add(1)
        return {"scores": self.dense(tf.one_hot(self.table.lookup(words), 4)), "count": self.count.read_value()}

    @tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None, 4], tf.float32)])
    def dense(self, x):
        return tf.nn.softmax(tf.matmul(x, self.weights) * 2.0)


folder = tempfile.mkdtemp()
model = Model()
words = tf.constant(["blue", "red", "black"])
direct = model.score(words)
tf.saved_model.save(model, folder, signatures={"serving_default": model.score, "dense": model.dense})
loaded = tf.saved_model.load(folder)
served = loaded.signatures["serving_default"](words=words)
dense = loaded.signatures["dense"](tf.eye(4))
report(direct=direct, served=served, dense=dense, called=loaded.dense(tf.eye(4)), again=loaded.score(words))
