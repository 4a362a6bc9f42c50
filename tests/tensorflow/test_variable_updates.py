"""Kernels that change variables in place, beside the CPU's: optimizers, and rows of a variable."""

import threading

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE, RELEASE

pytestmark = pytest.mark.usefixtures("hard_placement")

HAS_VARIABLES = RELEASE <= (2, 18) or RELEASE >= (2, 22)
ON_DEVICE = f"/device:{DEVICE}:0"

# The type and the shape of a variable, as the kernels have them.
TYPES = [np.float32, np.float64]
SCATTERS = {"Add": TYPES, "Sub": TYPES, "Mul": TYPES, "Div": TYPES, "Min": TYPES, "Max": TYPES, "Update": TYPES}
# Core has no VarHandleOp of int32 for a plugin's device.
INTEGERS = {op: [np.int64] for op in ("Add", "Sub", "Mul", "Min", "Max", "Update")} | {"Div": [np.int64, np.uint16, np.int16, np.uint32, np.uint64]}
COMPLEX = {op: [np.complex64, np.complex128] for op in ("Add", "Sub", "Mul", "Div", "Update")}
BOOLEAN = ("Update", "Add", "Sub")

needs_variables = pytest.mark.skipif(not HAS_VARIABLES, reason="core exports no function of variables from 2.19 to 2.21")


@pytest.fixture(params=["eager", "function"])
def run(request):
    """Returns a function that calls another in eager mode, or inside of a tf.function."""
    is_tensor = lambda result: result if isinstance(result, tf.Tensor) else None
    if request.param == "eager":
        return lambda function: is_tensor(function())
    return lambda function: tf.function(lambda: is_tensor(function()))()


def values(*shape, seed=0, dtype=np.float32):
    random = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.inexact):
        return random.normal(size=shape).astype(dtype)
    return random.integers(*((0, 2) if dtype == np.bool_ else (1, 9)), shape, dtype)


def constant(array):
    """Returns a tensor of float32. `tf.ones` would run Fill, for which the plugin has no kernel."""
    return tf.constant(np.asarray(array, np.float32))


def on_both(run, op, initial, function, calls):
    """Runs `function(variables)` on both devices, and returns the variables' values after it: the CPU's and ours."""
    results = []
    for device in "/CPU:0", ON_DEVICE:
        before = calls().get(op, 0)
        with tf.device(device):
            variables = [tf.Variable(value) for value in initial]
            run(lambda: function(*variables))
        ran = calls().get(op, 0) - before
        assert ran == (1 if device == ON_DEVICE else 0), f"{op} ran {ran} times in the plugin"
        results.append([variable.numpy() for variable in variables])
    return results


def check(results, tolerance=1e-6):
    expected, found = results
    for one, other in zip(expected, found):
        np.testing.assert_allclose(other, one, rtol=tolerance, atol=tolerance)


@needs_variables
@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 5), (300, 300)])
def test_adam_changes_variable_and_moments(run, calls, shape, dtype, nesterov):
    initial = [values(*shape, seed=1, dtype=dtype), values(*shape, seed=2, dtype=dtype)]
    initial += [np.square(values(*shape, seed=3, dtype=dtype))]
    gradient = values(*shape, seed=4, dtype=dtype)

    def step(var, m, v):
        tf.raw_ops.ResourceApplyAdam(
            var=var.handle, m=m.handle, v=v.handle, beta1_power=dtype(0.81), beta2_power=dtype(0.998), lr=dtype(0.01),
            beta1=dtype(0.9), beta2=dtype(0.999), epsilon=dtype(1e-7), grad=tf.constant(gradient), use_nesterov=nesterov,
        )

    check(on_both(run, "ResourceApplyAdam", initial, step, calls), 1e-5 if dtype == np.float32 else 1e-10)


@needs_variables
@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["Momentum", "KerasMomentum"])
def test_momentum_changes_variable_and_accumulator(run, calls, name, dtype, nesterov):
    initial, gradient = [values(40, 3, seed=seed, dtype=dtype) for seed in (1, 2)], values(40, 3, seed=3, dtype=dtype)
    op = f"ResourceApply{name}"

    def step(var, accum):
        getattr(tf.raw_ops, op)(
            var=var.handle, accum=accum.handle, lr=dtype(0.1), grad=tf.constant(gradient), momentum=dtype(0.9), use_nesterov=nesterov
        )

    check(on_both(run, op, initial, step, calls))


# The variables, coefficients and flag of each op of a rule by element.
RULES = {
    "Adagrad": ("var accum", dict(lr=0.1), "update_slots"),
    "AdagradV2": ("var accum", dict(lr=0.1, epsilon=1e-3), "update_slots"),
    "Adadelta": ("var accum accum_update", dict(lr=0.5, rho=0.9, epsilon=1e-3), None),
    "RMSProp": ("var ms mom", dict(lr=0.1, rho=0.9, momentum=0.8, epsilon=1e-3), None),
    # The epsilon is above the squares of the averages.
    "CenteredRMSProp": ("var mg ms mom", dict(lr=0.1, rho=0.9, momentum=0.8, epsilon=20.0), None),
    "AdamWithAmsgrad": ("var m v vhat", dict(beta1_power=0.81, beta2_power=0.998, lr=0.01, beta1=0.9, beta2=0.999, epsilon=1e-7), None),
    "AdaMax": ("var m v", dict(beta1_power=0.81, lr=0.01, beta1=0.9, beta2=0.999, epsilon=1e-7), None),
    "Ftrl": ("var accum linear", dict(lr=0.3, l1=0.2, l2=0.1, lr_power=-0.5), "multiply_linear_by_lr"),
    "FtrlV2": ("var accum linear", dict(lr=0.3, l1=0.2, l2=0.1, l2_shrinkage=0.4, lr_power=-0.6), "multiply_linear_by_lr"),
    "AddSign": ("var m", dict(lr=0.1, alpha=1.2, sign_decay=0.7, beta=0.9), None),
    "PowerSign": ("var m", dict(lr=0.1, logbase=0.9, sign_decay=0.7, beta=0.9), None),
    "ProximalGradientDescent": ("var", dict(alpha=0.2, l1=0.3, l2=0.4), None),
    "ProximalAdagrad": ("var accum", dict(lr=0.2, l1=0.3, l2=0.4), None),
}
HALVES = [tf.half.as_numpy_dtype, tf.bfloat16.as_numpy_dtype]


def apply_rule(name, variables, gradient, dtype, flag=None, **coefficients):
    names, scalars, flag_name = RULES[name]
    arguments = {it: dtype(value) for it, value in {**scalars, **coefficients}.items()}
    arguments |= dict(zip(names.split(), (it.handle for it in variables)))
    arguments["delta" if name == "ProximalGradientDescent" else "grad"] = tf.constant(gradient)
    if flag is not None:
        arguments[flag_name] = flag
    getattr(tf.raw_ops, f"ResourceApply{name}")(**arguments)


@needs_variables
@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", sorted(RULES))
def test_rule_changes_variables(run, calls, name, dtype, flag):
    names, scalars, flag_name = RULES[name]
    if flag_name is None and flag:
        pytest.skip("the op has no flag")
    for shape in [(), (0,), (7,), (70, 61)]:
        # Sums of squares are positive; only the variable, the average and the linear term have both signs.
        signed = ("var", "m", "mg", "mom", "linear")
        initial = [values(*shape, seed=seed, dtype=dtype) for seed in range(len(names.split()))]
        initial = [it if of in signed else np.abs(it) + dtype(0.1) for it, of in zip(initial, names.split())]
        gradient = values(*shape, seed=9, dtype=dtype)
        step = lambda *variables: apply_rule(name, variables, gradient, dtype, flag if flag_name else None)
        check(on_both(run, f"ResourceApply{name}", initial, step, calls), 2e-5 if dtype == np.float32 else 1e-10)


@needs_variables
@pytest.mark.parametrize("name", ["Ftrl", "FtrlV2"])
def test_leader_with_other_powers_and_without_regularization(run, calls, name):
    initial, gradient = [values(50, seed=1), np.abs(values(50, seed=2)), values(50, seed=3)], values(50, seed=4)
    for coefficients in [dict(lr_power=-0.5), dict(lr_power=-0.8), dict(lr_power=0.0), dict(l1=0.0, l2=0.0), dict(l1=9.0)]:
        for flag in (False, True):
            step = lambda *variables: apply_rule(name, variables, gradient, np.float32, flag, **coefficients)
            check(on_both(run, f"ResourceApply{name}", initial, step, calls), 2e-5)


@needs_variables
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", sorted(RULES))
def test_rule_of_16_bit_floats_is_that_of_float32(name, dtype):
    names, results = RULES[name][0].split(), []
    initial = [np.abs(values(30, seed=seed)).astype(dtype) + dtype(0.1) for seed in range(len(names))]
    gradient = values(30, seed=9).astype(dtype)
    for device, kind in ("/CPU:0", np.float32), (ON_DEVICE, dtype):
        with tf.device(device):
            variables = [tf.Variable(it.astype(kind)) for it in initial]
            apply_rule(name, variables, gradient.astype(kind), kind, **({"epsilon": 1e-3} if "Ada" in name and "epsilon" in RULES[name][1] else {}))
            results.append([it.numpy().astype(np.float32) for it in variables])
    for expected, found in zip(*results):
        np.testing.assert_allclose(found, expected, rtol=5e-2, atol=5e-2)


@needs_variables
@pytest.mark.parametrize("name", sorted(RULES))
def test_rule_rejects_gradient_of_another_shape(name):
    with tf.device(ON_DEVICE):
        variables = [tf.Variable(values(3)) for _ in RULES[name][0].split()]
        with pytest.raises(tf.errors.InvalidArgumentError):
            apply_rule(name, variables, values(4), np.float32)


@needs_variables
def test_step_rejects_gradient_of_another_shape(run):
    with tf.device(ON_DEVICE):
        var, m, v = (tf.Variable(values(3)) for _ in range(3))
        scalars = dict(beta1_power=0.9, beta2_power=0.9, lr=0.1, beta1=0.9, beta2=0.9, epsilon=1e-7)
        gradient = tf.Variable(values(4), shape=tf.TensorShape(None))
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            run(lambda: tf.raw_ops.ResourceApplyAdam(
                var=var.handle, m=m.handle, v=v.handle, grad=gradient.read_value(), **scalars))
    np.testing.assert_array_equal(var.numpy(), values(3))


@needs_variables
@pytest.mark.parametrize("op", sorted(SCATTERS))
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("row", [(), (4,), (2, 3)])
def test_scatter_changes_rows(run, calls, op, index, row):
    indices = np.array([[4, 0], [4, 2]], index)
    for dtype in SCATTERS[op] + INTEGERS.get(op, []) + COMPLEX.get(op, []):
        table, updates = values(5, *row, seed=1, dtype=dtype), values(2, 2, *row, seed=2, dtype=dtype)
        name = f"ResourceScatter{op}"

        def scatter(variable):
            getattr(tf.raw_ops, name)(resource=variable.handle, indices=tf.constant(indices), updates=tf.constant(updates))

        # Of repeated indices the last one counts, here and in the CPU's kernel.
        check(on_both(run, name, [table], scatter, calls))


@needs_variables
@pytest.mark.parametrize("updates, indices", [([[0, 1]], [0]), (-0.0, [0]), (0.0, []), ([[0, 1]], [9])])
def test_rows_are_not_divided_by_zero(run, calls, updates, indices):
    before = calls().get("ResourceScatterDiv", 0)
    for device in "/CPU:0", ON_DEVICE:
        with tf.device(device):
            variable = tf.Variable(values(5, 2))
            with pytest.raises(tf.errors.InvalidArgumentError, match="updates must not contain 0"):
                run(lambda: tf.raw_ops.ResourceScatterDiv(
                    resource=variable.handle, indices=tf.constant(np.array(indices, np.int32)), updates=constant(updates)))
        np.testing.assert_array_equal(variable.numpy(), values(5, 2))
    assert calls()["ResourceScatterDiv"] == before + 1


@needs_variables
@pytest.mark.parametrize("op", ["Update", "Add", "Sub", "Min", "Max"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_scatter_nd_changes_slices(run, calls, op, index, depth):
    limits, name = (5, 3, 4), f"ResourceScatterNd{op}"
    items = [np.random.default_rng(axis).integers(0, limits[axis], (2, 3)) for axis in range(depth)]
    indices = np.stack(items, -1).astype(index)
    for dtype in TYPES + [np.int64] + [np.bool_] * (op in BOOLEAN):
        table, updates = values(*limits, seed=1, dtype=dtype), values(2, 3, *limits[depth:], seed=2, dtype=dtype)

        def scatter(variable):
            getattr(tf.raw_ops, name)(ref=variable.handle, indices=tf.constant(indices), updates=tf.constant(updates))

        check(on_both(run, name, [table], scatter, calls))


@needs_variables
def test_scatter_nd_rejects_wrong_indices_and_shapes(run):
    def scatter(indices, updates, **policy):
        run(lambda: tf.raw_ops.ResourceScatterNdAdd(
            ref=variable.handle, indices=tf.constant(indices), updates=constant(updates), **policy))

    with tf.device(ON_DEVICE):
        variable = tf.Variable(values(5, 2))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = \[5\] does not index into shape"):
            scatter([[0], [5]], np.ones([2, 2]))
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            scatter([[0], [1]], np.ones([2, 3]))
        np.testing.assert_array_equal(variable.numpy(), values(5, 2))
        if RELEASE >= (2, 18):
            scatter([[0], [5]], np.ones([2, 2]), bad_indices_policy="IGNORE")
            np.testing.assert_array_equal(variable.numpy()[1:], values(5, 2)[1:])
            np.testing.assert_array_equal(variable.numpy()[0], values(5, 2)[0] + 1)


@needs_variables
@pytest.mark.parametrize("dtype", TYPES + [np.int64, np.bool_])
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_gather_nd_reads_slices(run, calls, dtype, depth):
    table = values(3, 4, 5, dtype=np.int64).astype(dtype)
    items = [np.random.default_rng(axis).integers(0, 3, (2, 2)) for axis in range(depth)]
    indices = np.stack(items, -1) if items else np.zeros((2, 2, 0), np.int64)
    results = []
    for device in "/CPU:0", ON_DEVICE:
        before = calls().get("ResourceGatherNd", 0)
        with tf.device(device):
            variable = tf.Variable(table)
            read = lambda: tf.raw_ops.ResourceGatherNd(resource=variable.handle, indices=tf.constant(indices), dtype=table.dtype)
            results.append(run(read).numpy())
        assert calls().get("ResourceGatherNd", 0) - before == (1 if device == ON_DEVICE else 0)
    np.testing.assert_array_equal(results[1], results[0])


@needs_variables
def test_scatter_of_one_element_changes_whole_rows(run, calls):
    def scatter(variable):
        tf.raw_ops.ResourceScatterAdd(resource=variable.handle, indices=tf.constant([1, 1]), updates=tf.constant(2.0))

    check(on_both(run, "ResourceScatterAdd", [values(3, 4)], scatter, calls))


@needs_variables
@pytest.mark.parametrize("index", [-1, 5, 2**31 - 1])
def test_rejects_index_that_is_no_row(run, index):
    with tf.device(ON_DEVICE):
        variable, indices = tf.Variable(values(5, 2)), tf.constant([[0, index]])
        message = rf"indices\[0,1\] = {index} is not in \[0, 5\)"
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(lambda: tf.raw_ops.ResourceGather(resource=variable.handle, indices=indices, dtype=tf.float32))
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(lambda: tf.raw_ops.ResourceScatterAdd(resource=variable.handle, indices=indices, updates=constant(np.ones([1, 2, 2]))))
    np.testing.assert_array_equal(variable.numpy(), values(5, 2))


@needs_variables
@pytest.mark.parametrize("dtype", TYPES + [np.int64, np.bool_])
@pytest.mark.parametrize("batch_dims", [0, 1])
def test_gather_reads_rows(run, calls, dtype, batch_dims):
    table = values(3, 4, 5, dtype=np.int64).astype(dtype)
    indices = np.array([[2, 0], [1, 1], [0, 2]])
    results = []
    for device in "/CPU:0", ON_DEVICE:
        before = calls().get("ResourceGather", 0)
        with tf.device(device):
            variable = tf.Variable(table)
            results.append(run(lambda: tf.raw_ops.ResourceGather(
                resource=variable.handle, indices=tf.constant(indices), dtype=table.dtype, batch_dims=batch_dims)).numpy())
        assert calls().get("ResourceGather", 0) - before == (1 if device == ON_DEVICE else 0)
    np.testing.assert_array_equal(results[1], results[0])


@needs_variables
def test_reader_keeps_value_before_scatter():
    with tf.device(ON_DEVICE):
        variable = tf.Variable(values(5, 2))
        first = variable.read_value()
        variable.scatter_add(tf.IndexedSlices(constant(np.ones([1, 2])), tf.constant([3])))
        second = variable.read_value()
        variable.scatter_update(tf.IndexedSlices(constant(np.zeros([1, 2])), tf.constant([3])))
    np.testing.assert_array_equal(first.numpy(), values(5, 2))
    np.testing.assert_allclose(second.numpy()[3], values(5, 2)[3] + 1)
    np.testing.assert_array_equal(variable.numpy()[3], [0, 0])


@needs_variables
def test_two_threads_lose_no_update():
    steps = 200
    with tf.device(ON_DEVICE):
        table, total = tf.Variable(constant(np.zeros([4, 3]))), tf.Variable(constant(np.zeros([4, 3])))

    def work(first, second):
        with tf.device(ON_DEVICE):
            for _ in range(steps):
                first.scatter_add(tf.IndexedSlices(constant(np.ones([2, 3])), tf.constant([0, 3])))
                # Locks both variables, in opposite orders in the two threads.
                tf.raw_ops.ResourceApplyMomentum(
                    var=first.handle, accum=second.handle, lr=0.0, grad=constant(np.zeros([4, 3])), momentum=1.0)

    threads = [threading.Thread(target=work, args=pair) for pair in ((table, total), (total, table))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive(), "two kernels wait for each other"
    for variable in table, total:
        expected = np.zeros([4, 3])
        expected[[0, 3]] = steps
        np.testing.assert_array_equal(variable.numpy(), expected)


@needs_variables
def test_embedding_trains_as_on_cpu():
    def train():
        table = tf.Variable(values(10, 4))
        for step in range(3):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(tf.gather(table, [step, 7, step])))
            gradient = tape.gradient(loss, table)
            table.scatter_sub(tf.IndexedSlices(0.1 * gradient.values, gradient.indices))
        return table.numpy()

    with tf.device("/CPU:0"):
        expected = train()
    tf.config.set_soft_device_placement(True)
    with tf.device(ON_DEVICE):
        np.testing.assert_allclose(train(), expected, rtol=1e-5)


# The types of TensorFlow's own sums of lists on the CPU.
NUMBERS = [
    tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.complex64, tf.complex128,
    tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64,
]  # fmt: skip


@needs_variables
@pytest.mark.skipif(RELEASE < (2, 10), reason="core exports the functions of variants from 2.10 on")
@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda it: it.name)
def test_lists_of_tensors_have_zeros_and_sums(run, calls, dtype):
    tensor = values(4, 3, dtype=np.int64).astype(dtype.as_numpy_dtype)
    before = {op: calls()[op] for op in ("AddN", "ZerosLike")}
    with tf.device("/CPU:0"):
        # Different lists of captured tensors: the optimizer replaces a sum of equal ones, and computes constants itself.
        tensors = {factor: tf.constant(tensor * tensor.dtype.type(factor)) for factor in (1, 2, 3)}

    def make(factor):
        # Core has lists of some types on the CPU only.
        with tf.device("/CPU:0"):
            return tf.raw_ops.TensorListFromTensor(tensor=tensors[factor], element_shape=[3])

    def stack(operation):
        with tf.device(ON_DEVICE):
            handle = operation()
        with tf.device("/CPU:0"):
            return tf.raw_ops.TensorListStack(input_handle=handle, element_shape=[3], element_dtype=dtype)

    zeros = run(lambda: stack(lambda: tf.raw_ops.ZerosLike(x=make(1))))
    total = run(lambda: stack(lambda: tf.raw_ops.AddN(inputs=[make(1), make(2), make(3)])))
    np.testing.assert_array_equal(zeros.numpy(), np.zeros_like(tensor))
    np.testing.assert_array_equal(total.numpy(), tensor * tensor.dtype.type(6))
    for op, count in before.items():
        assert calls()[op] == count + 1, op


@needs_variables
@pytest.mark.skipif(RELEASE < (2, 10), reason="core exports the functions of variants from 2.10 on")
@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.complex64], ids=lambda it: it.name)
def test_gradient_of_array_that_two_loops_read(dtype):
    """The gradient is a sum of two lists. Core has no lists of complex numbers for the device."""

    def gradient(x):
        def read_all(array):
            return tf.while_loop(lambda i, _: i < 3, lambda i, sum: (i + 1, sum + array.read(i)), (0, tf.zeros([2], dtype)))[1]

        with tf.GradientTape() as tape:
            tape.watch(x)
            array = tf.TensorArray(dtype, 3, clear_after_read=False).unstack(x * x)
            y = read_all(array) * read_all(array)
        return tape.gradient(y, x)

    tf.config.set_soft_device_placement(True)
    x = np.array([[1, 2], [3, 4], [0.5, 1]]).astype(dtype.as_numpy_dtype)
    results = []
    for device in "/CPU:0", ON_DEVICE:
        with tf.device(device):
            results.append(tf.function(gradient)(tf.constant(x)).numpy())
    np.testing.assert_array_equal(*results)


@needs_variables
def test_variable_without_value_is_an_error_and_not_the_end():
    with tf.device(ON_DEVICE):
        handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[3], shared_name="never_assigned")
        with pytest.raises(tf.errors.OpError):
            tf.raw_ops.ResourceApplyGradientDescent(var=handle, alpha=0.5, delta=constant(np.ones([3])))
        with pytest.raises(tf.errors.OpError):
            tf.raw_ops.ResourceGather(resource=handle, indices=tf.constant([0]), dtype=tf.float32)


@pytest.mark.skipif(HAS_VARIABLES, reason="core exports the functions of variables")
@pytest.mark.parametrize("soft", [False, True])
def test_raw_ops_in_eager_mode_without_functions_of_variables_are_errors(soft):
    tf.config.set_soft_device_placement(soft)
    with tf.device(ON_DEVICE):
        variable = tf.Variable(values(3, 2))
        with pytest.raises(tf.errors.UnimplementedError, match=r"use tf.gather\(variable.read_value\(\), indices\)"):
            tf.raw_ops.ResourceGather(resource=variable.handle, indices=[0], dtype=tf.float32)
        with pytest.raises(tf.errors.UnimplementedError, match="use variable.assign"):
            tf.raw_ops.ResourceScatterAdd(resource=variable.handle, indices=[1], updates=constant(np.ones([1, 2])))
    np.testing.assert_array_equal(variable.numpy(), values(3, 2))


@needs_variables
def test_strided_slices_of_threads_are_all_assigned():
    with tf.device(ON_DEVICE):
        variable = tf.Variable(np.zeros([4, 1000], np.float32))

    # In eager mode TensorFlow passes the indices of one thread's op to that of another, on any plugin's device.
    @tf.function(jit_compile=False)
    def assign(row):
        with tf.device(ON_DEVICE):
            for number in range(1, 101):
                variable[row].assign(constant(number + row))

    functions = [assign.get_concrete_function(row) for row in range(4)]
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive(), "two kernels wait for each other"
    np.testing.assert_array_equal(variable.numpy(), np.broadcast_to([[100], [101], [102], [103]], [4, 1000]))


@needs_variables
def test_rows_that_indices_repeat_are_trained_in_order(run, calls):
    initial = [np.array([[1, 2], [3, 4]], np.float32)] + [np.ones([2, 2], np.float32)]
    gradient, indices = values(3, 2, seed=1), tf.constant([1, 0, 1])

    def step(var, accum):
        rate = constant(0.5)
        tf.raw_ops.ResourceSparseApplyAdagrad(var=var.handle, accum=accum.handle, lr=rate, grad=constant(gradient), indices=indices)

    check(on_both(run, "ResourceSparseApplyAdagrad", initial, step, calls))


# The variables and the coefficients of optimizers, in the order of the op's inputs.
SPARSE_STEPS = {
    "Adagrad": ("accum", "lr"),
    "AdagradV2": ("accum", "lr epsilon"),
    "Adadelta": ("accum accum_update", "lr rho epsilon"),
    "RMSProp": ("ms mom", "lr rho momentum epsilon"),
    "CenteredRMSProp": ("mg ms mom", "lr rho momentum epsilon"),
    "Ftrl": ("accum linear", "lr l1 l2 lr_power"),
    "FtrlV2": ("accum linear", "lr l1 l2 l2_shrinkage lr_power"),
    "ProximalGradientDescent": ("", "alpha l1 l2"),
    "ProximalAdagrad": ("accum", "lr l1 l2"),
    "Momentum": ("accum", "lr momentum"),
}


def is_rejected(op, device, shape=(1, 2), is_sparse=True, **changed):
    """Returns true if the step is an error on the device with these coefficients."""
    slots, names = (names.split() for names in SPARSE_STEPS[op])
    coefficients = {name: np.float32(-0.5 if name == "lr_power" else 0.5) for name in names} | changed
    with tf.device(device):
        variables = {name: tf.Variable(constant(np.ones(shape))) for name in ["var", *slots]}
        inputs = {name: constant(value) for name, value in coefficients.items()}
        inputs |= {name: variable.handle for name, variable in variables.items()}
        inputs["grad" if is_sparse or op != "ProximalGradientDescent" else "delta"] = constant(np.ones(shape))
        inputs |= {"indices": tf.constant([0])} if is_sparse else {}
        try:
            getattr(tf.raw_ops, f"Resource{'Sparse' * is_sparse}Apply{op}")(**inputs)
        except tf.errors.InvalidArgumentError:
            return True
    return False


@needs_variables
@pytest.mark.parametrize("op", SPARSE_STEPS)
def test_rows_without_elements_are_rejected_as_on_the_cpu(op):
    assert is_rejected(op, ON_DEVICE, (1, 0)) == is_rejected(op, "/CPU:0", (1, 0))


@needs_variables
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("op", SPARSE_STEPS)
def test_coefficients_are_rejected_as_on_the_cpu(op, is_sparse):
    rejected = 0
    for name in SPARSE_STEPS[op][1].split():
        for value in (-1.0, 0.0, 1.0, np.nan, [0.5]):
            expected = is_rejected(op, "/CPU:0", is_sparse=is_sparse, **{name: value})
            assert is_rejected(op, ON_DEVICE, is_sparse=is_sparse, **{name: value}) == expected, f"{name}={value}"
            rejected += expected
    assert rejected, "the CPU accepts all of them"
