"""Functions that ask for XLA (`jit_compile=True`) run on the device as ordinary functions, and on the CPU by XLA."""

import functools
import gc
import os
import threading
import traceback

import numpy as np
import pytest
import tensorflow as tf
from conftest import DEVICE, RELEASE, ROOT, run_program
from tensorflow.python.eager import context, execute

pytestmark = pytest.mark.skipif(RELEASE < (2, 8), reason="up to 2.7 no function runs on a plugin's device")

SUFFIX = "_without_xla"
TEXTS = ROOT / "templates" / "sdk" / "src" / "python"


def on_device(result):
    """Returns the value of a result, which has to be on the device."""
    assert f"/device:{DEVICE}:" in result.device, result.device
    return result.numpy().tolist()


@tf.function(jit_compile=True)
def affine(x):
    return 2.0 * x + 1.0


@tf.function(jit_compile=True)
def as_text(x):
    """A function that XLA cannot compile, so that an error shows that it was asked."""
    return tf.strings.to_number(tf.strings.as_string(x))


def is_compiled_on_cpu(function, *arguments):
    """Returns true if XLA is asked to compile the function on the CPU."""
    with tf.device("/CPU:0"):
        try:
            function(*arguments)
        except tf.errors.InvalidArgumentError as error:
            return "unsupported operations" in str(error) or "Detected unsupported" in str(error)
    return False


def test_function_runs_on_device_and_is_compiled_on_cpu():
    assert on_device(affine(tf.ones(2))) == [3.0, 3.0]
    assert as_text(tf.ones(2)).numpy().tolist() == [1.0, 1.0]
    assert is_compiled_on_cpu(as_text, tf.ones(2))
    assert as_text(tf.ones(2)).numpy().tolist() == [1.0, 1.0]


def test_function_first_called_on_cpu_runs_on_device():
    @tf.function(jit_compile=True)
    def text(x):
        return tf.strings.to_number(tf.strings.as_string(x))

    assert is_compiled_on_cpu(text, tf.ones(2))
    assert text(tf.ones(2)).numpy().tolist() == [1.0, 1.0]
    with tf.device(f"/device:{DEVICE}:0"):
        assert on_device(text(tf.ones(2))) == [1.0, 1.0]


def test_nested_request_is_ignored_on_device_and_compiled_on_cpu():
    @tf.function
    def outer(x):
        return as_text(x) + 1.0

    assert outer(tf.ones(2)).numpy().tolist() == [2.0, 2.0]
    assert is_compiled_on_cpu(outer, tf.ones(2))


def test_methods_partials_and_nested_functions():
    class Model(tf.Module):
        def __init__(self):
            self.weight = tf.Variable(3.0)

        @tf.function(jit_compile=True)
        def call(self, x):
            return self.weight * affine(x)

    first, second = Model(), Model()
    second.weight.assign(5.0)
    assert on_device(first.call(tf.ones(1))) == [9.0]
    assert on_device(second.call(tf.ones(1))) == [15.0]
    partial = tf.function(functools.partial(lambda a, b: a * b, tf.constant(2.0)), jit_compile=True)
    assert on_device(partial(tf.ones(1))) == [2.0]


def test_recursive_function():
    @tf.function(jit_compile=True)
    def power(x, exponent):
        return x * power(x, exponent - 1) if exponent else tf.ones_like(x)

    assert on_device(power(tf.constant([2.0]), 5)) == [32.0]


def test_concrete_function_and_input_signature():
    @tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None], tf.float32)])
    def double(x):
        return x + x

    concrete = double.get_concrete_function()
    assert on_device(concrete(tf.ones(2))) == [2.0, 2.0]
    assert on_device(double(tf.ones(3))) == [2.0, 2.0, 2.0]
    assert on_device(affine.get_concrete_function(tf.TensorSpec([4]))(tf.ones(4))) == [3.0] * 4


@pytest.mark.parametrize("retracing", [False, True])
def test_number_of_traces_is_that_of_an_ordinary_function(retracing):
    options = {"reduce_retracing" if RELEASE >= (2, 9) else "experimental_relax_shapes": retracing}
    traces = {}
    for jit_compile in [True, False]:
        @tf.function(jit_compile=jit_compile, **options)
        def count(x):
            return x + 1.0

        for size in [1, 2, 2, 3, 4, 3]:
            count(tf.ones(size))
            with tf.device("/CPU:0"):
                count(tf.ones(size))
        traces[jit_compile] = count.experimental_get_tracing_count()
    assert traces[True] == traces[False], traces


@pytest.mark.parametrize("is_in_function", [False, True])
def test_strategy_runs_function(is_in_function):
    strategy = tf.distribute.OneDeviceStrategy(f"/device:{DEVICE}:0")

    def run(x):
        return strategy.run(as_text, args=(x,))

    result = (tf.function(run) if is_in_function else run)(tf.ones(2))
    assert result.numpy().tolist() == [1.0, 1.0]


def test_gradients_inside_and_outside():
    @tf.function(jit_compile=True)
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x ** 3
        return tape.gradient(y, x)

    x = tf.Variable(2.0)
    assert on_device(slope(tf.constant(2.0))) == 12.0
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            y = affine(x) ** 2
        first = tape.gradient(y, x)
    assert (first.numpy(), outer.gradient(first, x).numpy()) == (20.0, 8.0)
    with tf.GradientTape() as tape:
        y = slope(tf.convert_to_tensor(x))
    assert tape.gradient(y, x) is not None


def test_gradient_of_gradient_of_function():
    @tf.function(jit_compile=True)
    def cube(x):
        return x ** 3

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = cube(x)
        first = tape.gradient(y, x)
    assert (first.numpy(), outer.gradient(first, x).numpy()) == (12.0, 12.0)


def test_custom_gradient():
    @tf.custom_gradient
    def clipped(x):
        return x * 2.0, lambda upstream: tf.clip_by_value(upstream, -1.0, 1.0)

    function = tf.function(lambda x: clipped(x) * 5.0, jit_compile=True)
    x = tf.constant([1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    assert on_device(tape.gradient(y, x)) == [1.0]


def test_loops_and_conditions():
    @tf.function(jit_compile=True)
    def collatz(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    @tf.function(jit_compile=True)
    def powers(x):
        return tf.scan(lambda total, item: total * item, x)

    assert collatz(tf.constant(27)).numpy() == 111
    assert powers(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [1.0, 2.0, 6.0]
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(powers(x))
    assert tape.gradient(y, x).numpy().tolist() == [9.0, 4.0, 2.0]


def test_loop_of_function_is_placed_op_by_op():
    """Without lowering, all ops of the loop's body need a kernel on the device."""
    @tf.function(jit_compile=True)
    def texts(x):
        for _ in tf.range(3):
            x = tf.strings.to_number(tf.strings.as_string(x)) + 1.0
        return x

    assert texts(tf.zeros(2)).numpy().tolist() == [3.0, 3.0]


def test_saved_model(tmp_path):
    class Model(tf.Module):
        @tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None], tf.float32)])
        def text(self, x):
            return as_text(x) * 2.0

    model = Model()
    tf.saved_model.save(model, str(tmp_path), signatures=model.text)
    loaded = tf.saved_model.load(str(tmp_path))
    assert loaded.text(tf.ones(2)).numpy().tolist() == [2.0, 2.0]
    signature = loaded.signatures["serving_default"]
    assert [it.numpy().tolist() for it in signature(tf.ones(2)).values()] == [[2.0, 2.0]]
    # The file keeps the request.
    assert is_compiled_on_cpu(loaded.text, tf.ones(2))


def test_session_runs_function():
    """In a session TensorFlow decides after the plugin's optimizer, without the function in Python."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [2])
        with tf.device(f"/device:{DEVICE}:0"):
            y = affine(x) * 2.0
        assert session.run(y + 1.0, {x: [1.0, 2.0]}).tolist() == [7.0, 11.0]


@pytest.mark.parametrize("sizes", [{}, {"min_graph_nodes": 2}])
def test_session_runs_a_graph_of_one_call(sizes):
    """TensorFlow optimizes graphs of four nodes or more, unless the session's configuration says otherwise."""
    config = tf.compat.v1.ConfigProto(graph_options={"rewrite_options": sizes})
    before = config.SerializeToString()
    with tf.Graph().as_default(), tf.compat.v1.Session(config=config) as session:
        with tf.device(f"/device:{DEVICE}:0"):
            y = as_text(tf.ones([2]))
        assert session.run(y).tolist() == [1.0, 1.0]
    assert config.SerializeToString() == before


def test_function_that_is_not_found_is_the_error_of_tensorflow():
    from tensorflow.python.eager import context, execute

    config = context.context().config.SerializeToString()
    attrs = ("executor_type", "", "config_proto", config)
    with pytest.raises(tf.errors.NotFoundError):
        execute.execute("no_such_function", 1, [], attrs, context.context())


def test_call_of_few_nodes_in_function():
    variable = tf.Variable(1.0)

    @tf.function(jit_compile=True)
    def change():
        variable.assign(variable * 2.0)

    @tf.function
    def outer():
        change()

    outer()
    assert variable.numpy() == 2.0


@pytest.mark.skipif(RELEASE < (2, 16), reason="Keras 2 does not ask for XLA")
def test_step_in_which_a_generator_ends_changes_nothing():
    def batches():
        for _ in range(7):
            yield [[1.0] * 8] * 16, [[1.0]] * 16

    signature = (tf.TensorSpec((16, 8)), tf.TensorSpec((16, 1)))
    for _ in range(4):
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("adam", "mse")
        model.fit(tf.data.Dataset.from_generator(batches, output_signature=signature), epochs=2, verbose=0)
        assert int(model.optimizer.iterations) == 14


def test_op_without_attributes_runs():
    """Its call has `None` in place of attributes."""
    from tensorflow.python.eager import context, execute

    (result,) = execute.execute(b"LogicalNot", 1, [tf.constant([True])], None, context.context())
    assert result.numpy().tolist() == [False]


def test_threads():
    results = {}

    def run(number):
        @tf.function(jit_compile=True)
        def add(x):
            return affine(x) + number

        device = "/CPU:0" if number % 2 else f"/device:{DEVICE}:0"
        with tf.device(device):
            results[number] = [add(tf.ones(1)).numpy().item() for _ in range(20)]

    threads = [threading.Thread(target=run, args=(float(number),)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {float(number): [3.0 + number] * 20 for number in range(8)}


def test_compiler_ir_is_that_of_the_cpu():
    @tf.function(jit_compile=True)
    def double(x):
        return x + x

    double(tf.ones(2))
    with tf.device("/CPU:0"):
        text = double.experimental_get_compiler_ir(tf.ones(2))(stage="hlo", device_name="/device:CPU:0")
    assert "HloModule" in text
    assert double.experimental_get_compiler_ir(tf.ones(2))(stage="hlo") == text


def test_functions_run_eagerly():
    tf.config.run_functions_eagerly(True)
    try:
        assert on_device(affine(tf.ones(1))) == [3.0]
    finally:
        tf.config.run_functions_eagerly(False)


def copy_of(concrete):
    """Returns the definition of the copy of a function that runs on the device."""
    return context.context().get_function_def(tf.compat.as_str(concrete.name) + SUFFIX)


def test_copy_is_removed_with_its_function():
    function = tf.function(lambda x: affine(x) * 2.0, jit_compile=True, autograph=False)
    name = tf.compat.as_str(function.get_concrete_function(tf.TensorSpec([1])).name)
    assert on_device(function(tf.ones(1))) == [6.0]
    assert context.context().has_function(name + SUFFIX)
    del function
    gc.collect()
    assert not context.context().has_function(name)
    assert not context.context().has_function(name + SUFFIX)


def test_other_function_of_the_same_name_runs():
    doubled = tf.function(lambda x: x * 2.0, jit_compile=True, autograph=False).get_concrete_function(tf.TensorSpec([2]))
    definition = context.context().get_function_def(doubled.name)
    definition.signature.name = "of_the_same_name"
    for factor in [2.0, 50.0]:
        for node in definition.node_def:
            if node.op == "Const":
                node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(factor))
        context.context().add_function_def(definition)
        config = context.context().config.SerializeToString()
        arguments = ("executor_type", "", "config_proto", config)
        (result,) = execute.execute("of_the_same_name", 1, [tf.ones(2)], arguments, context.context())
        assert on_device(result) == [factor, factor]
        context.context().remove_function("of_the_same_name")


def test_edges_of_copy_grow_with_arguments_and_stateful_nodes():
    @tf.function(jit_compile=True)
    def noisy(*values):
        return [value + tf.random.uniform([1]) for value in values]

    arguments = [tf.ones(1)] * 50
    noisy(*arguments)
    copy = copy_of(noisy.get_concrete_function(*arguments))
    edges = sum(name.startswith("^") for node in copy.node_def for name in node.input)
    assert 100 <= edges < 250


def test_request_stays_on_nodes_of_other_devices():
    @tf.function
    def outer(x):
        with tf.device("/CPU:0"):
            y = as_text(x)
        return affine(y) + 1.0

    with pytest.raises(tf.errors.InvalidArgumentError, match="nsupported"):
        outer(tf.ones(2))


def test_function_of_dataset_is_compiled():
    @tf.function
    def first():
        return next(iter(tf.data.Dataset.from_tensors(tf.ones(2)).map(as_text))) * affine(1.0)

    with pytest.raises(tf.errors.InvalidArgumentError, match="nsupported"):
        first()


def test_device_that_does_not_exist_is_that_of_the_plugin():
    with tf.device("/gpu:0"):
        assert on_device(affine(tf.ones(2))) == [3.0, 3.0]


def test_error_names_the_lines_of_the_program():
    @tf.function(jit_compile=True)
    def reshaped(x):
        return tf.reshape(x, tf.cast(x[:2], tf.int32))

    with pytest.raises(tf.errors.InvalidArgumentError) as found:
        reshaped(tf.ones(3))
    assert "test_jit_compile.py" in str(found.value) and "in reshaped" in str(found.value)
    assert SUFFIX not in str(found.value)
    frames = traceback.extract_tb(found.value.__traceback__)
    assert not any("plugin" in os.path.basename(frame.filename) for frame in frames), frames


def test_function_is_called_while_another_is_copied():
    """A signal handler or a finalizer may call it."""
    cells = [cell.cell_contents for cell in execute.quick_execute.__closure__]
    (functions,) = [it for it in cells if type(it).__name__ == "Functions"]
    assert functions.lock.acquire() and functions.lock.acquire(blocking=False)
    functions.lock.release()
    functions.lock.release()


def test_attribute_that_is_an_array():
    attributes = ("T", tf.float32.as_datatype_enum, "squeeze_dims", np.array([0, 2], object))
    (found,) = execute.execute("Squeeze", 1, [tf.ones([1, 2, 1])], attributes, context.context())
    assert on_device(found) == [1.0, 1.0]


PROGRAM = """
import os
import tensorflow as tf

@tf.function(jit_compile=True)
def affine(x):
    return 2.0 * x + 1.0

if FORK:
    affine.get_concrete_function(tf.TensorSpec([1]))
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        assert status == 0, status
try:
    print(affine(tf.ones(1)).numpy())
except tf.errors.OpError as error:
    print("error:", error.message)
"""


def test_setting_of_the_user_restores_the_error():
    finished = run_program(PROGRAM, {"SP_JIT_COMPILE": "error"}, FORK="")
    assert finished.stdout.startswith("error: "), finished.stdout + finished.stderr


def test_invalid_setting_is_one_warning():
    finished = run_program(PROGRAM, {"SP_JIT_COMPILE": "no", "SP_LOG": "info"}, FORK="")
    assert "[3.]" in finished.stdout, finished.stdout + finished.stderr
    line = "plugin myaccel: SP_JIT_COMPILE=no is invalid: expected ignore or error; ignore is used"
    assert finished.stderr.count(line) == 1, finished.stderr


def test_function_runs_in_forked_child():
    """No device is open before the fork: TensorFlow itself does not support devices across one."""
    program = PROGRAM.replace("    affine.get_concrete_function(tf.TensorSpec([1]))\n", "")
    finished = run_program(program, FORK="1")
    assert finished.stdout.count("[3.]") == 2, finished.stdout + finished.stderr


def outcome_of(name, **changes):
    constants = {"DEVICE_TYPE": DEVICE, "JIT_COMPILE": "ignore", "REPLACED_OPS": "", "REJECTED": ""}
    text = "".join((TEXTS / part).read_text() for part in [name, "install.py"])
    scope = {**constants, **changes}
    exec(compile(text, name, "exec"), scope)
    return scope["outcome"]


def test_python_of_another_shape_is_left_alone(monkeypatch):
    def other(name, count):
        raise AssertionError("not called")

    monkeypatch.setattr(execute, "quick_execute", other)
    assert outcome_of("functions.py") == "not installed: TypeError: execute.quick_execute has other parameters"
    assert execute.quick_execute is other
