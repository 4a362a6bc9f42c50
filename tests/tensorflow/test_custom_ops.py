"""Ops that a plugin defines: the scaffold's, through its Python package, and those of tests/examples/custom_ops.rs."""

import json
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE, RELEASE, example, run_program

myaccel = pytest.importorskip("myaccel", reason="the installed plugin was written without `--with ops`")

VALUE = np.array([[1.0, -1.0, 0.5], [3.0, -4.0, 2.0]], np.float32)
BIAS = np.array([1.0, 2.0, -3.0], np.float32)
EXPECTED = np.maximum(VALUE + BIAS, 0)


@pytest.fixture
def on_device(calls):
    """Places ops on the device, without soft placement, and checks that the plugin's kernel ran."""
    before = calls()["FusedBiasRelu"]
    tf.config.set_soft_device_placement(False)
    with tf.device(f"/device:{DEVICE}:0"):
        yield
    tf.config.set_soft_device_placement(True)
    assert calls()["FusedBiasRelu"] > before


def test_function_is_named_and_documented():
    function = myaccel.ops.fused_bias_relu
    assert function.__name__ == "fused_bias_relu"
    assert function.__doc__.startswith("Adds `bias` to the last dimension")


def test_tensorflow_does_not_import_the_folder_of_the_package_as_python(scaffold):
    # TensorFlow 2.21 imports `python.runfiles` if it exists, which in the plugin's folder would import the package too early.
    program = "import tensorflow, sys; sys.exit('python' in sys.modules or 'myaccel' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=scaffold, timeout=300).returncode == 0


def test_op_computes_eagerly_and_in_functions(on_device):
    fused = myaccel.ops.fused_bias_relu
    np.testing.assert_array_equal(fused(tf.constant(VALUE), tf.constant(BIAS)), EXPECTED)
    np.testing.assert_array_equal(tf.function(fused)(tf.constant(VALUE), tf.constant(BIAS)), EXPECTED)
    # Arguments are converted to tensors, also by keyword.
    np.testing.assert_array_equal(fused(value=VALUE, bias=BIAS.tolist()), EXPECTED)


def test_gradients_are_those_of_the_ops_that_it_fuses(on_device):
    def gradients(function):
        value, bias = tf.constant(VALUE), tf.constant(BIAS)
        with tf.GradientTape() as tape:
            tape.watch([value, bias])
            result = function(value, bias)
        return tape.gradient(result, [value, bias], output_gradients=tf.constant(VALUE))

    expected = gradients(lambda value, bias: tf.nn.relu(tf.nn.bias_add(value, bias)))
    for function in [myaccel.ops.fused_bias_relu, tf.function(myaccel.ops.fused_bias_relu)]:
        for found, gradient in zip(gradients(function), expected):
            np.testing.assert_allclose(found, gradient)


def traced(value, bias):
    """Returns the shape that a trace infers."""
    function = tf.function(myaccel.ops.fused_bias_relu)
    specs = [tf.TensorSpec(shape, tf.float32) for shape in (value, bias)]
    return function.get_concrete_function(*specs).structured_outputs.shape.as_list()


def test_tracing_infers_shapes():
    assert traced([None, 3], [3]) == [None, 3]
    unknown = tf.function(myaccel.ops.fused_bias_relu).get_concrete_function(
        tf.TensorSpec(None, tf.float32), tf.TensorSpec(None, tf.float32)
    )
    assert unknown.structured_outputs.shape.rank is None
    # From 2.10 on a shape function has the shapes of all inputs.
    assert traced([None, None], [3]) == [None, 3 if RELEASE >= (2, 10) else None]


def test_tracing_rejects_wrong_shapes():
    with pytest.raises(ValueError, match=r"shape \[\] has rank 0, expected at least 1"):
        traced([], [3])
    if RELEASE >= (2, 10):
        with pytest.raises(ValueError, match="dimensions must be equal, but are 4 and 3"):
            traced([2, 4], [3])


def test_eager_call_rejects_wrong_shapes():
    with tf.device(f"/device:{DEVICE}:0"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="dimensions must be equal, but are 3 and 2"):
            myaccel.ops.fused_bias_relu(VALUE, BIAS[:2])
        with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
            myaccel.ops.fused_bias_relu(VALUE.astype(np.int32), BIAS.astype(np.int32))


def test_op_that_is_not_registered_raises_an_error_when_called():
    from myaccel.op_functions import op_function

    function = op_function("OpOfNoPlugin", "No op.")
    with pytest.raises(tf.errors.NotFoundError, match="OpOfNoPlugin is not registered in TensorFlow"):
        function(VALUE)


SESSION = """
import json, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf
from tensorflow.python.framework import load_library
load_library.load_pluggable_device_library(LIBRARY)
from myaccel.op_functions import op_function
bitcast = op_function("TutorialBitcast", "")
offset_all = op_function("OffsetAll", "")
shape_kinds = op_function("ShapeKinds", "")
panics = op_function("PanicsInShapes", "")
answers = {}

def shapes(function, *specs):
    traced = tf.function(function).get_concrete_function(*specs)
    return [str(it.shape) for it in tf.nest.flatten(traced.structured_outputs)]

def error(function, *arguments):
    try:
        function(*arguments)
    except Exception as found:
        return f"{type(found).__name__}: {found}"

spec = lambda *dims: tf.TensorSpec(dims, tf.float32)
answers["smaller"] = shapes(lambda x: bitcast(x, type=tf.uint8), spec(None, 2))
answers["larger"] = shapes(lambda x: bitcast(x, type=tf.int64), spec(None, 2))
answers["no multiple"] = error(shapes, lambda x: bitcast(x, type=tf.int64), spec(None, 3))
answers["list"] = shapes(lambda o, x, y: offset_all(o, [x, y]), spec(), spec(2), spec(None, 3))
answers["kinds"] = shapes(shape_kinds, spec(2, 3), spec(None))
answers["panic"] = error(shapes, panics, spec(2))
with tf.device("/device:CUSTOM_OPS:0"):
    x = tf.constant([[1.0, -2.0]])
    for name, run in [("eager", lambda f: f), ("function", tf.function)]:
        bits = run(lambda x: bitcast(x, type=tf.int32))(x)
        answers[name + " bits"] = bits.numpy().tolist()
        answers[name + " wide"] = run(lambda x: bitcast(x, type=tf.int64))(x).numpy().tolist()
        results, count = run(lambda x: offset_all(tf.constant(1.0), [x, x + 1.0]))(x)
        answers[name + " list"] = [[it.numpy().tolist() for it in results], int(count)]
# Outputs in memory of the plugin: pages that are unmapped when they are freed.
mapped_range, mapped_blocks = op_function("MappedRange", ""), op_function("MappedBlocks", "")
@tf.function
def mapped(limit, first):
    values, rest = mapped_range(limit, first)
    with tf.control_dependencies([values, rest]):
        blocks = mapped_blocks(values)
    return [tf.reduce_sum(values), tf.reduce_sum(rest), *blocks]
numbers = lambda *values: [tf.constant(value, tf.int64) for value in values]
with tf.device("/device:CUSTOM_OPS:0"):
    answers["mapped"] = [it.numpy().item() for it in mapped(*numbers(1000, 3))]
    answers["sums"] = [int(mapped(*numbers(limit, 0))[0]) for limit in range(200)]
    answers["eager"] = [[int(tf.reduce_sum(it)) for it in mapped_range(*numbers(limit, 1))] for limit in range(50)]
    answers["after"] = [it.numpy().item() for it in mapped_blocks(*numbers([0]))]
# The type's name has an underscore.
answers["devices"] = [[device.name for device in tf.config.list_physical_devices("CUSTOM_OPS")]]
for name in ("CUSTOM_OPS:0", "/custom_ops:0", "/device:CUSTOM_OPS:0"):
    with tf.device(name):
        answers["devices"].append(tf.nn.relu(tf.constant([-1.0, 2.0])).device[-12:])
from tensorflow.python.framework import op_def_registry
definition = op_def_registry.get("SumOfBoth")
answers["properties"] = [definition.is_commutative, definition.is_aggregate, definition.is_stateful, definition.allows_uninitialized_input]
answers["deprecation"] = [definition.deprecation.version, definition.deprecation.explanation]
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def answers():
    run = run_program(SESSION, LIBRARY=example("custom_ops"))
    if "visible_device_list" in run.stderr:
        pytest.skip("this release supports one plugin only, and another is installed")
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.skipif(RELEASE < (2, 10), reason="shape functions have the first shape only")
def test_shapes_of_every_kind_are_inferred(answers):
    assert answers["smaller"] == ["(None, 2, 4)"]
    assert answers["larger"] == ["(None,)"]
    assert "the dimension must be 2, but is 3" in answers["no multiple"]
    assert answers["list"] == ["(2,)", "(None, 3)", "()"]
    assert answers["kinds"] == ["(6,)", "(None, None)", "(7, None, 2)", "<unknown>", "(None,)"]


def test_tensorflow_has_the_properties_of_an_op(answers):
    assert answers["properties"] == [True] * 4
    assert answers["deprecation"] == [99_999, "use AddV2"]


def test_panic_in_a_shape_function_is_an_error(answers):
    assert "panic in a shape function: assertion" in answers["panic"]


@pytest.mark.parametrize("mode", ["eager", "function"])
def test_bitcast_and_lists_compute(answers, mode):
    values = np.array([[1.0, -2.0]], np.float32)
    assert answers[f"{mode} bits"] == values.view(np.int32).tolist()
    assert answers[f"{mode} wide"] == values.view(np.int64)[:, 0].tolist()
    assert answers[f"{mode} list"] == [[(values + 1).tolist(), (values + 2).tolist()], 2]


def test_device_type_with_an_underscore_is_named_in_capital_and_small_letters(answers):
    assert answers["devices"] == [["/physical_device:CUSTOM_OPS:0"], *["CUSTOM_OPS:0"] * 3]


def test_outputs_in_memory_of_the_plugin_are_freed_once_after_the_last_use(answers):
    # While the first output is used, its block exists. The second output is not aligned, so that TensorFlow has copied it.
    assert answers["mapped"] == [499_500, 499_497, 1, 1, True]
    sums = [limit * (limit - 1) // 2 for limit in range(200)]
    assert answers["sums"] == sums
    assert answers["eager"] == [[value, value] for value in sums[:50]]
    # Two blocks of each call.
    assert answers["after"] == [0, 2 * (1 + 200 + 50), True]
