"""Sweeps one op: for each type, calls in eager mode, in tf.function and of gradients."""

import collections

import numpy as np
import tensorflow as tf
from hypothesis import HealthCheck, Phase, given, settings, strategies

import ops
from calls import R
from compare import accepted, as_numbers, equal, errors, first_difference, same_bits
from drawn import Drawn, is_float, PRECISION
from registered import counted_calls

CPU = "/CPU:0"
NO_KERNEL = ["Could not satisfy device specification", "Could not find device for node", "No registered", "Cannot assign a device"]


class Cell:
    """An op and a type: counts of its calls, the largest errors, and failures."""

    def __init__(self, device, op, name, last):
        self.device, self.op, self.name, self.last = f"/device:{device}:0", op, name, last
        self.entry, self.dtype = ops.OPS[op], tf.as_dtype(name).as_numpy_dtype
        self.counts, self.failures = collections.Counter(), []
        self.largest, self.missing = {}, set()

    def report(self):
        return {"op": self.op, "type": self.name, "failures": self.failures, "result": self.entry.result, "unit": self.entry.unit, "largest": self.largest, "missing": sorted(self.missing), **self.counts}

    def sweep(self, examples):
        before = counted_calls(self.op)
        self.examples("eager", examples, self.check)
        self.examples("function", max(examples // 4, 1), self.check_function)
        if is_float(self.dtype):
            self.examples("gradient", max(examples // 2, 1), self.check_gradient)
        if not self.counts["passed"] + self.counts["alone"] and not self.failures:
            self.failures.append(f"none of {self.counts['calls']} calls is valid: {dict(self.counts)}")
        if self.counts["passed"] and counted_calls(self.op) == before:
            self.failures.append("no call ran in the plugin")

    def examples(self, mode, count, check):
        """Checks that many examples; the failure of the least one is noted."""

        def run(data):
            check(Drawn(data.draw, self.dtype, self.entry.result == "bits"))

        run.__name__ = f"{self.op}_{self.name}_{mode}"  # hypothesis derives its choices from it
        options = dict(max_examples=count, derandomize=True, database=None, deadline=None, report_multiple_bugs=False, print_blob=False)
        run = settings(**options, suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink])(given(strategies.data())(run))
        try:
            run()
        except AssertionError as error:
            self.failures.append(f"{mode}: {error}")

    def call(self, function, inputs, device):
        """Returns the arrays of the outputs, or the error."""
        self.counts["calls"] += 1
        try:
            with tf.device(device):
                return [np.asarray(it.numpy()) for it in tf.nest.flatten(function(*[tf.constant(it) for it in inputs]))]
        except (tf.errors.OpError, ValueError) as error:
            return error

    def drawn(self, r):
        function, inputs = self.entry.make(r)
        with open(self.last, "w") as file:
            file.write(f"a call with {[(np.asarray(it).dtype.name, np.shape(it)) for it in inputs]}")
        return function, inputs

    def check(self, r):
        function, inputs = self.drawn(r)
        self.compare("forward", function, inputs)

    def check_function(self, r):
        """Compares a tf.function, with or without shapes, with the call in eager mode: the same bits, or an error in both."""
        function, inputs = self.drawn(r)
        has_shapes = r.chance(0.5)
        signature = [tf.TensorSpec(np.shape(it) if has_shapes else None, tf.constant(it).dtype) for it in inputs]
        in_graph = tf.function(function, input_signature=signature, autograph=False)
        eager, graph = self.call(function, inputs, self.device), self.call(in_graph, inputs, self.device)
        if isinstance(graph, ValueError) and not has_shapes:
            self.counts["not traced without shapes"] += 1
        elif isinstance(eager, Exception) or isinstance(graph, Exception):
            assert isinstance(eager, Exception) == isinstance(graph, Exception), f"{R.last}: {first_line(graph)}, in eager mode {first_line(eager)}"
        elif not self.op.startswith(SEEDED) and not all(map(same_bits, eager, graph)):
            # TensorFlow's optimizer computes some functions of constant shapes itself, on the CPU too.
            of_cpu = self.call(in_graph, inputs, CPU)
            is_same = not isinstance(of_cpu, Exception) and all(map(same_bits, of_cpu, graph))
            assert is_same, f"{R.last}: {graph} in a function, {eager} in eager mode"

    def check_gradient(self, r):
        function, inputs = self.drawn(r)
        expected = self.call(function, inputs, CPU)
        if isinstance(expected, Exception):
            return
        floats = [index for index, it in enumerate(expected) if it.dtype == self.dtype]
        if not floats:
            return
        seeds = {index: r.normal(expected[index].shape) for index in floats}

        def gradient(*tensors):
            tensors, dy = tensors[: len(inputs)], tensors[len(inputs) :]
            watched = [it for it in tensors if it.dtype.is_floating]
            with tf.GradientTape() as tape:
                tape.watch(watched)
                results = tf.nest.flatten(function(*tensors))
                results = [results[index] for index in floats]
            found = tape.gradient(results, watched, output_gradients=list(dy))
            return [tf.convert_to_tensor(it) for it in found if it is not None]

        try:
            self.compare("gradient", gradient, [*inputs, *seeds.values()])
        except LookupError:
            self.counts["no gradient"] += 1

    def compare(self, kind, function, inputs):
        """Calls the CPU, the device twice and the CPU in float64, and compares their results."""
        expected = self.call(function, inputs, CPU)
        found, again = (self.call(function, inputs, self.device) for _ in range(2))
        about = f"{kind} {R.last}"
        if kind == "gradient" and has_no_kernel(found) and not has_no_kernel(expected):
            self.missing.add(str(found).rpartition("[Op:")[2].partition("]")[0])
            return
        if has_no_kernel(expected):
            self.counts["no CPU kernel"] += 1
            expected = self.substitute(function, inputs, found)
            if expected is None:
                self.counts["alone"] += not isinstance(found, Exception)
                return
        if isinstance(expected, Exception) or isinstance(found, Exception):
            assert type(expected) is type(found), f"{about}: {first_line(found)}; the CPU: {first_line(expected)}"
            self.counts["errors"] += 1
            return
        self.counts["passed"] += 1
        assert [(it.dtype, it.shape) for it in found] == [(it.dtype, it.shape) for it in expected], f"{about}: {shapes(found)}, the CPU's {shapes(expected)}"
        if not self.op.startswith(SEEDED):
            assert all(map(same_bits, found, again)), f"{about}: the second call has other bits: {found} {again}"
        references = self.references(kind, function, inputs, expected)
        for index, (one, other) in enumerate(zip(found, expected)):
            self.compare_output(kind, f"{about}: output {index}", one, other, *(it[index] for it in references))

    def converted(self, function, inputs, change):
        """Returns the outputs of the CPU for inputs of another type; `None` if it has no kernel or raises an error."""
        outputs = self.call(function, [change(it) if it.dtype == self.dtype else it for it in map(np.asarray, inputs)], CPU)
        return None if isinstance(outputs, Exception) else outputs

    def widened(self, function, inputs, change=lambda it: it):
        """Returns the outputs of the CPU's kernel of a wider type, as float64; `None` if it has none."""
        for wide in (np.float64,) if self.name == "float64" else (np.float64, np.float32):
            outputs = self.converted(function, inputs, lambda it: change(it.astype(wide)))
            if outputs is not None:
                return [as_numbers(it) for it in outputs]
        return None

    def substitute(self, function, inputs, found):
        """Returns what a type without a kernel of the CPU would have: the outputs of another type, converted."""
        if isinstance(found, Exception):
            return None
        if np.dtype(self.dtype).kind == "c":
            parts = [self.converted(function, inputs, part) for part in (np.real, np.imag)]
            return None if None in parts else [np.stack(pair, -1).view(it.dtype)[..., 0] for *pair, it in zip(*parts, found)]
        for other in (np.float64, np.float32) if is_float(self.dtype) else (np.uint8,) if self.dtype == np.bool_ else (np.int64, np.int32):
            outputs = self.converted(function, inputs, lambda it: it.astype(other)) if self.name != "float64" else None
            if outputs is not None:
                with np.errstate(all="ignore"):
                    return [it.astype(one.dtype) for it, one in zip(outputs, found)]
        return None

    def references(self, kind, function, inputs, expected):
        """Returns the outputs in float64, if the CPU has such a kernel, and the units of their elements."""
        if not is_float(self.dtype) or self.entry.result != "close" and kind == "forward":
            return [None] * len(expected), [None] * len(expected)
        precise = self.widened(function, inputs)
        if precise is None or [it.shape for it in precise] != [it.shape for it in expected]:
            precise = [as_numbers(it) for it in expected]
        return precise, self.units(function, inputs, precise)

    def units(self, function, inputs, precise):
        if self.entry.unit == "terms":
            of = self.widened(function, inputs, np.abs)
            if of is not None:
                return [np.abs(it) for it in of]
        if self.entry.unit == "element":
            return [np.full(it.shape, self.floor()) for it in precise]
        return [np.full(it.shape, largest_element(it)) for it in precise]

    def floor(self):
        """Returns the magnitude below which errors of a function are absolute: the CPU's of float64 lose digits near 0."""
        if self.entry.limit <= 1:
            return 0.0
        return 1.0 if self.name == "float64" else 2.0**-26

    def compare_output(self, kind, about, found, expected, precise, unit):
        if self.entry.result == "bits" and kind == "forward":
            assert same_bits(found, expected), f"{about}: {first_difference(equal_bits(found, expected), found, expected)}"
        elif precise is None or not is_float(found.dtype):
            is_right = equal(found, expected) | self.deviates(found, expected)
            assert is_right.all(), f"{about}: {first_difference(is_right, found, expected)}"
        else:
            self.compare_numbers(kind, about, found.dtype, *map(as_numbers, (found, expected)), precise, unit)

    def deviates(self, found, expected):
        """Returns, for each element, whether the table accepts that the CPU's result is another one."""
        known = [accepts for accepts, _ in ops.DEVIATIONS.get(self.op, [])]
        with np.errstate(all="ignore"):
            return np.logical_or.reduce([np.broadcast_to(it(found, expected), found.shape) for it in known]) if known else False

    def compare_numbers(self, kind, about, dtype, found, expected, precise, unit):
        # A gradient is the result of several ops, each of which rounds; for float64 the CPU's is the only reference.
        unit = np.maximum(unit, largest_element(precise)) if kind == "gradient" else unit
        limit = self.entry.limit * (4 if kind == "gradient" else 1) * (16 if dtype == np.float64 else 1)
        for name, values in (("plugin", found), ("CPU", expected)):
            key = f"{kind} {name}"
            self.largest[key] = max(self.largest.get(key, 0), float(np.max(errors(values, precise, unit, dtype), initial=0)))
        is_right = accepted(found, expected, precise, unit, dtype, limit) | self.deviates(found, expected)
        assert is_right.all(), f"{about}: {first_difference(is_right, found, expected, precise)}"


def has_no_kernel(outcome):
    """Returns true for the error that a device has no kernel of the op and types."""
    return isinstance(outcome, Exception) and any(it in str(outcome) for it in NO_KERNEL)


def largest_element(array):
    """Returns the largest finite magnitude."""
    if array.dtype.kind != "f":
        return 0.0
    with np.errstate(all="ignore"):
        return np.max(np.abs(np.where(np.isfinite(array), array, 0)), initial=0)


def equal_bits(found, expected):
    """Returns, for each element, whether the bits are the same."""
    if found.dtype != expected.dtype or found.shape != expected.shape or found.dtype == object:
        return np.asarray(found == expected)
    as_bytes = lambda it: np.frombuffer(it.tobytes(), np.uint8).reshape(*it.shape, it.dtype.itemsize)
    return (as_bytes(found) == as_bytes(expected)).all(-1)


# Each call of these kernels has other numbers.
SEEDED = ("RandomUniform", "RandomStandardNormal", "TruncatedNormal", "Multinomial")


def first_line(outcome):
    return f"{type(outcome).__name__}: {str(outcome).splitlines()[0] if str(outcome) else ''}" if isinstance(outcome, Exception) else f"a result of {shapes(outcome)}"


def shapes(arrays):
    return [f"{it.dtype.name}{list(it.shape)}" for it in arrays]


def sweep(device, op, types, examples, last):
    """Returns a report of each type of an op."""
    tf.config.set_soft_device_placement(False)
    tf.get_logger().setLevel("ERROR")
    cells = [Cell(device, op, name, last) for name in types]
    for cell in cells:
        cell.sweep(examples)
    return [cell.report() for cell in cells]
