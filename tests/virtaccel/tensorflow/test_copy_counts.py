"""Copies between host and device that the driver makes directly, since the host's memory is its own, and others.

TensorFlow takes the plugin's host memory for the constants of graphs only; codegen/docs/tensorflow.md has a row of it. Staged kernels of
the SDK copy through it too.
"""

import os

import pytest
from test_virtaccel import DRIVER, run

DIRECT = os.environ.get("SP_VACCEL_DIRECT")
pytestmark = pytest.mark.skipif(not DIRECT, reason="SP_VACCEL_DIRECT is not set: `in_tensorflow` builds that plugin for this file")

COUNTS = f"""
import ctypes
class Counts(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t)] + [
        (name, ctypes.c_uint64) for name in ("direct", "direct_bytes", "bounced", "bounced_bytes")
    ]
driver = ctypes.CDLL({DRIVER!r})
def counts():
    # Host functions and copies of other queues have run too.
    device = ctypes.c_void_p()
    assert driver.va_device_open(0, ctypes.byref(device)) == 0
    assert driver.va_device_synchronize(device) == 0
    assert driver.va_device_close(device) == 0
    found = Counts(ctypes.sizeof(Counts))
    assert driver.va_get_copy_counts(ctypes.byref(found)) == 0
    return found
def copies_of(f):
    before = counts()
    result = f()
    after = counts()
    return result, [after.direct - before.direct, after.bounced - before.bounced]
"""

PROGRAM = COUNTS + """
x = np.random.default_rng(1).normal(size=(500, 100)).astype(np.float32)
w = np.random.default_rng(2).normal(size=(100, 7)).astype(np.float32)
def product_with_constant(x):
    return tf.nn.relu(tf.matmul(x, tf.constant(w)))
def mixed(x):
    return tf.reduce_sum(tf.tanh(x) + x, axis=0)
answers, results = {}, []
def count(name, f):
    result, answers[name] = copies_of(f)
    return result
def check(name, found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4, err_msg=name)
expected = [f(tf.constant(x)).numpy() for f in (product_with_constant, mixed)]
with tf.device("/device:VACCEL:0"):
    tensor = count("eager constant", lambda: tf.identity(tf.constant(x)))
    check("constant", count("numpy()", lambda: tf.nn.relu(tensor).numpy()), np.maximum(x, 0))
    variable = count("variable", lambda: tf.Variable(x))
    count("assign", lambda: variable.assign(x + 1))
    check("variable", count("read", lambda: variable.numpy()), x + 1)
    function = tf.function(product_with_constant)
    check("graph", count("graph constant", lambda: function(tensor)).numpy(), expected[0])
    check("staged", count("staged", lambda: mixed(tensor)).numpy(), expected[1])
with tf.Graph().as_default(), tf.device("/device:VACCEL:0"):
    fed = tf.compat.v1.placeholder(tf.float32, x.shape)
    y = tf.nn.relu(fed)
    with tf.compat.v1.Session() as session:
        check("session", count("feed and fetch", lambda: session.run(y, {fed: x})), np.maximum(x, 0))
print(json.dumps(answers))
"""


def test_constants_of_graphs_and_staged_kernels_have_no_bounce_copy():
    answers, _ = run(PROGRAM, DIRECT)
    for name in ("graph constant", "staged"):
        direct, bounced = answers[name]
        assert direct > 0 and bounced == 0, (name, answers)
    # TensorFlow copies these from and to memory of its own.
    for name in ("eager constant", "numpy()", "variable", "assign", "read"):
        assert answers[name] == [0, 1], (name, answers)
    assert answers["feed and fetch"] == [0, 2], answers


def test_plugin_without_host_memory_of_the_driver_has_bounce_copies_only():
    answers, _ = run(PROGRAM)
    assert all(direct == 0 for direct, _ in answers.values()), answers
    assert answers["graph constant"][1] > 0 and answers["staged"][1] > 0, answers
