"""Reads of the variables of TensorFlow 1 that are references follow a control dependency.

Such a variable is on the CPU. What a program reads is one node for all of its ops, without control inputs. On the CPU the node's result
is the variable's own memory, so that an op which waits for an assignment sees the new value; on another device the op gets a copy, which
may be older. With this text a read under a control dependency is a node of its own, which waits as well.

The plugin runs this text once.
"""

import functools
import sys


def class_of_variables():
    module = sys.modules.get("tensorflow.python.ops.ref_variable") or sys.modules["tensorflow.python.ops.variables"]
    return module.RefVariable


def waits(ops, variable):
    """Returns true if an op that reads the variable here would wait for another one."""
    graph = ops.get_default_graph()
    return variable.graph is graph and bool(graph._control_dependencies_for_inputs([variable]))


def with_own_read(value):
    """Returns the method that returns a variable's value, changed so that it reads the variable under a control dependency."""
    ops = sys.modules["tensorflow.python.framework.ops"]
    array_ops = sys.modules["tensorflow.python.ops.array_ops"]
    context = sys.modules["tensorflow.python.eager.context"]

    @functools.wraps(value)
    def value_after_dependencies(self):
        if context.executing_eagerly() or not waits(ops, self._variable):
            return value(self)
        with ops.name_scope(self.op.name + "/"), ops.colocate_with(self.op):
            return array_ops.identity(self._variable, name="read")

    return value_after_dependencies


def install():
    variables = class_of_variables()
    # An error here leaves TensorFlow as it is.
    sys.modules["tensorflow.python.framework.ops"].Graph._control_dependencies_for_inputs
    variables.value = with_own_read(variables.value)
