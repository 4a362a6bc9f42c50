"""Ops that stay on the CPU, if the plugin's devices have the type GPU.

Core has kernels of type GPU for these ops or for those that use their results, so that both are placed on the plugin's device:

- the counter of a dataset of the tf.data service, from 2.18 on, where the dataset follows it. An iterator of it on a plugin's device ends the
  process in 2.18; later the elements cannot be copied to the device;
- the op that calls a module of XLA, as functions of JAX in TensorFlow and Keras's layers of JAX do: core's kernel finds no compiler for
  the device. Graphs that are imported, as those of a saved model, have such nodes too;
- in a build with CUDA the variables that are references and the tensor arrays of TensorFlow 1. The ops that use them are placed where
  they are, and only core can compute these;
- in a build with CUDA from 2.19 to 2.21, where no kernel of a plugin can use a variable, the ops that change one, in a graph of a
  session. Their variables follow them, as in a build for the CPU. In functions the plugin's optimizer replaces the ops.

The functions that create them place them so in the whole process, whatever device a program names.

The plugin runs this text once, with the globals CUDA_BUILD: `1`, or an empty text, and REPLACED_OPS: the names of the ops that its
graph optimizer replaces, empty if kernels of a plugin can use variables.
"""

import functools
import sys

DATASETS, XLA, DATA_FLOW = "python.ops.gen_experimental_dataset_ops", "compiler.tf2xla.ops.gen_xla_ops", "python.ops.gen_data_flow_ops"
STATE = "python.ops.gen_state_ops"
OPS = ((DATASETS, "dummy_iteration_counter"), (XLA, "xla_call_module"))
OPS_OF_CUDA_BUILD = ((STATE, "variable"), (STATE, "variable_v2"), (DATA_FLOW, "tensor_array_v3"))
# The ops of imported nodes that are placed.
IMPORTED_OPS = ("XlaCallModule",)
CPU = "/device:CPU:0"
# The modules of the ops that change variables, and the beginnings of their names.
UPDATES = ("python.ops.gen_training_ops", "python.ops.gen_resource_variable_ops", STATE, "python.ops.gen_array_ops")
BEGINNINGS = ("resource_apply_", "resource_sparse_apply_", "resource_scatter_", "resource_strided_slice_assign")


def in_any_case():
    return True


def in_graph_of_session():
    context = sys.modules["tensorflow.python.eager.context"]
    ops = sys.modules["tensorflow.python.framework.ops"]
    return not context.executing_eagerly() and not ops.get_default_graph().building_function


def on_cpu(create, is_placed):
    """Returns the function that creates the op on the CPU where `is_placed` returns true."""
    ops = sys.modules["tensorflow.python.framework.ops"]

    @functools.wraps(create)
    def create_on_cpu(*arguments, **keywords):
        if not is_placed():
            return create(*arguments, **keywords)
        with ops.device(CPU):
            return create(*arguments, **keywords)

    return create_on_cpu


def placed_functions():
    """Returns the modules and names of the functions that place their op, each with the function that returns whether it does so.

    A release may lack some.
    """
    found = [(module_of(module), name, in_any_case) for module, name in OPS + (OPS_OF_CUDA_BUILD if CUDA_BUILD else ())]
    if CUDA_BUILD and REPLACED_OPS:
        for module in map(module_of, UPDATES):
            names = [name for name in vars(module) if name.startswith(BEGINNINGS) and not name.endswith("_fallback")]
            found += [(module, name, in_graph_of_session) for name in names]
    return found


def module_of(name):
    return sys.modules.get("tensorflow." + name)


def nodes_of(graph):
    """Yields the nodes of a graph and of its functions."""
    yield from graph.node
    for function in graph.library.function:
        yield from function.node_def


def imported_on_cpu(prepare):
    """Returns the function that prepares a graph for its import, with nodes placed on the CPU."""

    @functools.wraps(prepare)
    def prepare_on_cpu(*arguments, **keywords):
        graph = prepare(*arguments, **keywords)
        if any(node.op in IMPORTED_OPS for node in nodes_of(graph)):
            # TensorFlow may return the caller's own graph.
            caller_graph, graph = graph, type(graph)()
            graph.CopyFrom(caller_graph)
            for node in nodes_of(graph):
                if node.op in IMPORTED_OPS:
                    node.device = CPU
        return graph

    return prepare_on_cpu


def install():
    found = [it for it in placed_functions() if hasattr(it[0], it[1])]
    created = [on_cpu(getattr(module, name), is_placed) for module, name, is_placed in found]
    importer = module_of("python.framework.importer")
    # All that may fail is before the first change.
    prepare = imported_on_cpu(importer._ProcessGraphDefParam)
    for (module, name, _), function in zip(found, created):
        setattr(module, name, function)
    importer._ProcessGraphDefParam = prepare
