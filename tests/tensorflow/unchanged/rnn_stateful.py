"""SimpleRNN with a state across batches, a cell of the program's own, stacked cells, and a ConvLSTM."""

import numpy as np
import tensorflow as tf
from report import report

layers = tf.keras.layers


class Leaky(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.state_size = self.output_size = units
        self.dense = layers.Dense(units)

    def call(self, x, states):
        state = 0.9 * states[0] + 0.1 * tf.tanh(self.dense(tf.concat([x, states[0]], 1)))
        return state, [state]


tf.keras.utils.set_random_seed(1)
x = np.random.normal(size=(8, 6, 3)).astype("float32")
inputs = tf.keras.Input(batch_shape=(8, 6, 3))
rnn = layers.SimpleRNN(5, stateful=True)
model = tf.keras.Model(inputs, layers.Dense(2)(rnn(inputs)))
model.compile("sgd", "mse")
losses = [model.train_on_batch(x, x[:, 0, :2]) for _ in range(3)]
first, second = model.predict(x, batch_size=8, verbose=0), model.predict(x, batch_size=8, verbose=0)
own = layers.RNN(Leaky(4))(x)
stacked = layers.RNN([layers.LSTMCell(4), layers.GRUCell(3)], return_sequences=True)(x)
images = np.random.normal(size=(2, 3, 5, 5, 1)).astype("float32")
convolved = layers.ConvLSTM2D(2, 3, padding="same")(images)
report(losses=losses, first=first, second=second, own=own, stacked=stacked, convolved=convolved)
