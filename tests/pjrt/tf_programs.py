"""The programs of TensorFlow that the probe's host runs on its next pluggable device. Every tensor is of three numbers."""

DEVICE = "/device:PROBE:0"


def devices(tf):
    assert tf.config.list_physical_devices("PROBE"), "no device of the type PROBE is listed"
    assert tf.config.list_logical_devices("PROBE")


def constant(tf):
    with tf.device(DEVICE):
        tensor = tf.constant([1.0, 2.0, 3.0])
    assert tensor.device.endswith(DEVICE), tensor.device


def copies(tf):
    with tf.device(DEVICE):
        tensor = tf.identity(tf.constant([1.0, 2.0, 3.0]))
    tensor.numpy()


def eager_op(tf):
    with tf.device(DEVICE):
        result = tf.add(tf.constant([1.0, 2.0, 3.0]), tf.constant([1.0, 2.0, 3.0]))
    assert result.device.endswith(DEVICE), f"the op ran on {result.device}"
    result.numpy()


def function(tf):
    with tf.device(DEVICE):
        tf.function(lambda x: x * x + x)(tf.constant([1.0, 2.0, 3.0])).numpy()


def compiled_function(tf):
    with tf.device(DEVICE):
        tf.function(lambda x: x * x + x, jit_compile=True)(tf.constant([1.0, 2.0, 3.0])).numpy()


def variable(tf):
    with tf.device(DEVICE):
        value = tf.Variable([1.0, 2.0, 3.0])
        value.assign_add([1.0, 2.0, 3.0])
    value.numpy()


def several_devices(tf):
    with tf.device(DEVICE):
        tensor = tf.constant([1.0, 2.0, 3.0])
    with tf.device("/device:PROBE:1"):
        tf.identity(tensor).numpy()


PROGRAMS = {f.__name__: f for f in [devices, constant, copies, eager_op, function, compiled_function, variable, several_devices]}
