"""A trained model and a function with a variable, converted to TensorFlow Lite and run by its interpreter."""
# releases: 2.21 and later

import numpy as np
import tensorflow as tf
from report import report

tf.keras.utils.set_random_seed(1)
x = np.random.normal(size=(32, 8)).astype("float32")
model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(6, activation="relu"), tf.keras.layers.Dense(2)])
model.compile("adam", "mse")
losses = model.fit(x, x[:, :2], batch_size=8, epochs=2, verbose=0).history["loss"]


class Scaled(tf.Module):
    def __init__(self):
        self.scale = tf.Variable(tf.range(8.0))

    @tf.function(input_signature=[tf.TensorSpec([4, 8], tf.float32)])
    def __call__(self, x):
        return tf.nn.softmax(x * self.scale)


def run(content, x):
    interpreter = tf.lite.Interpreter(model_content=content)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


scaled = Scaled()
of_model = tf.lite.TFLiteConverter.from_keras_model(model)
of_model.optimizations = [tf.lite.Optimize.DEFAULT]
of_function = tf.lite.TFLiteConverter.from_concrete_functions([scaled.__call__.get_concrete_function()], scaled)
converted = [it.convert() for it in (of_model, of_function)]
report(losses=losses, model=run(converted[0], x[:1]), function=run(converted[1], x[:4]), predicted=model.predict(x, verbose=0), scaled=scaled(x[:4]))
