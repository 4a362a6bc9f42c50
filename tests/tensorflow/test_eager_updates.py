"""Ops of variables in eager mode: in 2.19 to 2.21 the library replaces them in Python, in other releases it has kernels."""

import functools
import threading

import numpy as np
import pytest
import tensorflow as tf
from conftest import DEVICE, RELEASE, run_program
from tensorflow.python.ops import gen_resource_variable_ops

pytestmark = pytest.mark.skipif(RELEASE < (2, 15), reason="2.15 is the first release with kernels for updates on every device")


def slices(values, indices):
    return tf.IndexedSlices(tf.constant(values, tf.float32), tf.constant(indices))


CHANGES = {
    "assign_add": lambda v: v.assign_add([1.0, 2.0, 3.0, 4.0]),
    "assign_sub": lambda v: v.assign_sub([1.0, 2.0, 3.0, 4.0]),
    "element": lambda v: v[1].assign(9.0),
    "slice": lambda v: v[1:3].assign([7.0, 8.0]),
    "steps": lambda v: v[::2].assign([7.0, 8.0]),
    "scatter_update": lambda v: v.scatter_update(slices([5.0, 6.0], [0, 3])),
    "scatter_add": lambda v: v.scatter_add(slices([5.0, 6.0, 1.0], [0, 3, 0])),
    "scatter_sub": lambda v: v.scatter_sub(slices([5.0, 6.0, 1.0], [0, 3, 0])),
    "scatter_mul": lambda v: v.scatter_mul(slices([5.0, 6.0, 2.0], [0, 3, 0])),
    "scatter_div": lambda v: v.scatter_div(slices([5.0, 8.0, 2.0], [0, 3, 0])),
    "scatter_min": lambda v: v.scatter_min(slices([5.0, -6.0], [0, 3])),
    "scatter_max": lambda v: v.scatter_max(slices([5.0, -6.0], [0, 3])),
    "scatter_nd_update": lambda v: v.scatter_nd_update([[0], [3]], [5.0, 6.0]),
    "scatter_nd_add": lambda v: v.scatter_nd_add([[0], [3], [0]], [5.0, 6.0, 1.0]),
    "scatter_nd_sub": lambda v: v.scatter_nd_sub([[0], [3], [0]], [5.0, 6.0, 1.0]),
    "scatter_nd_min": lambda v: v.scatter_nd_min([[0], [3]], [5.0, -6.0]),
    "scatter_nd_max": lambda v: v.scatter_nd_max([[0], [3]], [5.0, -6.0]),
}


def changed(device, change):
    with tf.device(device):
        variable = tf.Variable([1.0, 2.0, 3.0, 4.0])
        change(variable)
        change(variable)
        return variable.numpy().tolist()


@pytest.mark.parametrize("name", CHANGES)
def test_change_is_that_of_the_cpu(name):
    found = changed(f"/device:{DEVICE}:0", CHANGES[name])
    np.testing.assert_allclose(found, changed("/CPU:0", CHANGES[name]), rtol=1e-6)


@pytest.mark.parametrize("in_function", [False, True])
@pytest.mark.parametrize("name", ["scatter_mul", "scatter_div"])
@pytest.mark.parametrize("dtype", [tf.int8, tf.uint8, tf.int16, tf.uint16, tf.uint32, tf.int64, tf.uint64, tf.complex64])
def test_scaled_rows_of_each_number_type_are_those_of_the_cpu(dtype, name, in_function):
    results = []
    for device in ["/CPU:0", f"/device:{DEVICE}:0"]:
        with tf.device(device):
            variable = tf.Variable(tf.cast([[4, 8], [6, 2]], dtype))
            rows = tf.IndexedSlices(tf.cast([[2, 4], [3, 2]], dtype), tf.constant([1, 0]))
            change = lambda: getattr(variable, name)(rows)
            (tf.function(change) if in_function else change)()
            results.append(variable.numpy().tolist())
    assert results[1] == results[0]


READS = {
    "gather": lambda v: tf.gather(v, [2, 0, 2]),
    "embedding_lookup": lambda v: tf.nn.embedding_lookup(v, [[1], [3]]),
    "gather_nd": lambda v: v.gather_nd([[2, 1], [0, 0]]),
    "sparse_read": lambda v: v.sparse_read([1]),
}


@pytest.mark.parametrize("name", READS)
def test_read_and_its_gradient_are_those_of_the_cpu(name):
    results = {}
    for device in ["/CPU:0", f"/device:{DEVICE}:0"]:
        with tf.device(device):
            variable = tf.Variable(np.arange(8, dtype=np.float32).reshape(4, 2))
            with tf.GradientTape() as tape:
                read = READS[name](variable)
                total = tf.reduce_sum(read**2)
            gradient = tape.gradient(total, variable)
            results[device] = [read.numpy(), tf.convert_to_tensor(gradient).numpy(), type(gradient)]
    on_cpu, on_device = results.values()
    assert on_cpu[2] is on_device[2]
    np.testing.assert_array_equal(on_device[0], on_cpu[0])
    np.testing.assert_array_equal(on_device[1], on_cpu[1])


COMPLEX_CHANGES = {
    "element": lambda v, x: v[1].assign(x[0]),
    "scatter_update": lambda v, x: v.scatter_update(tf.IndexedSlices(x[:1], [2])),
    "scatter_add": lambda v, x: v.scatter_add(tf.IndexedSlices(x[:1], [2])),
    "scatter_nd_sub": lambda v, x: v.scatter_nd_sub([[1]], x[:1]),
    "scatter_nd_update": lambda v, x: v.scatter_nd_update([[1]], x[:1]),
    "assign_add": lambda v, x: v.assign_add(x),
    "gather": lambda v, x: v.assign(tf.gather(v, [2, 0, 1])),
    "gather_nd": lambda v, x: v[0].assign(v.gather_nd([[2]])[0]),
}


@pytest.mark.parametrize("is_in_function", [False, True])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", COMPLEX_CHANGES)
def test_changes_of_complex_variables(name, dtype, is_in_function):
    x = np.array([1 + 2j, 3 - 1j, -2j], dtype)
    results = []
    for device in ["/CPU:0", f"/device:{DEVICE}:0"]:
        with tf.device(device):
            variable = tf.Variable(2 * x)

            def change():
                COMPLEX_CHANGES[name](variable, tf.constant(x))

            (tf.function(change, autograph=False) if is_in_function else change)()
            results.append(variable.numpy())
    np.testing.assert_allclose(*results, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int16", "uint16", "uint32", "uint64"])
def test_scattered_sums_of_rare_integers(dtype):
    with tf.device(f"/device:{DEVICE}:0"):
        variable = tf.Variable(tf.constant([1, 2, 3], dtype))
        variable.scatter_add(tf.IndexedSlices(tf.constant([5, 6], dtype), [2, 2]))
    assert variable.numpy().tolist() == [1, 2, 14]


def test_op_of_a_graph_is_replaced_in_eager_mode_too():
    with tf.device(f"/device:{DEVICE}:0"):
        table = tf.Variable(tf.reshape(tf.range(8, dtype=tf.float32), [4, 2]))
        read = lambda: tf.gather(table, [1])
        np.testing.assert_array_equal(tf.function(read, autograph=False)(), [[2.0, 3.0]])
        np.testing.assert_array_equal(read(), [[2.0, 3.0]])
        np.testing.assert_array_equal(tf.function(read, autograph=False)(), [[2.0, 3.0]])


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "int64", "uint8"])
def test_updates_of_other_types(dtype):
    with tf.device(f"/device:{DEVICE}:0"):
        variable = tf.Variable(tf.constant([1, 2, 3], dtype))
        variable.assign_add(tf.constant([1, 1, 1], dtype))
        variable.scatter_update(tf.IndexedSlices(tf.constant([7], dtype), tf.constant([1])))
    assert variable.numpy().tolist() == [2, 7, 4]


def test_update_of_other_shape_is_an_error():
    with tf.device(f"/device:{DEVICE}:0"):
        variable = tf.Variable([1.0, 2.0])
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            variable.assign_add([1.0, 2.0, 3.0])
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            variable.scatter_nd_update([[5]], [1.0])
    assert variable.numpy().tolist() == [1.0, 2.0]


def test_function_of_one_update():
    with tf.device(f"/device:{DEVICE}:0"):
        variable = tf.Variable(1.0)

    @tf.function
    def increase():
        variable.assign_add(1.0)

    increase()
    increase()
    assert variable.numpy() == 3.0


def test_sparse_gradients_train_in_eager_mode():
    losses = {}
    for device in ["/CPU:0", f"/device:{DEVICE}:0"]:
        with tf.device(device):
            tf.keras.utils.set_random_seed(1)
            model = tf.keras.Sequential([tf.keras.layers.Embedding(10, 4), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
            model.compile("adam", "mse", run_eagerly=True)
            ids, targets = np.arange(16).reshape(8, 2) % 10, np.ones((8, 1), np.float32)
            losses[device] = [model.train_on_batch(ids, targets) for _ in range(4)]
    on_cpu, on_device = losses.values()
    np.testing.assert_allclose(on_device, on_cpu, rtol=1e-5)


def test_updates_of_several_threads_are_all_there():
    with tf.device(f"/device:{DEVICE}:0"):
        variable = tf.Variable(np.zeros(4, np.float32))

    def run():
        for _ in range(50):
            variable.scatter_nd_add([[1]], [1.0])

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert variable.numpy().tolist() == [0.0, 200.0, 0.0, 0.0]


PROGRAM = """
import tensorflow as tf
v = tf.Variable([1.0, 2.0, 3.0])
v.assign_add([1.0, 1.0, 1.0]); v.assign_sub([0.5, 0.5, 0.5])
v[0].assign(9.0)
v.scatter_add(tf.IndexedSlices([1.0], [2]))
@tf.function
def increase():
    v.assign_add([1.0, 1.0, 1.0])
increase()
print(v.numpy().tolist(), tf.gather(v, [1]).numpy().tolist(), v.device.split(":")[-2])
"""


@pytest.mark.parametrize("modes", [("opaque", "inline"), ("host", "async"), ("opaque", "async")])
def test_updates_on_memory_that_the_host_cannot_change(modes):
    memory, streams = modes
    finished = run_program(PROGRAM, {"SP_CPU_MEMORY": memory, "SP_CPU_STREAMS": streams})
    assert finished.stdout == f"[10.0, 3.5, 5.5] [3.5] {DEVICE}\n", finished.stdout + finished.stderr


CHANGES_OF_UNUSUAL_KIND = """
import resource
import tensorflow as tf

def kibibytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

variable = tf.Variable(tf.zeros([250_000]))
ones = tf.ones([250_000])
variable.assign_add(ones)
with tf.GradientTape():
    before = kibibytes()
    for _ in range(200):
        variable.assign_add(ones)
    print("grows" if kibibytes() - before > 100_000 else "does not grow")
counter = tf.Variable(1.0)
tf.function(lambda: counter.assign_add(1.0))()
print(counter.assign_add(1.0).numpy())
small = tf.Variable(tf.constant([5, 6, 250], tf.uint8))
small.assign_sub([1, 2, 3])
print(small.numpy().tolist())
tf.config.experimental.set_synchronous_execution(False)
number = tf.Variable(tf.constant([1, 2, 3], tf.int64))
number.assign_add([1, 1, 1])
print(number.numpy().tolist())
"""


def test_updates_under_a_tape_of_unsigned_numbers_and_without_synchronous_execution():
    # Memory that is freed returns to the system at once: fragments of glibc's heap do not count.
    finished = run_program(CHANGES_OF_UNUSUAL_KIND, {"SP_CPU_MEMORY": "opaque", "MALLOC_MMAP_THRESHOLD_": "65536"})
    assert finished.stdout.splitlines() == ["does not grow", "3.0", "[4, 4, 247]", "[2, 3, 4]"], finished.stdout + finished.stderr


@pytest.mark.skipif(not (2, 19) <= RELEASE <= (2, 21), reason="kernels of a plugin can use variables")
def test_function_of_a_sum_that_core_computes_is_tensorflows_own():
    with tf.device(f"/device:{DEVICE}:0"):
        tf.Variable([1.0]).assign_add([2.0])
    assert not isinstance(gen_resource_variable_ops.assign_add_variable_op, functools.partial)
