"""What a plugin changes in TensorFlow's Python for calls on its device type.

TensorFlow runs a function in eager mode by its name. If the function, or one that it calls, asks for XLA (`jit_compile=True`), a
copy without the request runs in its place; the original stays as it is. If a function of few nodes changes a variable by an
op that the plugin's graph optimizer has to replace, the optimizer runs for it too, as for each graph of few nodes in a session.

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
CALLS = CONTROL_FLOW.union(["PartitionedCall", "StatefulPartitionedCall", "SymbolicGradient", "For"])
# Stateful ops that change nothing.
READS = frozenset(["ReadVariableOp", "VarHandleOp"])
RESOURCE = 20
ARGUMENTS = "arguments_without_xla"
# TensorFlow optimizes no graph of fewer nodes.
MIN_GRAPH_NODES = 4


class Functions:
    """The functions of an eager context that were called on the device type."""

    def __init__(self):
        # A signal handler or finalizer may call a function while another is copied.
        self.lock = threading.RLock()
        self.context = None
        self.types = frozenset()
        self.is_default_type = False
        # For the name of each function: the name of the function to call, and whether it is optimized although it is small.
        self.calls = {}
        # The names of the functions that have a copy.
        self.copied = set()
        self.configs = {}

    def call(self, name, attrs, context):
        """Returns name and attributes of the function that runs in place of `name`."""
        if context is not self.context:
            self.restart(context)
        if not self.is_on_device(context.device_spec.device_type):
            return name, attrs
        found = self.calls.get(name)
        if found is None:
            with self.lock:
                found = self.calls[name] = self.calls.get(name) or self.new_call(name, context)
        name, is_small = found
        return name, self.with_small_graphs(attrs) if is_small else attrs

    def is_on_device(self, device_type):
        """Returns true if TensorFlow runs a function there on the device type, also since the process has no such type."""
        return device_type == DEVICE_TYPE or (device_type not in self.types and self.is_default_type)

    def new_call(self, name, context):
        try:
            closure = Closure(name, context, self.types - {DEVICE_TYPE})
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
            self.types = frozenset(device.device_type for device in context.list_logical_devices())
            # TensorFlow runs a function without a device on the first of the plugins' types by name, whose priority is above the
            # priority of CUDA devices.
            names = loaded("tensorflow.python.pywrap_tfe").TF_ListPluggablePhysicalDevices()
            types = {name.decode().split(":")[1] for name in names}
            self.is_default_type = DEVICE_TYPE == min(types & self.types, default=None)
            self.calls, self.copied = {}, set()
            self.context = context

    def remove(self, name, context):
        """Forgets a function that TensorFlow has removed, and removes its copy. Finalizers call it, so it takes no lock."""
        self.calls.pop(name, None)
        if name in self.copied:
            self.copied.discard(name)
            if context.has_function(name + SUFFIX):
                context.remove_function(name + SUFFIX)

    def with_small_graphs(self, attrs):
        """Returns the attributes of a call for which TensorFlow optimizes graphs of any size."""
        position = attrs.index("config_proto") + 1
        config = attrs[position]
        if config not in self.configs:
            proto = sys.modules["tensorflow.core.protobuf.config_pb2"].ConfigProto.FromString(config)
            self.configs[config] = optimizing_small_graphs(proto).SerializeToString()
        return attrs[:position] + (self.configs[config],) + attrs[position + 1 :]


class Closure:
    """A function and all that it calls on its own device, which is on none of `other_types`."""

    def __init__(self, name, context, other_types):
        self.name = name
        self.context = context
        self.other_types = other_types
        # The devices that nodes name, and whether they are of another type.
        self.elsewhere = {}
        self.definitions = {}
        names = [name]
        while names:
            name = names.pop()
            if name not in self.definitions:
                self.definitions[name] = definition = context.get_function_def(name)
                names.extend(self.called(definition))

    def called(self, definition):
        """Returns the functions that nodes call; a dataset's functions run on the CPU, and are not among them."""
        nodes = [node for node in definition.node_def if not self.is_elsewhere(node)]
        names = {node.op for node in nodes}
        for node in nodes:
            names.update(function.name for function in functions_of(node))
        # An attribute may name an op, or nothing.
        return [name for name in names if name and self.context.has_function(name)]

    def is_elsewhere(self, node):
        """Returns true if a node names a device of another type. XLA compiles what it calls there."""
        if node.device not in self.elsewhere:
            spec = loaded("tensorflow.python.framework.device_spec").DeviceSpecV2.from_string(node.device)
            self.elsewhere[node.device] = spec.device_type in self.other_types
        return self.elsewhere[node.device]

    def is_small_with(self, ops):
        """Returns true if TensorFlow does not optimize the function, and it has one of these ops."""
        definition = self.definitions[self.name]
        signature = definition.signature
        nodes = len(definition.node_def) + len(signature.input_arg) + len(signature.output_arg)
        return nodes < MIN_GRAPH_NODES and any(node.op in ops for node in definition.node_def)

    def ordinary_name(self):
        """Returns the name of a copy that does not ask for XLA, which it adds to the context, or the name if nothing asks."""
        if JIT_COMPILE != "ignore" or not any(map(self.asks_for_xla, self.definitions.values())):
            return self.name
        for definition in self.definitions.values():
            self.add_copy(definition)
        return self.name + SUFFIX

    def asks_for_xla(self, definition):
        """Returns true if a function, or a node that calls another on the device, asks for XLA."""
        nodes = (node for node in definition.node_def if not self.is_elsewhere(node))
        return has_request(definition) or any(map(has_request, nodes))

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
        if self.is_elsewhere(node):
            return
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
    found = [(node, ops.get(node.op)) for node in definition.node_def if node.op not in READS]
    nodes = [node for node, op in found if op is not None and op.is_stateful]
    if arguments and nodes:
        # One node that waits for all: an edge from each argument to each node would be too many.
        definition.node_def.add(name=ARGUMENTS, op="NoOp", input=arguments)
        for node in nodes:
            node.input.append("^" + ARGUMENTS)


def has_request(definition):
    return MUST_COMPILE in definition.attr and definition.attr[MUST_COMPILE].b


def remove(definition, *names):
    for name in names:
        if name in definition.attr:
            del definition.attr[name]


def functions_of(node):
    """Yields the functions that a node calls on its device."""
    for value in node.attr.values() if node.op in CALLS else ():
        if value.HasField("func"):
            yield value.func
        elif value.HasField("list"):
            yield from value.list.func


def optimizing_small_graphs(config):
    """Changes a configuration so that TensorFlow optimizes graphs of any size, unless it states a size."""
    options = config.graph_options.rewrite_options
    options.min_graph_nodes = options.min_graph_nodes or -1
    return config


def with_small_graphs_optimized(create):
    """Returns `create`, which returns the options of a session for a target and a configuration, for graphs of any size."""

    def create_options(target=None, config=None):
        changed = loaded("tensorflow.core.protobuf.config_pb2").ConfigProto()
        if config is not None:
            changed.CopyFrom(config)
        return create(target, optimizing_small_graphs(changed))

    return create_options


def install():
    """Replaces TensorFlow's functions that run an op or a function in eager mode, remove a function, create a session's options, or
    return the compiler's IR."""
    execute = loaded("tensorflow.python.eager.execute")
    context = loaded("tensorflow.python.eager.context").Context
    sessions = loaded("tensorflow.python.client.pywrap_tf_session")
    loaded("tensorflow.python.pywrap_tfe").TF_ListPluggablePhysicalDevices()
    check_shape(execute, context, sessions)
    functions = Functions()
    # TensorFlow assigns `quick_execute` to `execute` again when a debugger ends.
    execute.quick_execute = execute.execute = with_calls_replaced(execute.quick_execute, functions)
    execute.execute_with_cancellation = with_calls_replaced(execute.execute_with_cancellation, functions)
    context.remove_function = with_copies_removed(context.remove_function, functions)
    sessions.TF_NewSessionOptions = with_small_graphs_optimized(sessions.TF_NewSessionOptions)
    if JIT_COMPILE == "ignore" and hasattr(context, "get_compiler_ir"):
        context.get_compiler_ir = with_ir_of_cpu(context.get_compiler_ir)


def with_calls_replaced(run, functions):
    """Returns `run`, an `execute` of TensorFlow, with another function in place of one that asks for XLA."""
    errors = loaded("tensorflow.python.framework.errors_impl")

    def run_function(op_name, num_outputs, inputs, attrs, ctx, *arguments, **keywords):
        # Only the call of a function has these two attributes and no other. An op without attributes has `None`.
        if not (attrs and len(attrs) == 4 and "config_proto" in attrs[::2]):
            return run(op_name, num_outputs, inputs, attrs, ctx, *arguments, **keywords)
        name, attrs = functions.call(op_name, attrs, ctx)
        try:
            return run(name, num_outputs, inputs, attrs, ctx, *arguments, **keywords)
        except errors.OpError as error:
            # TensorFlow finds the lines of a node in the program by the name of its function.
            error._message = error._message.replace(SUFFIX, "")
            raise

    return run_function


def with_copies_removed(run, functions):
    """Returns `run`, a method of the context that removes a function, which then removes the function's copy."""

    def remove_function(self, name):
        run(self, name)
        name = name.decode() if isinstance(name, bytes) else name
        if self is functions.context and not self.has_function(name):
            functions.remove(name, self)

    return remove_function


def with_ir_of_cpu(run):
    """Returns `run`, a method of the context that returns the compiler's IR, with the CPU in place of the device type."""

    def get_compiler_ir(self, device_name, *arguments, **keywords):
        # Without an argument TensorFlow passes the device of a new tensor.
        if device_name and "/device:%s:" % DEVICE_TYPE in device_name:
            device_name = "/job:localhost/replica:0/task:0/device:CPU:0"
        return run(self, device_name, *arguments, **keywords)

    return get_compiler_ir


def loaded(name):
    module = sys.modules.get(name)
    if module is None:
        raise LookupError("%s is not loaded" % name)
    return module


def check_shape(execute, context, sessions):
    """Raises an error if TensorFlow's functions are none that this text was written for."""
    parameters = ("op_name", "num_outputs", "inputs", "attrs", "ctx")
    for name in ("quick_execute", "execute", "execute_with_cancellation"):
        if getattr(execute, name).__code__.co_varnames[:5] != parameters:
            raise TypeError("execute.%s has other parameters" % name)
    if not hasattr(sessions, "TF_NewSessionOptions"):
        raise AttributeError("pywrap_tf_session.TF_NewSessionOptions is absent")
    methods = "device_spec list_logical_devices get_function_def add_function_def has_function remove_function"
    for name in methods.split():
        if not hasattr(context, name):
            raise AttributeError("Context.%s is absent" % name)
