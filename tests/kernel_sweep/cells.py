"""Sweeps one op: for each type, calls in eager mode, in tf.function and of gradients."""

import collections

import numpy as np
import tensorflow as tf
from hypothesis import HealthCheck, Phase, given, settings, strategies

import ops
from calls import R
from compare import accepted, as_numbers, equal, equal_bits, errors, first_difference, near, same_bits
from drawn import Drawn, is_float
from reference import CPU, Reference, call, has_no_kernel, is_error
from registered import counted_calls, kernels_of

# Each call of these kernels has other numbers, the same on each device.
SEEDED = ("RandomUniform", "RandomStandardNormal", "TruncatedNormal", "Multinomial")
# With so many examples each kernel of an op is called, whatever its other types are.
ENOUGH = 40
OPTIONS = settings(
    derandomize=True, database=None, deadline=None, report_multiple_bugs=False, print_blob=False,
    suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink],
)  # fmt: skip


class Cell:
    """An op and a type: counts of its calls, the largest errors, and failures."""

    def __init__(self, device, op, name, last):
        self.device, self.op, self.name, self.last = f"/device:{device}:0", op, name, last
        self.entry, self.dtype = ops.OPS[op], np.dtype(tf.as_dtype(name).as_numpy_dtype)
        self.counts, self.failures = collections.Counter(), []
        self.largest, self.missing = {}, set()
        self.is_seeded, self.is_random = op.startswith(SEEDED), op.startswith((*SEEDED, "Stateless"))

    def report(self):
        about = {"op": self.op, "type": self.name, "result": self.entry.result, "unit": self.entry.unit}
        return {**about, "failures": self.failures, "largest": self.largest, "missing": sorted(self.missing), **self.counts}

    def sweep(self, examples):
        before = counted_calls(self.op)
        self.examples("eager", examples, self.check)
        self.examples("function", max(examples // 4, 1), self.check_function)
        if is_float(self.dtype):
            self.examples("gradient", max(examples // 2, 1), self.check_gradient)
        if not self.counts["passed"] + self.counts["alone"] and not self.failures:
            self.failures.append(f"none of the calls is valid: {dict(self.counts)}")
        if self.counts["passed"] and counted_calls(self.op) == before:
            self.failures.append("no call ran in the plugin")

    def examples(self, mode, count, check):
        """Checks that many examples; the failure of the least one is noted."""

        def run(data):
            self.counts["calls"] += 1
            check(Drawn(data.draw, self.dtype, self.entry.result == "bits"))

        run.__name__ = f"{self.op}_{self.name}_{mode}"  # hypothesis derives its choices from it
        try:
            settings(OPTIONS, max_examples=count)(given(strategies.data())(run))()
        except AssertionError as error:
            self.failures.append(f"{mode}: {error}")

    def drawn(self, r):
        function, inputs = self.entry.make(r)
        with open(self.last, "w") as file:
            file.write(f"a call with {[(np.asarray(it).dtype.name, np.shape(it)) for it in inputs]}")
        return function, inputs

    def check(self, r):
        self.compare("forward", *self.drawn(r))

    def check_function(self, r):
        """Compares a tf.function, with or without shapes, with the call in eager mode: the same bits, or an error in both."""
        function, inputs = self.drawn(r)
        has_shapes = r.chance(0.5)
        signature = [tf.TensorSpec(np.shape(it) if has_shapes else None, tf.constant(it).dtype) for it in inputs]
        in_graph = tf.function(function, input_signature=signature, autograph=False)
        graph = call(in_graph, inputs, self.device)
        if self.is_seeded:
            expected = call(in_graph, inputs, CPU)
        elif isinstance(graph, ValueError) and not has_shapes:
            return  # some shape functions need shapes
        else:
            expected = call(function, inputs, self.device)
        if not is_same_outcome(graph, expected):
            # TensorFlow's optimizer replaces some nodes, on the CPU too.
            about = f"{R.last}: {first_line(graph)} in a function, {first_line(expected)} in eager mode"
            assert is_same_outcome(graph, call(in_graph, inputs, CPU)), f"{about}: {graph}, {expected}"

    def check_gradient(self, r):
        function, inputs = self.drawn(r)
        expected = call(function, inputs, CPU)
        indices = [] if is_error(expected) else [index for index, it in enumerate(expected) if it.dtype == self.dtype]
        if not indices:
            return
        seeds = [r.normal(expected[index].shape) for index in indices]
        try:
            self.compare("gradient", gradient_of(function, len(inputs), indices), [*inputs, *seeds], len(inputs))
        except (LookupError, TypeError) as error:
            # The op has no gradient, or its gradient in Python rejects the type.
            if isinstance(error, TypeError) and "Invalid dtype" not in str(error):
                raise
            self.counts["no gradient"] += 1

    def compare(self, kind, function, inputs, count=None):
        """Calls the CPU and twice the device, and compares their outputs, or the classes of their errors.

        The inputs of a gradient after the first `count` are the seeds.
        """
        expected, found = call(function, inputs, CPU), call(function, inputs, self.device)
        again = found if self.is_seeded else call(function, inputs, self.device)
        about, reference = f"{kind} {R.last}", Reference(function, inputs, self.dtype, count)
        if kind == "gradient" and has_no_kernel(found) and not has_no_kernel(expected):
            self.missing.add(str(found).rpartition("[Op:")[2].partition("]")[0])
            return
        if has_no_kernel(expected):
            expected = None if is_error(found) or self.is_random else reference.substitute(found)
        if expected is None:
            self.counts["alone"] += not is_error(found)
        elif is_error(expected) or is_error(found):
            accepted_error = any(text in str(expected) for text, _ in ops.ERRORS.get(self.op, []))
            assert type(expected) is type(found) or accepted_error, f"{about}: {first_line(found)}; the CPU: {first_line(expected)}"
            self.counts["errors"] += 1
        else:
            assert all(map(same_bits, found, again)), f"{about}: the second call has other bits: {found} {again}"
            self.compare_outputs(kind, about, found, expected, reference)

    def compare_outputs(self, kind, about, found, expected, reference):
        self.counts["passed"] += 1
        assert shapes(found) == shapes(expected), f"{about}: {shapes(found)}, the CPU's {shapes(expected)}"
        if self.dtype.kind == "c" and self.entry.result == "close":
            return self.compare_complex(about, found, expected, reference)
        is_close = is_float(self.dtype) and (self.entry.result == "close" or kind == "gradient")
        precise = reference.precise(expected) if is_close else found
        units = reference.units(self.entry, precise, kind == "gradient") if is_close else found
        for index, (one, other) in enumerate(zip(found, expected)):
            text = f"{about}: output {index}"
            if is_close and is_float(one.dtype):
                self.compare_numbers(kind, text, one, other, precise[index], units[index])
            else:
                is_bits = self.entry.result == "bits" and kind == "forward"
                is_right = equal_bits(one, other) if is_bits else equal(one, other) | self.deviates(one, other)
                assert np.all(is_right), f"{text}: {first_difference(is_right, one, other)}"

    def compare_complex(self, about, found, expected, reference):
        """Compares functions of complex numbers with those of complex128."""
        precise = reference.converted(lambda it: it.astype(np.complex128)) or expected
        for index, (one, other) in enumerate(zip(found, expected)):
            is_right = near(one, other, precise[index], self.entry.unit != "element", self.entry.limit)
            is_right |= self.deviates(one, other)
            text = f"{about}: output {index}"
            assert np.all(is_right), f"{text}: {first_difference(is_right, one, other, precise[index])}"

    def compare_numbers(self, kind, about, found, expected, precise, unit):
        dtype, found, expected = found.dtype, as_numbers(found), as_numbers(expected)
        # A gradient is the result of several ops, each of which rounds; for float64 the CPU's is the only reference.
        limit = self.entry.limit * (4 if kind == "gradient" else 1) * (16 if dtype == np.float64 else 1)
        for device, values in (("plugin", found), ("CPU", expected)):
            key, error = f"{kind} {device}", float(np.max(errors(values, precise, unit, dtype), initial=0))
            self.largest[key] = max(self.largest.get(key, 0), error)
        is_right = accepted(found, expected, precise, unit, dtype, limit) | self.deviates(found, expected)
        assert is_right.all(), f"{about}: {first_difference(is_right, found, expected, precise)}"

    def deviates(self, found, expected):
        """Returns, for each element, whether the table accepts that the CPU's result is another one."""
        known = [accepts for accepts, _ in ops.DEVIATIONS.get(self.op, [])]
        with np.errstate(all="ignore"):
            return np.logical_or.reduce([np.zeros(found.shape, bool), *(it(found, expected) for it in known)])


def gradient_of(function, count, indices):
    """Returns a function of the inputs and of seeds, whose outputs are the gradients of those outputs."""

    def gradient(*tensors):
        inputs, seeds = tensors[:count], tensors[count:]
        watched = [it for it in inputs if it.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(watched)
            results = tf.nest.flatten(function(*inputs))
            results = [results[index] for index in indices]
        found = tape.gradient(results, watched, output_gradients=list(seeds))
        return [tf.convert_to_tensor(it) for it in found if it is not None]

    if hasattr(function, "on_cpu"):
        gradient.on_cpu = gradient_of(function.on_cpu, count, indices)
    return gradient


def is_same_outcome(one, other):
    """Returns true for the same bits, and for two errors."""
    if is_error(one) or is_error(other):
        return is_error(one) and is_error(other)
    return len(one) == len(other) and all(map(same_bits, one, other))


def first_line(outcome):
    if not is_error(outcome):
        return f"a result of {shapes(outcome)}"
    return f"{type(outcome).__name__}: {str(outcome).partition(chr(10))[0]}"


def shapes(arrays):
    return [f"{it.dtype.name}{list(it.shape)}" for it in arrays]


def sweep(device, op, types, examples, last):
    """Returns a report of each type of an op."""
    tf.config.set_soft_device_placement(False)
    tf.get_logger().setLevel("ERROR")
    cells = [Cell(device, op, name, last) for name in types]
    for cell in cells:
        cell.sweep(examples)
    # Variables cannot be int32 on a plugin's device.
    is_swept = lambda kernel: "int32" in types or not kernel.startswith(("T=TF_INT32", "dtype=TF_INT32"))
    uncalled = [kernel for kernel, count in kernels_of(op).items() if not count and is_swept(kernel)]
    if examples >= ENOUGH and uncalled and op not in ops.UNCALLED:
        cells[0].failures.append(f"no call of the kernels of {', '.join(uncalled)}")
    return [cell.report() for cell in cells]
