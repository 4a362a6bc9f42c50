"""Computes on the device in the mode that the environment selects, and prints results of the CPU and the device as JSON.

Arguments: the name of a function below. The device is that of the installed plugin, or `SP_DEVICE` of the library `SP_LIBRARY`,
whose scaffold has the module `SP_VARIABLES`.
"""

import importlib.util
import json
import os
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

RELEASE = tuple(map(int, tf.__version__.split(".")[:2]))
DEVICE = os.environ.get("SP_DEVICE", "/device:MYACCEL:0")


def ops(device):
    """Returns the results of some ops, of chains of ops, and of tensors that are freed while the device works."""
    random = np.random.default_rng(5)
    with tf.device(device):
        x, y = [tf.constant(random.normal(size=(37, 41)).astype(np.float32)) for _ in range(2)]
        results = [x + y, x * y, tf.nn.relu(x), tf.matmul(x, y, transpose_b=True), tf.reduce_sum(x, axis=1)]
        results += [tf.nn.relu(tf.nn.relu(x) - y) + tf.cast(tf.cast(x, tf.int32), tf.float32)]
        results += [tf.reshape(tf.zeros([0, 3]) + 1.0, [-1]), tf.identity(x)]
        total = tf.zeros([37, 41])
        for step in range(30):
            total = tf.nn.relu(total + x * float(step % 3) - y)
        results.append(total)
        return [result.numpy().sum(dtype=np.float64).item() for result in results]


def losses(device, optimizer, as_function):
    """Returns the losses of an MLP, with variables that core reads and assigns."""
    random = np.random.default_rng(7)
    features = random.normal(size=(64, 16)).astype(np.float32)
    labels = random.integers(0, 4, 64)
    start = [random.normal(scale=0.3, size=shape).astype(np.float32) for shape in [(16, 32), (32, 4)]]
    with tf.device(device):
        x, y = tf.constant(features), tf.constant(labels)
        weights = [tf.Variable(value) for value in start]
        moments = [[tf.Variable(tf.zeros_like(value)) for value in weights] for _ in range(2)]

        def step(rate):
            with tf.GradientTape() as tape:
                logits = tf.matmul(tf.nn.relu(tf.matmul(x, weights[0])), weights[1])
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
            for index, slope in enumerate(tape.gradient(loss, weights)):
                first, second = moments[0][index], moments[1][index]
                if optimizer != "adam":
                    first.assign((0.9 if optimizer == "momentum" else 0.0) * first + slope)
                    weights[index].assign(weights[index] - rate * first)
                    continue
                first.assign(0.9 * first + 0.1 * slope)
                second.assign(0.99 * second + 0.01 * slope * slope)
                weights[index].assign(weights[index] - rate * first / (tf.sqrt(second) + 1e-3))
            return loss

        run = tf.function(step) if as_function else step
        return [float(run(tf.constant(0.01 if optimizer == "adam" else 0.1))) for _ in range(15)]


OPTIMIZERS = {
    "sgd": lambda: tf.keras.optimizers.SGD(0.1),
    "momentum": lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9),
    "adam": lambda: tf.keras.optimizers.Adam(0.01),
}


RANDOM = np.random.default_rng(7)
FEATURES, LABELS = RANDOM.normal(size=(64, 16)).astype(np.float32), RANDOM.integers(0, 4, 64)
WEIGHTS = [RANDOM.normal(scale=0.3, size=shape).astype(np.float32) for shape in [(16, 32), (32,), (32, 4), (4,)]]


def new_model(optimizer, as_function):
    """Returns a Keras model, whose optimizer uses AssignAdd and AssignSub."""
    tf.config.run_functions_eagerly(not as_function)
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Input((16,)), layers.Dense(32, activation="relu"), layers.Dense(4)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=OPTIMIZERS[optimizer](), loss=loss, run_eagerly=not as_function)
    model.set_weights(WEIGHTS)
    return model


def steps(model, count):
    """Trains a model, and returns its losses and then the sums of its weights."""
    losses = []
    for _ in range(count):
        model.reset_metrics()
        losses.append(float(np.ravel(model.train_on_batch(FEATURES, LABELS))[0]))
    return losses + [float(np.abs(weight).sum()) for weight in model.get_weights()]


def keras(device, optimizer, as_function):
    with tf.device(device):
        return steps(new_model(optimizer, as_function), 10)


def resumed(device, reader, optimizer, as_function):
    """Trains and saves a checkpoint on a device, restores it on the device `reader`, and returns the results of the next steps."""
    with tf.device(device), tempfile.TemporaryDirectory() as folder:
        model = new_model(optimizer, as_function)
        steps(model, 5)
        path = tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(os.path.join(folder, "checkpoint"))
        with tf.device(reader):
            model = new_model(optimizer, as_function)
            model.optimizer.build(model.trainable_variables)
            restored = tf.train.Checkpoint(model=model, optimizer=model.optimizer).restore(path)
            restored.assert_existing_objects_matched()
            return steps(model, 5)


def both(function, *arguments):
    return {"cpu": function("/CPU:0", *arguments), "device": function(DEVICE, *arguments)}


def constants(device):
    """Returns results of new functions. TensorFlow copies their constants into memory of tensors that it has freed, whose kernels
    may not have run yet, without waiting for them."""
    numbers = np.arange(1, 13, dtype=np.float32)
    results = []
    with tf.device(device):
        for _ in range(60):
            x = tf.nn.relu(tf.constant(numbers))
            results.append(tf.function(lambda value: value * 1.5)(x).numpy().tolist())
    return results


def new_functions():
    return both(constants)


def compute():
    return both(ops)


def train():
    return {
        f"{optimizer} {'function' if as_function else 'eager'}": both(losses, optimizer, as_function)
        for optimizer in OPTIMIZERS
        for as_function in [True, False]
    }


def variables_module():
    """Returns the module `variables` of the installed plugin's Python package, or of another scaffold."""
    if "SP_VARIABLES" not in os.environ:
        import myaccel

        return myaccel.variables
    spec = importlib.util.spec_from_file_location("variables", os.environ["SP_VARIABLES"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def train_keras(as_function=True):
    return {optimizer: both(keras, optimizer, as_function) for optimizer in OPTIMIZERS}


def resume_keras(as_function):
    """Returns the results of training that a checkpoint interrupts: on the CPU, on the device, and on both in turn."""
    found = {}
    for optimizer in OPTIMIZERS:
        expected = resumed("/CPU:0", "/CPU:0", optimizer, as_function)
        for path in [(DEVICE, DEVICE), (DEVICE, "/CPU:0"), ("/CPU:0", DEVICE)]:
            found[f"{optimizer} {path}"] = {"cpu": expected, "device": resumed(*path, optimizer, as_function)}
    return found


def peak_memory():
    """Returns the peak of the device's memory after a chain of ops and training, whose tensors are freed while the device works."""
    with tf.device(DEVICE):
        x = tf.ones([1024, 1024])
        for _ in range(20):
            x = tf.nn.relu(x) + 1.0
        x.numpy()
    losses(DEVICE, "adam", True)
    return tf.config.experimental.get_memory_info(DEVICE)["peak"]


def checkpoint():
    """Returns variables of the CPU, and of the device after it has restored them from a checkpoint that it has saved."""
    values = [np.arange(12, dtype=np.float32).reshape(3, 4), np.int64(7), np.array([True, False])]
    with tf.device(DEVICE), tempfile.TemporaryDirectory() as folder:
        variables = [tf.Variable(value) for value in values]
        variables[0].assign(tf.nn.relu(variables[0] - 3.0))
        path = tf.train.Checkpoint(variables=variables).save(os.path.join(folder, "checkpoint"))
        for variable in variables:
            variable.assign(tf.zeros_like(variable))
        tf.train.Checkpoint(variables=variables).restore(path).assert_consumed()
        found = [float(np.sum(variable.numpy())) for variable in variables]
    return {"cpu": [float(np.maximum(values[0] - 3, 0).sum()), 7.0, 1.0], "device": found}


def short():
    """Returns the results of the functions above that the short form of the tests runs."""
    found = {"compute": compute(), "train_keras": train_keras() if RELEASE >= (2, 11) else {}}
    return {**found, "checkpoint": checkpoint()} if RELEASE >= (2, 6) else found


def everything():
    """Returns the results of all functions above. With the argument `replace` updates of variables are replaced in eager mode."""
    found = {"compute": compute()}
    if RELEASE >= (2, 6):
        found["peak_memory"] = peak_memory()
        found.update(train=train(), checkpoint=checkpoint())
    if RELEASE < (2, 11):
        return found
    found.update({"train_keras function": train_keras(True), "resume_keras function": resume_keras(True)})
    if "replace" in sys.argv:
        variables_module().replace_updates()
    return {**found, "train_keras eager": train_keras(False), "resume_keras eager": resume_keras(False)}


def update():
    """Returns the error of each update of a variable by an op that Python does not replace, and the variable's value after them."""
    errors = []
    with tf.device(DEVICE):
        variable = tf.Variable(np.ones([4, 3], np.float32))
        row = tf.constant(np.ones([1, 3], np.float32))
        for change in [
            lambda: tf.raw_ops.AssignAddVariableOp(resource=variable.handle, value=tf.ones([4, 3])),
            lambda: tf.raw_ops.AssignSubVariableOp(resource=variable.handle, value=tf.ones([4, 3])),
            lambda: tf.raw_ops.ResourceGather(resource=variable.handle, indices=[1], dtype=tf.float32),
            lambda: tf.raw_ops.ResourceScatterAdd(resource=variable.handle, indices=[1], updates=row),
            lambda: tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=0.5, delta=tf.ones([4, 3])),
        ]:
            try:
                change()
            except Exception as raised:
                errors.append(f"{type(raised).__name__}: {raised}")
        variable.assign(variable + 1.0)
        return {"errors": errors, "value": float(variable.numpy().sum())}


def copy_between_devices():
    """Copies a tensor from device 0 to device 1 and back, through an op on each."""
    value = np.random.default_rng(1).normal(size=(300, 300)).astype(np.float32)
    with tf.device("/device:MYACCEL:0"):
        first = tf.nn.relu(tf.constant(value))
    with tf.device("/device:MYACCEL:1"):
        second = first + first
    with tf.device("/device:MYACCEL:0"):
        third = second + first
    assert second.device.endswith("MYACCEL:1") and third.device.endswith("MYACCEL:0"), third.device
    return {"cpu": float((np.maximum(value, 0) * 3).sum()), "device": float(third.numpy().sum())}


def fail():
    """Returns the first error of a step whose device fails, and a result of the CPU after that."""
    error = ""
    with tf.device(DEVICE):
        try:
            x = tf.constant(np.ones([4, 4], np.float32))
            for _ in range(200):
                x = tf.nn.relu(x) + 1.0
            x.numpy()
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
    with tf.device("/CPU:0"):
        after = float(tf.reduce_sum(tf.ones([3])))
    return {"error": error, "after": after}


def fail_late():
    """Returns the errors of two reads of a tensor whose computation fails after it was enqueued."""
    errors = []
    with tf.device(DEVICE):
        for _ in range(2):
            try:
                x = tf.constant(np.ones([4, 5], np.float32))
                for _ in range(4):
                    x = tf.nn.relu(x)
                errors.append(str(x.numpy()))
            except Exception as raised:
                errors.append(f"{type(raised).__name__}: {raised}")
    with tf.device("/CPU:0"):
        after = float(tf.reduce_sum(tf.ones([3])))
    return {"errors": errors, "after": after}


def failing_op():
    """Returns the number of the op that raises an error, in a chain whose computation fails."""
    with tf.device(DEVICE):
        x = tf.constant(np.ones([4, 5], np.float32))
        for index in range(4):
            try:
                x = tf.negative(x)
            except tf.errors.OpError as raised:
                return {"index": index, "error": str(raised)}
    return {"index": None, "error": ""}


def run_ahead():
    """Returns the time until ten ops are enqueued, and until they are done, in seconds."""
    with tf.device(DEVICE):
        x = tf.constant(np.ones([64, 64], np.float32))
        tf.nn.relu(x).numpy()
        start = time.monotonic()
        for _ in range(10):
            x = tf.nn.relu(x)
        enqueued = time.monotonic() - start
        x.numpy()
        return {"enqueued": enqueued, "done": time.monotonic() - start}


if __name__ == "__main__":
    if "SP_LIBRARY" in os.environ:
        from tensorflow.python.framework import load_library

        load_library.load_pluggable_device_library(os.environ["SP_LIBRARY"])
    print(json.dumps(globals()[sys.argv[1]]()))
