"""A plugin over OpenCL in TensorFlow: numbers of its kernels, training, and a machine without OpenCL.

`tests/opencl/in_tensorflow PYTHON` builds the plugin and runs this file. Each program runs in a process of its own, since the
list of devices is read once.
"""

import json
import operator
import os
import subprocess
import sys

import pytest

PLUGIN = os.environ["SP_OPENCL"]

HEAD = """
import json, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import load_library
load_library.load_pluggable_device_library(os.environ["SP_OPENCL"])
DEVICES = ["/CPU:0", "/device:CLPLUGIN:0"]
random = np.random.default_rng(1)
def normal(*dims):
    return random.normal(size=dims).astype(np.float32)
def compare(name, function, *inputs, tolerance=1e-5):
    results = []
    for device in DEVICES:
        with tf.device(device):
            results.append([it.numpy() for it in tf.nest.flatten(function(*map(tf.constant, inputs)))])
    for expected, found in zip(*results):
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance, err_msg=name)
def gradients(function):
    def with_gradients(*inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            result = function(*inputs)
            loss = tf.reduce_sum(result * result)
        return [result, *tape.gradient(loss, inputs)]
    return with_gradients
"""

STAGED = " runs on the host through copies of device memory"


def run(program, **variables):
    """Runs a program that prints one line of JSON; returns its value and the plugin's lines on stderr."""
    environment = {**os.environ, "SP_LOG": "debug", **variables}
    command = [sys.executable, "-c", HEAD + program]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert finished.returncode == 0, finished.stderr[-4000:]
    lines = [line for line in finished.stderr.splitlines() if line.startswith("plugin clplugin: ")]
    return json.loads(finished.stdout.splitlines()[-1]), lines


def staged_ops(lines):
    """Returns the ops that ran on the host."""
    return {line.split()[2] for line in lines if line.endswith(STAGED)}


KERNELS = {
    "elementwise": """
x, y = normal(3, 1, 5, 1), normal(4, 1, 6)
for function in (tf.add, tf.subtract, tf.multiply, tf.divide, tf.maximum, tf.minimum, tf.math.squared_difference):
    compare(function.__name__, function, x, y)
for function in (tf.abs, tf.exp, tf.tanh, tf.sigmoid, tf.nn.relu, tf.nn.elu, tf.nn.softplus, tf.square):
    compare(function.__name__, gradients(function), x)
for function in (tf.sqrt, tf.math.log, tf.math.rsqrt, tf.math.reciprocal):
    compare(function.__name__, function, np.abs(x) + 0.1)
compare("int64", lambda a, b: a * b - a, np.arange(6).reshape(2, 3), np.arange(3))
""",
    "reductions": """
x = normal(4, 5, 6, 7)
for function in (tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_min, tf.reduce_prod):
    for axis in (None, 0, -1, [0, 2], [1, 3], []):
        compare(f"{function.__name__} {axis}", lambda x: function(x, axis=axis), x, tolerance=1e-4)
compare("no elements", lambda x: tf.reduce_sum(x, axis=0), normal(0, 3))
compare("softmax", tf.nn.softmax, normal(9, 70))
compare("log_softmax", tf.nn.log_softmax, normal(9, 70))
labels = random.integers(0, 70, 9)
entropy = tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits
compare("sparse", lambda x, y: entropy(features=x, labels=y), normal(9, 70), labels)
entropy_of_probabilities = tf.raw_ops.SoftmaxCrossEntropyWithLogits
compare("dense", lambda x, y: entropy_of_probabilities(features=x, labels=y), normal(9, 70), np.eye(70, dtype="f")[labels])
""",
    "products": """
for transposed in [(False, False), (True, False), (False, True), (True, True)]:
    a, b = normal(130, 70), normal(70, 129)
    a, b = a.T.copy() if transposed[0] else a, b.T.copy() if transposed[1] else b
    compare(str(transposed), lambda a, b: tf.matmul(a, b, *transposed), a, b, tolerance=1e-4)
compare("no columns", tf.matmul, normal(2, 0), normal(0, 3))
compare("bias", gradients(tf.nn.bias_add), normal(4, 5, 7), normal(7), tolerance=1e-4)
""",
    "images": """
x, filters = normal(2, 9, 8, 6), normal(3, 2, 6, 4)
for padding in ("SAME", "VALID", [[0, 0], [1, 2], [0, 1], [0, 0]]):
    for stride in (1, 2):
        convolution = lambda x, f: tf.nn.conv2d(x, f, stride, padding)
        compare(f"conv2d {padding} {stride}", gradients(convolution), x, filters, tolerance=1e-3)
dilated = lambda x, f: tf.nn.conv2d(x, f, 1, "SAME", dilations=2)
compare("conv2d dilated", dilated, x, filters, tolerance=1e-4)
compare("conv2d in groups", lambda x, f: tf.nn.conv2d(x, f, 1, "SAME"), x, normal(3, 2, 3, 4), tolerance=1e-4)
for pool in (tf.nn.max_pool2d, tf.nn.avg_pool2d):
    for size, stride in ((2, 2), (3, 2), (3, 1)):
        for padding in ("SAME", "VALID"):
            pooled = lambda x: pool(x, size, stride, padding)
            compare(f"{pool.__name__} {size} {stride} {padding}", gradients(pooled), x, tolerance=1e-4)
""",
}


@pytest.mark.parametrize("family", KERNELS)
def test_kernels_compute_as_the_cpu(family):
    _, lines = run(KERNELS[family] + "print(json.dumps(None))")
    own = {"AddV2", "AvgPool", "BiasAdd", "Conv2D", "MatMul", "MaxPool", "Mul", "Relu", "Sum", "Softmax"}
    assert not staged_ops(lines) & own, lines


TRAINING = """
layers = tf.keras.layers
MODELS = {
    "mlp": ((16,), lambda: [layers.Dense(32, activation="relu"), layers.Dense(4)]),
    "cnn": ((12, 12, 3), lambda: [
        layers.Conv2D(8, 3, activation="relu"), layers.MaxPooling2D(2), layers.Conv2D(8, 3, padding="same"),
        layers.AveragePooling2D(2), layers.Flatten(), layers.Dense(4)]),
}
def losses(device, kind, optimizer, weights):
    dims, new_layers = MODELS[kind]
    random = np.random.default_rng(7)
    x, y = random.normal(size=(10, 16, *dims)).astype(np.float32), random.integers(0, 4, (10, 16))
    with tf.device(device):
        model = tf.keras.Sequential([layers.Input(dims), *new_layers()])
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer=tf.keras.optimizers.get(optimizer), loss=loss)
        model.set_weights(weights or model.get_weights())
        weights = model.get_weights()
        curve = []
        for features, labels in zip(x, y):
            model.reset_metrics()
            curve.append(float(model.train_on_batch(features, labels)))
    return curve, weights
"""

USED = {
    "mlp": {"BiasAdd", "BiasAddGrad", "MatMul", "Mul", "Relu", "ReluGrad", "SparseSoftmaxCrossEntropyWithLogits", "Sum"},
    "cnn": {"AvgPool", "AvgPoolGrad", "Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "MaxPool", "MaxPoolGrad"},
}


@pytest.mark.parametrize("kind", USED)
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_trains_as_the_cpu(kind, optimizer):
    program = f"""
expected, weights = losses(DEVICES[0], {kind!r}, {optimizer!r}, None)
found, _ = losses(DEVICES[1], {kind!r}, {optimizer!r}, weights)
import ctypes
count = ctypes.CDLL({PLUGIN!r}).sp_kernel_calls
count.argtypes, count.restype = [ctypes.c_char_p, ctypes.c_size_t], ctypes.c_size_t
text = ctypes.create_string_buffer(count(None, 0) + 1024)
count(text, len(text))
calls = [line.split()[0] for line in text.value.decode().splitlines() if " calls=0" not in line]
print(json.dumps([expected, found, calls]))
"""
    (expected, found, calls), lines = run(TRAINING + program)
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-5)
    assert USED[kind] <= set(calls), calls
    assert not staged_ops(lines) & USED[kind], lines


RATES = """
if tf.__version__.startswith(("2.19.", "2.20.", "2.21.")):
    print(json.dumps(None))
    raise SystemExit
ops = tf.raw_ops
UPDATES = {
    "alpha": lambda v, rate: ops.ResourceApplyGradientDescent(var=v[0], alpha=rate, delta=three),
    "momentum": lambda v, rate: ops.ResourceApplyMomentum(var=v[0], accum=v[1], lr=1.0, grad=three, momentum=rate),
    "beta2": lambda v, rate: ops.ResourceApplyAdam(
        var=v[0], m=v[1], v=v[2], beta1_power=0.5, beta2_power=0.5, lr=1.0, beta1=0.9, beta2=rate, epsilon=1e-7, grad=three),
}
found = {}
with tf.device(DEVICES[1]):
    variables = [tf.Variable([1.0, 2.0, 3.0]) for _ in range(3)]
    three = tf.ones(3)
    for name, update in UPDATES.items():
        messages = []
        for rates in ([], [0.5, 0.5]):
            try:
                update([it.handle for it in variables], tf.constant(rates, tf.float32))
            except tf.errors.InvalidArgumentError as error:
                messages.append(str(error))
        found[name] = messages
    print(json.dumps([found, variables[0].numpy().tolist()]))
"""


def test_rate_that_is_not_a_scalar_is_an_error():
    result, _ = run(RATES)
    if result is None:
        pytest.skip("no plugin can change a variable in this release")
    found, variable = result
    for name, messages in found.items():
        expected = [f"{name} must be a scalar, but has shape {dims}" for dims in ("[0]", "[2]")]
        assert len(messages) == 2 and all(map(operator.contains, messages, expected)), messages
    assert variable == [1.0, 2.0, 3.0]


WITHOUT_DEVICE = """
with tf.device("/CPU:0"):
    value = tf.nn.relu(tf.constant([-1.0, 2.0])).numpy().tolist()
print(json.dumps([[device.name for device in tf.config.list_physical_devices("CLPLUGIN")], value]))
"""


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"CLPLUGIN_DRIVER": "libno_opencl_here.so"}, "libno_opencl_here.so: cannot open shared object file"),
        ({"OCL_ICD_VENDORS": "/no/vendors"}, "clGetPlatformIDs: "),
    ],
)
def test_no_opencl_is_no_device_and_one_line(variables, reason):
    (devices, value), lines = run(WITHOUT_DEVICE, **variables)
    assert devices == [] and value == [0.0, 2.0]
    lines = [line for line in lines if "its devices could not be counted" in line]
    assert len(lines) == 1 and reason in lines[0], lines
