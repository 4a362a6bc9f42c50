"""Variables: those of resources, of references, and of lists of tensors."""

import numpy as np
import tensorflow as tf

from .call import new_name, R
from .lists import filled_list, lists_of_rows, stack
from .registry import case, graph


@case("VarHandleOp", "_VarHandlesOp", "AssignVariableOp", "ReadVariableOp", "VariableShape", "VarIsInitializedOp")
def variable(call):
    handle = call.handle(np.zeros([3, 4], np.float32))
    before = R.ReadVariableOp(resource=handle, dtype=tf.float32)
    R.AssignVariableOp(resource=handle, value=call.floats())
    R.AssignVariableOp(resource=handle, value=call.floats(2.0) * R.ReadVariableOp(resource=handle, dtype=tf.float32))
    after = R.ReadVariableOp(resource=handle, dtype=tf.float32)
    return [before, after, R.VariableShape(input=handle), R.VarIsInitializedOp(resource=handle)]


def changes(op):
    def change(call):
        handle = call.handle()
        before = R.ReadVariableOp(resource=handle, dtype=tf.float32)
        op(resource=handle, value=call.floats(3.0))
        op(resource=handle, value=call.floats())
        return [before, R.ReadVariableOp(resource=handle, dtype=tf.float32)]

    return change


case("AssignAddVariableOp")(changes(R.AssignAddVariableOp))
case("AssignSubVariableOp")(changes(R.AssignSubVariableOp))


@case("DisableCopyOnRead")
def disable_copy_on_read(call):
    handle = call.handle()
    if hasattr(R, "DisableCopyOnRead"):
        R.DisableCopyOnRead(resource=handle)
    R.AssignVariableOp(resource=handle, value=call.floats(2.0))
    return R.ReadVariableOp(resource=handle, dtype=tf.float32)


@case("DestroyResourceOp", modes=("eager",))
def destroy(call):
    handle = R.VarHandleOp(dtype=tf.float32, shape=[3, 4], shared_name=new_name("destroyed"))
    R.AssignVariableOp(resource=handle, value=call.floats())
    R.DestroyResourceOp(resource=handle)
    return R.VarIsInitializedOp(resource=handle)


@case("_ReadVariablesOp", modes=("function",))
def read_variables(call):
    handles = [call.handle(), call.handle()]
    return [R.ReadVariableOp(resource=handle, dtype=tf.float32) for handle in handles]


@graph("Variable", "VariableV2", "IsVariableInitialized", "RefIdentity")
def reference_variable(call):
    reference = call.reference()
    return [R.RefIdentity(input=reference) + 0.0, R.IsVariableInitialized(ref=reference)]


@graph("TemporaryVariable", "DestroyTemporaryVariable")
def temporary(call):
    reference = R.TemporaryVariable(shape=[3, 4], dtype=tf.float32, var_name="temporary")
    assigned = R.Assign(ref=reference, value=call.floats())
    return R.DestroyTemporaryVariable(ref=assigned, var_name="temporary")


@graph("RefSwitch", "RefMerge")
def reference_switch(call):
    no, yes = R.RefSwitch(data=call.reference(), pred=call.tensor(True))
    return R.RefMerge(inputs=[no, yes])[0] + 0.0


@graph("RefEnter", "RefExit", "RefNextIteration")
def reference_loop(call):
    entered = R.RefEnter(data=call.reference(), frame_name="frame")
    return R.RefExit(data=entered) + 0.0


def list_variable(call):
    """Returns the handle of a variable whose elements are lists of tensors."""
    with tf.init_scope():
        lists = lists_of_rows()
    return call.handle(lists)


@case("ResourceGather")
def gather_lists(call):
    row = R.ResourceGather(resource=list_variable(call), indices=call.tensor(np.int32(1)), dtype=tf.variant)
    return stack(call, row)


@case("ResourceScatterUpdate")
def scatter_lists(call):
    handle = list_variable(call)
    R.ResourceScatterUpdate(resource=handle, indices=call.tensor(np.int32(1)), updates=filled_list(call))
    return stack(call, R.ResourceGather(resource=handle, indices=call.tensor(np.int32(1)), dtype=tf.variant))
