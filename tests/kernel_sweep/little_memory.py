"""Calls each kernel with little memory: `little_memory.py DEVICE CALLS [OP..]`, with the library of `little_memory.c` preloaded.

During a call allocations of `BYTES` or more by the plugin's code fail. The call returns its results, or an error of the class
ResourceExhausted. CALLS is the number of calls of each op. Exits with 1 if a call ends the process or fails with another error.
"""

import collections
import ctypes
import functools
import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import traceback

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "tensorflow")]
import numpy as np  # noqa: E402  (the log level and the folders must be set before)
import tensorflow as tf  # noqa: E402

import ops  # noqa: E402
import sweep  # noqa: E402
import sweep_kernels as cases  # noqa: E402
from calls import R, function_of  # noqa: E402
from large import Large, TooLarge  # noqa: E402
from reference import has_no_kernel  # noqa: E402
from registered import library  # noqa: E402

# Larger than what a call allocates whatever its inputs are, such as the text of an error.
BYTES = 4096
PROCESSES = int(os.environ.get("SP_PROCESSES", os.cpu_count() or 1))
# Errors of calls, and of Python and numpy for numbers that are too large.
ERRORS = (tf.errors.OpError, ValueError, TypeError, OverflowError, SystemError)
# Seconds for one op.
SECONDS = 120
EXCLUDED = {
    "FusedBiasRelu": "an op of the scaffold: its kernel is the author's",
    **dict.fromkeys(["Identity", "XlaSharding"], "forwards its input"),
}


def ctc_loss(r):
    time, batch, classes = r.between(1, 5), r.between(1, 5), r.between(2, 30)
    count = r.between(1, 4)
    labels = [[it % batch, it // batch] for it in range(count * batch)]
    values = r.rng.integers(1, classes, len(labels)).astype(np.int32)
    inputs = [r.normal((time, batch, classes)), np.array(sorted(labels), np.int64), values, np.full(batch, time, np.int32)]
    return function_of("CTCLossV2"), inputs


def network(r):
    """Returns attributes, the sizes, and the number of parameters of an LSTM."""
    layers, units, width = np.int32(r.between(1, 3)), r.between(1, 5), r.between(1, 5)
    parameters = sum(4 * units * ((units if layer else width) + units + 2) for layer in range(layers))
    return dict(rnn_mode="lstm", dropout=0.0), layers, units, width, parameters


def on_device(function, inputs):
    """Returns the results of a call that is not limited."""
    with tf.device(f"/device:{DEVICE}:0"):
        return tf.nest.flatten(function(*map(tf.constant, inputs)))


def recurrent(op):
    def make(r):
        attributes, layers, units, width, parameters = network(r)
        time, batch = r.between(1, 5), r.between(1, 5)
        state = (int(layers), batch, units)
        inputs = [r.normal((time, batch, width)), r.normal(state), r.normal(state), r.normal((parameters,))]
        lengths = [np.full(batch, time, np.int32)] if "V3" in op else []
        forward = function_of(op.replace("Backprop", ""), **attributes)
        if "Backprop" not in op:
            return forward, inputs + lengths
        results = on_device(forward, inputs + lengths)
        # The results stand for their gradients.
        return function_of(op, **attributes), [*inputs, *lengths, *results[:3], *results]

    return make


def canonical(op):
    def make(r):
        attributes, layers, units, width, parameters = network(r)
        sizes = [layers, np.int32(units), np.int32(width)]
        if op == "CudnnRNNParamsSize":
            return function_of(op, T=tf.float32, S=tf.int64, **attributes), sizes
        count = 8 * int(layers)
        numbers = dict(num_params_weights=count, num_params_biases=count) if op.endswith("V2") else dict(num_params=count)
        to_parts = function_of(op.replace("CanonicalToParams", "ParamsToCanonical"), **attributes, **numbers)
        if "ParamsToCanonical" in op:
            return to_parts, [*sizes, r.normal((parameters,))]

        def run(*tensors):
            parts = {"weights": list(tensors[3 : 3 + count]), "biases": list(tensors[3 + count :])}
            return getattr(R, op)(num_layers=tensors[0], num_units=tensors[1], input_size=tensors[2], **parts, **attributes)

        return run, [*sizes, *on_device(to_parts, [*sizes, r.normal((parameters,))])]

    return make


def dynamic_slice(r):
    x = r.tensor(r.shape(1, 4))
    begin = r.rng.integers(0, 3, x.ndim).astype(np.int32)
    size = np.array([r.rng.integers(1, dim, endpoint=True) for dim in x.shape], np.int32)
    return functools.partial(executed, "XlaDynamicSlice", {}), [x, begin, size]


def dynamic_update(r):
    x = r.tensor(r.shape(1, 4))
    part = r.tensor([int(r.rng.integers(1, dim, endpoint=True)) for dim in x.shape])
    return functools.partial(executed, "XlaDynamicUpdateSlice", {}), [x, part, r.rng.integers(0, 3, x.ndim).astype(np.int32)]


def example(op):
    """Returns a case of `sweep_kernels.py`, with larger dimensions."""

    def make(r):
        factor, case = int(r.rng.integers(1, 5)), case_of(op)
        shapes, attributes = cases.EXAMPLES.get(op, ([(30, 40)], dict(num_buckets=9)))
        arguments = case.definition.input_arg
        inputs = []
        for index, shape in enumerate(shapes):
            argument = arguments[min(index, len(arguments) - 1)]
            dtype = tf.as_dtype(argument.type or case.attributes.get(argument.type_attr, tf.float32)).as_numpy_dtype
            is_shape = isinstance(shape, tuple)
            inputs.append(r.tensor(tuple(factor * it for it in shape), dtype) if is_shape else np.array(shape, dtype))
        return functools.partial(executed, op, attributes), inputs

    return make


def case_of(op):
    """Returns a case of a kernel, that of float32 if there is one, whose attributes are drawn."""
    registered = [it for it in cases.kernels.get_registered_kernels_for_op(op).kernel if it.device_type == DEVICE]
    is_of_floats = lambda kernel: any(tf.float32.as_datatype_enum in it.allowed_values.list.type for it in kernel.constraint)
    kernel = next(filter(is_of_floats, registered), registered[0])
    return cases.Case(kernel, cases.op_def_registry.get(op), 1)


def executed(op, attributes, *tensors):
    case = case_of(op)
    single = [(it.type_attr, tensor.dtype.as_datatype_enum) for it, tensor in zip(case.definition.input_arg, tensors)]
    case.attributes |= {name: kind for name, kind in single if name} | attributes
    case.inputs = list(tensors)
    case.run(None)
    return []


# Ops that the table of the sweep does not call, since the CPU has no kernel of them.
MORE = {
    "CTCLossV2": ctc_loss,
    **{f"CudnnRNN{it}": recurrent(f"CudnnRNN{it}") for it in ("", "V2", "V3", "Backprop", "BackpropV2", "BackpropV3")},
    **{
        f"CudnnRNN{it}": canonical(f"CudnnRNN{it}")
        for it in ("ParamsSize", "ParamsToCanonical", "ParamsToCanonicalV2", "CanonicalToParams", "CanonicalToParamsV2")
    },
    "XlaDynamicSlice": dynamic_slice,
    "XlaDynamicUpdateSlice": dynamic_update,
}


def make_of(op):
    """Returns the function that draws a case of an op, or `None`."""
    if op in ops.OPS:
        return ops.OPS[op].make
    return MORE.get(op) or example(op)


def range_of_code(path):
    """Returns the first and the last address of a library's code."""
    lines = [line.split() for line in open("/proc/self/maps") if line.rstrip().endswith(os.path.realpath(path))]
    limits = [int(it, 16) for line in lines for it in line[0].split("-")]
    return min(limits), max(limits)


class Limit:
    """Limits the memory of the plugin during a call."""

    def __init__(self, preloaded, plugin):
        self.library = ctypes.CDLL(preloaded)
        self.library.little_memory_begin.argtypes = [ctypes.c_size_t] * 3
        self.library.little_memory_end.restype = ctypes.c_size_t
        self.code, self.failed = range_of_code(plugin), 0

    def __enter__(self):
        self.library.little_memory_begin(*self.code, BYTES)

    def __exit__(self, *_):
        self.failed = self.library.little_memory_end()


def outcome(function, tensors):
    """Returns the error of a call on the device, or `None`."""
    try:
        with tf.device(f"/device:{DEVICE}:0"):
            function(*tensors)
    except ERRORS as error:
        return error


def check(limit, function, tensors):
    """Returns the kind of a call's outcome, and the defect, if it is one."""
    with limit:
        error = outcome(function, tensors)
    if error is None:
        return "passed" if limit.failed else "not limited", None
    if isinstance(error, tf.errors.ResourceExhaustedError):
        return "exhausted", None
    expected = outcome(function, tensors)
    if type(expected) is type(error) and "panic in" not in str(error):
        return "no kernel" if has_no_kernel(error) else "invalid", None
    return "defect", f"{R.last}: {type(error).__name__}: {error}"


def drawn(op, types, seed):
    """Returns a function of tensors and the tensors; `None` if no case is found."""
    for attempt in range(20):
        try:
            function, inputs = make_of(op)(Large([seed, attempt], tf.as_dtype(types[seed % len(types)]).as_numpy_dtype))
            with tf.device("/CPU:0"):
                return function, [it if isinstance(it, tf.Tensor) else tf.constant(it) for it in inputs]
        except (TooLarge, *ERRORS):  # of a scaled number that is no size
            pass
    return None


def sweep_op(limit, op, types, calls, last):
    """Returns the number of calls by the kind of their outcome, and the first defect."""
    counts, defect = collections.Counter(), None
    for seed in range(calls):
        found = drawn(op, types, seed)
        if found is None:
            counts["too large"] += 1
            continue
        inputs = ", ".join(f"{it.dtype.name}{it.shape.as_list()}" for it in found[1])
        last.write_text(f"{op}({inputs if len(inputs) < 500 else f'{inputs[:500]} ..'}), case {seed}")
        kind, found = check(limit, *found)
        counts[kind] += 1
        defect = defect or found
    return counts, defect


def run_child(waiting, types, calls, out):
    """Calls the ops in a process of its own, and appends a line of JSON for each to `out`."""
    tf.config.set_soft_device_placement(False)
    limit = Limit(os.environ["SP_LITTLE_MEMORY"], library())
    # The plugin's threads start in the first calls.
    with tf.device(f"/device:{DEVICE}:0"):
        tf.linalg.matmul(tf.ones([1000, 1000]), tf.ones([1000, 1000])) + 1.0
    for op in waiting:
        signal.alarm(SECONDS)
        counts, defect = sweep_op(limit, op, types[op], calls, pathlib.Path(f"{out}.last"))
        with open(out, "a") as file:
            file.write(json.dumps([op, counts, defect]) + "\n")


def start(waiting, types, calls, out):
    """Forks a child; TensorFlow's devices do not exist before."""
    child = os.fork()
    if child:
        return child
    status = 1
    os.dup2(os.open(f"{out}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    try:
        run_child(waiting, types, calls, out)
        status = 0
    except BaseException:  # the parent reports it
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(status)


def read(out):
    path = pathlib.Path(out)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def ended(out, waiting, status):
    """Returns the line for the op whose call has ended the process."""
    op, last, log = waiting[len(read(out))], pathlib.Path(f"{out}.last"), pathlib.Path(f"{out}.log").read_text()
    about = last.read_text() if last.exists() else ""
    about = about if about.startswith(f"{op}(") else f"{op}, before its first call"
    end = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {os.WEXITSTATUS(status)}"
    return [op, {}, f"{about}: the process ended with {end}\n{log[-1500:]}"]


def sweep_all(types, calls):
    """Returns a line for each op. A child calls every `PROCESSES`th op; another one goes on after the op that ends it."""
    lines, running = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for index in range(PROCESSES):
            waiting, out = sorted(types)[index::PROCESSES], f"{folder}/{index}"
            running[start(waiting, types, calls, out)] = waiting, out
        while running:
            child, status = os.wait()
            waiting, out = running.pop(child)
            found = read(out) + ([ended(out, waiting, status)] if status else [])
            lines += found
            pathlib.Path(out).unlink(missing_ok=True)
            waiting = waiting[len(found) :]
            if status and waiting:
                running[start(waiting, types, calls, out)] = waiting, out
    return lines


def main(calls, *names):
    """Returns the exit status."""
    begin = time.monotonic()
    types = {op: it for op, it in sweep.registered_types(DEVICE).items() if (not names or op in names) and op not in EXCLUDED}
    lines = sorted(sweep_all(types, int(calls)))
    defects = [defect for _, _, defect in lines if defect]
    totals = sum((collections.Counter(counts) for _, counts, _ in lines), collections.Counter())
    valid = {"passed", "exhausted", "not limited"}
    defects += [f"{op}: none of the calls is valid: {counts}" for op, counts, it in lines if not it and not valid & set(counts)]
    for op, counts, _ in lines if os.environ.get("SP_VERBOSE") else []:
        print(op, counts)
    if not totals["exhausted"]:
        defects.append("no call has failed for lack of memory")
    print(*defects, sep="\n")
    limited = sum(bool(counts.get("exhausted")) for _, counts, _ in lines)
    print(f"{len(lines)} ops, {limited} of which fail: {dict(totals)}, {len(defects)} defects, {time.monotonic() - begin:.0f} s")
    return 1 if defects else 0


if __name__ == "__main__":
    DEVICE = sys.argv[1]
    sys.exit(main(*sys.argv[2:]))
