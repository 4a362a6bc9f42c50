"""Ops of variables in eager mode, in TensorFlow 2.19 to 2.21, where no kernel of a plugin can use a variable.

If the kernel of an op is the plugin's error, the op is replaced from then on for variables of that type: the sum or difference with the
value by three ops, any other op by a function of it, in which the plugin's graph optimizer replaces the op. A lock orders the
updates of several threads in eager mode; no lock orders them with those of a function that runs at the same time.

The plugin runs this text once, with the globals DEVICE_TYPE, REPLACED_OPS: the names of the ops that its graph optimizer replaces,
separated by spaces, and REJECTED: a part of the message of the plugin's error.
"""

import functools
import inspect
import re
import sys
import threading

MODULES = ("gen_resource_variable_ops", "gen_state_ops", "gen_array_ops", "gen_stateful_random_ops")
# The modules that replace an op. Up to 2.12 TensorFlow lacks one of them.
USED = (
    "eager.context", "eager.execute", "eager.record", "eager.polymorphic_function.polymorphic_function",
    "framework.dtypes", "framework.errors_impl", "framework.op_def_registry", "framework.ops", "framework.tensor",
    "ops.gen_array_ops", "ops.gen_math_ops", "ops.gen_resource_variable_ops",
)
SUMS = {"AssignAddVariableOp": False, "AssignSubVariableOp": True}
# Ops of rows, whose update may be one number for all, and whose indices may be one number.
ROWS = tuple("ResourceScatter" + it for it in ("Add", "Sub", "Mul", "Div", "Min", "Max", "Update"))


class VariableOp:
    """An op of a variable, and what replaces it."""

    lock = threading.RLock()

    def __init__(self, name, module, function_name):
        self.name, self.module, self.function_name = name, module, function_name
        self.run = getattr(module, function_name)
        # For an op of a random generator, whose other inputs have types of their own.
        self.changes_state = module is tensorflow("ops.gen_stateful_random_ops")
        self.signature = inspect.signature(self.run)
        self.variable = next(iter(self.signature.parameters))
        # For each type of variables that the op was called with: whether its kernel is the plugin's error.
        self.is_rejected = {}
        self.functions = {}
        self.installed = functools.wraps(self.run)(functools.partial(self.call))
        setattr(module, function_name, self.installed)

    def call(self, *arguments, **keywords):
        resource = arguments[0] if arguments else keywords.get(self.variable)
        if not tensorflow("eager.context").executing_eagerly():
            # The graph optimizer replaces the op of a node.
            return self.run(**self.bound(arguments, keywords))
        if not is_on_device(resource):
            return self.run(*arguments, **keywords)
        dtype = dtype_of(resource)
        is_rejected = self.is_rejected.get(dtype)
        if is_rejected is None:
            return self.first_call(dtype, arguments, keywords)
        if not is_rejected:
            return self.run(*arguments, **keywords)
        return self.replace(arguments, keywords)

    def first_call(self, dtype, arguments, keywords):
        """Runs the op, and replaces it if its kernel is the plugin's error."""
        context = tensorflow("eager.context")
        try:
            # An asynchronous error would come from another op.
            with context.execution_mode(context.SYNC):
                result = self.run(*arguments, **keywords)
        except tensorflow("framework.errors_impl").UnimplementedError as error:
            if dtype is None or REJECTED not in str(error) or not self.replaces(dtype):
                raise
            self.is_rejected[dtype] = True
            return self.replace(arguments, keywords)
        if dtype is not None:
            self.accept(dtype)
        return result

    def accept(self, dtype):
        self.is_rejected[dtype] = False

    def replaces(self, dtype):
        return True

    def bound(self, arguments, keywords):
        """Returns the arguments by name. The ops that replace those of rows want a vector of indices and an update for each."""
        bound = self.signature.bind(*arguments, **keywords).arguments
        if self.name in ROWS:
            bound["indices"] = convert(bound["indices"], None)
            bound["updates"] = convert(bound["updates"], dtype_of(bound[self.variable]))
            if 0 in (bound["indices"].shape.rank, bound["updates"].shape.rank):
                bound["indices"], bound["updates"] = updates_of_rows(bound[self.variable], bound["indices"], bound["updates"])
        return bound

    def replace(self, arguments, keywords):
        resource = arguments[0] if arguments else keywords[self.variable]
        with self.lock, tensorflow("framework.ops").device(resource.device):
            bound = self.bound(arguments, keywords)
            bound.pop("name", None)
            return self.call_function(bound)

    def call_function(self, arguments):
        """Calls a function of the op, whose tensors are the function's arguments."""
        definition = tensorflow("framework.op_def_registry").get(self.name)
        elements = None if self.changes_state else dtype_of(arguments[self.variable])
        tensors = {it.name: convert(arguments[it.name], dtype_of_input(it, elements)) for it in definition.input_arg}
        attributes = {name: value for name, value in arguments.items() if name not in tensors}
        with tensorflow("eager.record").stop_recording():
            result = self.function(attributes)(**tensors)
        # The op has the gradient, not the function.
        attrs = tuple(item for pair in attributes.items() for item in pair)
        results = [] if result is None else [result]
        tensorflow("eager.execute").record_gradient(self.name, list(tensors.values()), attrs, results)
        return result

    def function(self, attributes):
        key = tuple(sorted(attributes.items()))
        if key not in self.functions:

            def op(**tensors):
                result = self.run(**tensors, **attributes)
                return result if isinstance(result, tensorflow("framework.tensor").Tensor) else None

            function = tensorflow("eager.polymorphic_function.polymorphic_function").function
            self.functions[key] = function(op, autograph=False, reduce_retracing=True)
            # The detector takes the functions of all ops as one, since they have one code.
            self.functions[key]._omit_frequent_tracing_warning = True
        return self.functions[key]


class SumOp(VariableOp):
    """An op that adds to a variable or subtracts from it. Each step of a training loop has some, so three ops replace it, no function."""

    def replaces(self, dtype):
        return not dtype.is_bool

    def accept(self, dtype):
        """Leaves the op to TensorFlow: a device has core's kernels for all types, or for none."""
        super().accept(dtype)
        if getattr(self.module, self.function_name) is self.installed:
            setattr(self.module, self.function_name, self.run)

    def replace(self, arguments, keywords):
        return self.change(*arguments, **keywords)

    def change(self, resource, value, name=None):
        """Assigns the sum or difference of the variable's value and another. `add_n` rejects other shapes, as the op does."""
        variables, dtype = tensorflow("ops.gen_resource_variable_ops"), dtype_of(resource)
        # As the op, this has no gradient. A tape would hold each value of the variable.
        with self.lock, tensorflow("framework.ops").device(resource.device), tensorflow("eager.record").stop_recording():
            value = convert(value, dtype)
            value = negative(value) if SUMS[self.name] else value
            before = variables.read_variable_op(resource, dtype)
            return variables.assign_variable_op(resource, tensorflow("ops.gen_math_ops").add_n([before, value]))


def updates_of_rows(resource, indices, updates):
    """Returns a vector of the indices and an update for each."""
    arrays, shape_of = tensorflow("ops.gen_array_ops"), tensorflow("ops.gen_resource_variable_ops").variable_shape
    indices = arrays.reshape(indices, [-1])
    row = arrays.strided_slice(shape_of(resource), [1], [0], [1], end_mask=1)
    return indices, arrays.broadcast_to(updates, arrays.concat_v2([arrays.shape(indices), row], 0))


def dtype_of_input(definition, elements):
    """Returns the type of an input, or `None` for any type. `elements` is the type of the inputs `dtype` and `T`, or `None`."""
    if definition.type:
        return tensorflow("framework.dtypes").as_dtype(definition.type)
    return elements if definition.type_attr in ("dtype", "T") else None


def convert(value, dtype):
    return tensorflow("framework.ops").convert_to_tensor(value, dtype=dtype)


def negative(value):
    """Returns the number that wraps to the difference if it is added; `Neg` has no unsigned types."""
    if value.dtype.is_integer and value.dtype.is_unsigned:
        return tensorflow("ops.gen_math_ops").sub(tensorflow("ops.gen_array_ops").zeros_like(value), value)
    return tensorflow("ops.gen_math_ops").neg(value)


def is_on_device(resource):
    """Returns true for the handle of a variable on the device type; a handle in a graph is left to the optimizer."""
    is_eager = isinstance(resource, tensorflow("framework.ops").EagerTensor)
    return is_eager and "/device:%s:" % DEVICE_TYPE in resource.device


def dtype_of(resource):
    """Returns the type of the variable, or `None` if the handle does not state it."""
    data = getattr(resource, "_handle_data", None)
    if data is None or not data.is_set:
        return None
    return tensorflow("framework.dtypes").as_dtype(data.shape_and_type[0].dtype)


def tensorflow(name):
    module = sys.modules.get("tensorflow.python." + name)
    if module is None:
        raise LookupError("tensorflow.python.%s is not loaded" % name)
    return module


def install():
    """Replaces the functions in Python that run these ops."""
    for name in USED:
        tensorflow(name)
    for name in REPLACED_OPS.split():
        function_name = re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
        modules = [tensorflow("ops." + module) for module in MODULES]
        module = next((it for it in modules if hasattr(it, function_name)), None)
        if module is None:
            raise AttributeError("no module has %s" % function_name)
        (SumOp if name in SUMS else VariableOp)(name, module, function_name)
