"""What a plugin changes in TensorFlow's Python for calls on its device type.

TensorFlow runs a function in eager mode by its name. If the function, or one that it calls, asks for XLA (`jit_compile=True`), a
copy without the request runs in its place; the original stays as it is. If a function of few nodes changes a variable by an
op that the plugin's graph optimizer has to replace, the optimizer runs for it too.

The plugin runs this text once, with the globals DEVICE_TYPE, JIT_COMPILE (`ignore` or `error`) and REPLACED_OPS: the names of the
ops that the graph optimizer replaces, separated by spaces.
"""

import sys
import threading

# The end of the names of copies.
SUFFIX = "_without_xla"
MUST_COMPILE = "_XlaMustCompile"
# Bodies of functions that XLA compiles are traced without it. With it, the ops of a branch or loop are placed one by one.
LOWER = "_lower_using_switch_merge"
CONTROL_FLOW = frozenset(["If", "StatelessIf", "While", "StatelessWhile", "Case", "StatelessCase"])
# Stateful ops that change nothing.
READS = frozenset(["ReadVariableOp", "VarHandleOp"])
RESOURCE = 20
# TensorFlow optimizes no graph of fewer nodes.
MIN_GRAPH_NODES = 4


class Functions:
    """The functions of an eager context that were called on the device type."""

    def __init__(self):
        self.lock = threading.Lock()
        self.context = None
        self.is_default_type = False
        # For the name of each function: the name of the function to call, and whether it is optimized although it is small.
        self.calls = {}
        # The names of the functions that have a copy.
        self.copied = set()
        self.limit = 64
        self.configs = {}

    def call(self, name, attrs, context):
        """Returns name and attributes of the function that runs in place of `name`."""
        if context is not self.context:
            self.restart(context)
        device_type = context.device_spec.device_type
        if not (self.is_default_type if device_type is None else device_type == DEVICE_TYPE):
            return name, attrs
        found = self.calls.get(name)
        if found is None:
            with self.lock:
                found = self.calls[name] = self.new_call(name, context)
                self.remove_unused(context)
        name, is_small = found
        return name, self.with_small_graphs(attrs) if is_small else attrs

    def new_call(self, name, context):
        try:
            closure = Closure(name, context)
            call = closure.ordinary_name(), closure.is_small_with(REPLACED_OPS.split())
        except Exception:
            # TensorFlow runs the function, or reports what is wrong with it.
            return name, False
        if call[0] != name:
            self.copied.update(closure.definitions)
        return call

    def restart(self, context):
        """Forgets the functions of another context."""
        with self.lock:
            # TensorFlow runs a function without a device on the first type by name, since all plugins' types have one priority.
            types = {device.device_type for device in context.list_logical_devices()}
            types = [name for name in types if name != "CPU" and not name.startswith("XLA_")]
            self.is_default_type = DEVICE_TYPE == min(types, default=None)
            self.calls, self.copied = {}, set()
            self.context = context

    def remove_unused(self, context):
        """Removes copies whose original TensorFlow has removed, whenever the number of functions has doubled."""
        if len(self.calls) < self.limit:
            return
        for name in [name for name in self.calls if not context.has_function(name)]:
            del self.calls[name]
        for name in [name for name in self.copied if not context.has_function(name)]:
            self.copied.remove(name)
            if context.has_function(name + SUFFIX):
                context.remove_function(name + SUFFIX)
        self.limit = 2 * len(self.calls) + 64

    def with_small_graphs(self, attrs):
        """Returns the attributes of a call for which TensorFlow optimizes graphs of any size."""
        position = attrs.index("config_proto") + 1
        config = attrs[position]
        if config not in self.configs:
            proto = sys.modules["tensorflow.core.protobuf.config_pb2"].ConfigProto.FromString(config)
            options = proto.graph_options.rewrite_options
            options.min_graph_nodes = options.min_graph_nodes or -1
            self.configs[config] = proto.SerializeToString()
        return attrs[:position] + (self.configs[config],) + attrs[position + 1 :]


class Closure:
    """A function and all that it calls."""

    def __init__(self, name, context):
        self.name = name
        self.context = context
        self.definitions = {}
        names = [name]
        while names:
            name = names.pop()
            if name not in self.definitions:
                self.definitions[name] = definition = context.get_function_def(name)
                names.extend(self.called(definition))

    def called(self, definition):
        names = {node.op for node in definition.node_def}
        for node in definition.node_def:
            names.update(function.name for function in functions_of(node))
        # An attribute may name an op, or nothing.
        return [name for name in names if name and self.context.has_function(name)]

    def is_small_with(self, ops):
        """Returns true if TensorFlow does not optimize the function, and it has one of these ops."""
        definition = self.definitions[self.name]
        signature = definition.signature
        nodes = len(definition.node_def) + len(signature.input_arg) + len(signature.output_arg)
        return nodes < MIN_GRAPH_NODES and any(node.op in ops for node in definition.node_def)

    def ordinary_name(self):
        """Returns the name of a copy that does not ask for XLA, which it adds to the context, or the name if nothing asks."""
        if JIT_COMPILE != "ignore" or not any(map(asks_for_xla, self.definitions.values())):
            return self.name
        for definition in self.definitions.values():
            self.add_copy(definition)
        return self.name + SUFFIX

    def add_copy(self, definition):
        """Adds the copy of a function to the context, which may have it from another plugin."""
        name = definition.signature.name + SUFFIX
        if self.context.has_function(name):
            return
        copy = type(definition)()
        copy.CopyFrom(definition)
        copy.signature.name = name
        if has_request(copy):
            # Only for XLA the function is not inlined.
            remove(copy, MUST_COMPILE, "_noinline")
            order_after_arguments(copy)
        for node in copy.node_def:
            self.change(node)
        self.context.add_function_def(copy)

    def change(self, node):
        remove(node, MUST_COMPILE)
        if node.op in CONTROL_FLOW and LOWER not in node.attr:
            node.attr[LOWER].b = True
        if node.op in self.definitions:
            node.op += SUFFIX
        for function in functions_of(node):
            if function.name in self.definitions:
                function.name += SUFFIX


def order_after_arguments(definition):
    """Makes each node that changes a state wait for the arguments, as a compiled function does, also when it is inlined.

    Else a step of Keras counts a batch although the iterator has none: the function of the step asks for XLA, the one around it,
    which reads the iterator, does not.
    """
    arguments = ["^" + it.name for it in definition.signature.input_arg if it.type != RESOURCE]
    ops = loaded("tensorflow.python.framework.op_def_registry")
    for node in definition.node_def:
        found = ops.get(node.op)
        if found is not None and found.is_stateful and node.op not in READS:
            node.input.extend(arguments)


def asks_for_xla(definition):
    """Returns true if a function, or one of its nodes that call others, asks for XLA."""
    return has_request(definition) or any(map(has_request, definition.node_def))


def has_request(definition):
    return MUST_COMPILE in definition.attr and definition.attr[MUST_COMPILE].b


def remove(definition, *names):
    for name in names:
        if name in definition.attr:
            del definition.attr[name]


def functions_of(node):
    """Yields the functions that are attributes of a node."""
    for value in node.attr.values():
        if value.HasField("func"):
            yield value.func
        elif value.HasField("list"):
            yield from value.list.func


def install():
    """Replaces TensorFlow's functions that run an op or a function in eager mode."""
    execute = loaded("tensorflow.python.eager.execute")
    check_shape(execute, loaded("tensorflow.python.eager.context").Context)
    functions = Functions()

    def replace(*names):
        run = getattr(execute, names[0])

        def run_function(op_name, num_outputs, inputs, attrs, ctx, *arguments, **keywords):
            # Only the call of a function has these two attributes and no other. An op without attributes has `None`.
            if attrs and len(attrs) == 4 and "config_proto" in attrs:
                op_name, attrs = functions.call(op_name, attrs, ctx)
            return run(op_name, num_outputs, inputs, attrs, ctx, *arguments, **keywords)

        for name in names:
            setattr(execute, name, run_function)

    # TensorFlow assigns `quick_execute` to `execute` again when a debugger ends.
    replace("quick_execute", "execute")
    replace("execute_with_cancellation")


def loaded(name):
    module = sys.modules.get(name)
    if module is None:
        raise LookupError("%s is not loaded" % name)
    return module


def check_shape(execute, context):
    """Raises an error if TensorFlow's functions are none that this text was written for."""
    parameters = ("op_name", "num_outputs", "inputs", "attrs", "ctx")
    for name in ("quick_execute", "execute", "execute_with_cancellation"):
        if getattr(execute, name).__code__.co_varnames[:5] != parameters:
            raise TypeError("execute.%s has other parameters" % name)
    methods = "device_spec list_logical_devices get_function_def add_function_def has_function remove_function"
    for name in methods.split():
        if not hasattr(context, name):
            raise AttributeError("Context.%s is absent" % name)
