"""Calls of the ops for which TensorFlow registers kernels of device type DEFAULT.

A case is a function of a `Call`, which makes tensors on the device under test; it returns the tensors to compare.
"""

import itertools

import numpy as np
import tensorflow as tf

R = tf.raw_ops
V1 = tf.compat.v1

FLOATS = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
INTEGERS = np.array([5, 3, 8, 1], np.int32)

# Name -> (function, modes): eager mode, a tf.function, or a graph of TensorFlow 1 in a session.
CASES = {}
# Name -> reason why the op is not called.
UNCALLED = {}


def case(*ops, modes=("eager", "function")):
    """Registers a function as the case of each op."""

    def register(function):
        function.case = ops[0]
        for op in ops:
            CASES[op] = (function, modes)
        return function

    return register


def name(function):
    """Returns the name of a case: the first of its ops."""
    return function.case


def graph(*ops):
    """Registers a case that only a graph of TensorFlow 1 can have."""
    return case(*ops, modes=("session",))


def uncalled(reason, *ops):
    """States why there is no case of these ops."""
    UNCALLED.update(dict.fromkeys(ops, reason))


class Call:
    """The tensors of a case: results of computations that an asynchronous device may not have finished."""

    def tensor(self, value):
        """Returns a tensor with this value, which is not negative, on the device."""
        with tf.init_scope():
            constant = tf.constant(value)
        # The kernel of the reference device for Relu returns before its work is done.
        return R.Relu(features=constant) if constant.dtype == tf.float32 else constant

    def floats(self, factor=1.0):
        return self.tensor(np.float32(factor) * FLOATS)

    def integers(self):
        return self.tensor(INTEGERS)

    def handle(self, value=FLOATS):
        """Returns the handle of a new variable. A tf.function may not create a tf.Variable each time it is traced."""
        with tf.init_scope():
            value = tf.convert_to_tensor(value)
            handle = R.VarHandleOp(dtype=value.dtype, shape=value.shape, shared_name=new_name("variable"))
            R.AssignVariableOp(resource=handle, value=value)
        return handle


def new_name(prefix):
    """Returns a name that no other resource of this process has."""
    return f"{prefix}_{next(NUMBERS)}"


NUMBERS = itertools.count()


class SessionCall(Call):
    """The tensors of a case in a graph of TensorFlow 1."""

    def tensor(self, value):
        constant = V1.placeholder_with_default(tf.constant(value), np.shape(value))
        return R.Relu(features=constant) if constant.dtype == tf.float32 else constant

    def reference(self, value=FLOATS):
        """Returns a reference to a new variable that has this value."""
        variable = R.VariableV2(shape=value.shape, dtype=value.dtype)
        return R.Assign(ref=variable, value=self.tensor(value))


def function_of(body, *specs):
    return tf.function(body).get_concrete_function(*specs)


def spec(*shape, dtype=tf.float32):
    return tf.TensorSpec(shape, dtype)


for _op in ("Add AddV2 Sub Mul Div FloorDiv FloorMod Mod TruncateMod Maximum Minimum SquaredDifference Equal NotEqual "
            "Less LessEqual Greater GreaterEqual").split():
    case(_op)(lambda call, op=_op: getattr(R, op)(x=call.integers(), y=call.tensor(np.int32([2, 3, 9, 1]))))
for _op in "Abs Neg Sign Square OnesLike ZerosLike".split():
    case(_op)(lambda call, op=_op: getattr(R, op)(x=call.integers()))
for _op in "Identity StopGradient PreventGradient DeepCopy DebugGradientIdentity".split():
    _argument = "x" if _op == "DeepCopy" else "input"
    _make = Call.integers if _op == "DeepCopy" else Call.floats
    case(_op)(lambda call, op=_op, argument=_argument, make=_make: getattr(R, op)(**{argument: make(call)}))
for _op in "Rank Shape Size".split():
    case(_op)(lambda call, op=_op: [getattr(R, op)(input=call.floats()), getattr(R, op)(input=call.integers())])
for _op in "Max Min".split():
    case(_op)(lambda call, op=_op: getattr(R, op)(input=call.integers(), axis=call.tensor(np.int32([0]))))
for _op in "InplaceAdd InplaceSub InplaceUpdate".split():
    case(_op)(lambda call, op=_op: getattr(R, op)(x=call.tensor(np.int32([[1, 2], [3, 4]])), i=call.tensor(np.int32([1])), v=call.tensor(np.int32([[7, 8]]))))

case("AddN")(lambda call: [
    R.AddN(inputs=[call.integers()] * 3),
    stack(call, R.AddN(inputs=[filled_list(call), filled_list(call)])),
])
case("BroadcastArgs")(lambda call: R.BroadcastArgs(s0=call.tensor(np.int32([3, 1])), s1=call.tensor(np.int32([4]))))
case("BroadcastGradientArgs")(lambda call: R.BroadcastGradientArgs(s0=call.tensor(np.int32([3, 1])), s1=call.tensor(np.int32([4]))))
case("Concat")(lambda call: R.Concat(concat_dim=call.tensor(np.int32(0)), values=[call.integers()] * 2))
case("ConcatV2")(lambda call: R.ConcatV2(values=[call.integers()] * 2, axis=call.tensor(np.int32(0))))
case("ConcatOffset")(lambda call: R.ConcatOffset(concat_dim=call.tensor(np.int32(0)), shape=[call.tensor(np.int32([2, 3]))] * 2))
case("Const")(lambda call: [tf.constant(FLOATS), tf.constant(INTEGERS), tf.constant([True, False])])
case("DataFormatDimMap")(lambda call: R.DataFormatDimMap(x=call.tensor(np.int32([1, 2]))))
case("DataFormatVecPermute")(lambda call: R.DataFormatVecPermute(x=call.integers()))
case("EnsureShape")(lambda call: R.EnsureShape(input=call.floats(), shape=[3, 4]))
case("ExpandDims")(lambda call: R.ExpandDims(input=call.floats(), axis=call.tensor(np.int32(0))))
case("Fill")(lambda call: R.Fill(dims=call.tensor(np.int32([2, 3])), value=call.tensor(np.int32(7))))
case("IdentityN")(lambda call: R.IdentityN(input=[call.floats(), call.integers()]))
case("InvertPermutation")(lambda call: R.InvertPermutation(x=call.tensor(np.int32([2, 0, 1]))))
case("LinSpace")(lambda call: R.LinSpace(start=call.tensor(np.float32(0)), stop=call.tensor(np.float32(1)), num=call.tensor(np.int32(5))))
case("ParallelDynamicStitch")(lambda call: R.ParallelDynamicStitch(indices=[call.tensor(np.int32([0, 2])), call.tensor(np.int32([1]))], data=[call.tensor(np.float32([1, 3])), call.tensor(np.float32([2]))]))
case("PlaceholderWithDefault")(lambda call: R.PlaceholderWithDefault(input=call.floats(), shape=[3, 4]))
case("Range")(lambda call: R.Range(start=call.tensor(np.int32(1)), limit=call.tensor(np.int32(9)), delta=call.tensor(np.int32(2))))
case("Reshape")(lambda call: R.Reshape(tensor=call.floats(), shape=call.tensor(np.int32([4, 3]))))
case("ShapeN")(lambda call: R.ShapeN(input=[call.floats()] * 2))
case("Slice")(lambda call: R.Slice(input=call.integers(), begin=call.tensor(np.int32([1])), size=call.tensor(np.int32([2]))))
case("Squeeze")(lambda call: R.Squeeze(input=R.ExpandDims(input=call.floats(), axis=call.tensor(np.int32(0)))))
case("Unique")(lambda call: [R.Unique(x=call.tensor(np.int32([1, 2, 1]))), R.Unique(x=call.tensor(np.float32([1, 2, 1])))])
case("Unpack")(lambda call: [R.Unpack(value=call.integers(), num=4), R.Unpack(value=call.tensor(np.int64([4, 5])), num=2)])
case("Where")(lambda call: R.Where(condition=call.tensor(np.int32([1, 0, 2]))))


@case("Assert")
def check(call):
    R.Assert(condition=call.tensor(True), data=[call.floats()])
    return []


@case("NoOp", "ControlTrigger")
def nothing(call):
    R.NoOp()
    R.ControlTrigger()
    return []


@case("SyncDevice")
def synchronize(call):
    x = call.floats()
    R.SyncDevice()
    return x


@case("DeviceIndex")
def device_index(call):
    return R.DeviceIndex(device_names=["CPU", "none"]) * 0


# Variables.


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


def lists_of_rows():
    """Returns a vector of lists. It is made on the CPU, since no other device can stack variants."""
    with tf.device("/CPU:0"):
        lists = tf.stack([R.TensorListFromTensor(tensor=tf.constant(FLOATS), element_shape=[4])] * 2)
    return tf.identity(lists)


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


# Lists of tensors.


def filled_list(call):
    return R.TensorListFromTensor(tensor=call.floats(), element_shape=call.tensor(np.int32([4])))


def stack(call, handle):
    return R.TensorListStack(input_handle=handle, element_shape=call.tensor(np.int32([4])), element_dtype=tf.float32)


def row(call, factor=5.0):
    return call.tensor(np.float32(factor) * FLOATS[0])


case("TensorListFromTensor", "TensorListStack")(lambda call: stack(call, filled_list(call)))
case("TensorListConcatLists")(lambda call: stack(call, R.TensorListConcatLists(input_a=filled_list(call), input_b=filled_list(call), element_dtype=tf.float32)))
case("TensorListElementShape")(lambda call: R.TensorListElementShape(input_handle=filled_list(call), shape_type=tf.int32))
case("TensorListGather")(lambda call: R.TensorListGather(input_handle=filled_list(call), indices=call.tensor(np.int32([2, 0])), element_shape=call.tensor(np.int32([4])), element_dtype=tf.float32))
case("TensorListGetItem")(lambda call: R.TensorListGetItem(input_handle=filled_list(call), index=call.tensor(np.int32(1)), element_shape=call.tensor(np.int32([4])), element_dtype=tf.float32))
case("TensorListLength")(lambda call: R.TensorListLength(input_handle=filled_list(call)))
case("TensorListPushBack")(lambda call: stack(call, R.TensorListPushBack(input_handle=filled_list(call), tensor=row(call))))
case("TensorListSetItem")(lambda call: stack(call, R.TensorListSetItem(input_handle=filled_list(call), index=call.tensor(np.int32(1)), item=row(call))))
case("TensorListResize")(lambda call: stack(call, R.TensorListResize(input_handle=filled_list(call), size=call.tensor(np.int32(5)))))
case("TensorListScatter")(lambda call: stack(call, R.TensorListScatter(tensor=call.floats(), indices=call.tensor(np.int32([2, 0, 1])), element_shape=call.tensor(np.int32([4])))))
case("TensorListScatterV2")(lambda call: stack(call, R.TensorListScatterV2(tensor=call.floats(), indices=call.tensor(np.int32([2, 0, 1])), element_shape=call.tensor(np.int32([4])), num_elements=call.tensor(np.int32(4)))))
case("TensorListScatterIntoExistingList")(lambda call: stack(call, R.TensorListScatterIntoExistingList(input_handle=filled_list(call), tensor=call.floats(2.0), indices=call.tensor(np.int32([2, 0, 1])))))
case("TensorListSplit")(lambda call: R.TensorListGetItem(input_handle=R.TensorListSplit(tensor=call.floats(), element_shape=call.tensor(np.int32([-1, 4])), lengths=call.tensor(np.int64([1, 2]))), index=call.tensor(np.int32(1)), element_shape=call.tensor(np.int32([2, 4])), element_dtype=tf.float32))


@case("EmptyTensorList", "TensorListReserve")
def new_lists(call):
    shape = call.tensor(np.int32([4]))
    empty = R.EmptyTensorList(element_shape=shape, max_num_elements=call.tensor(np.int32(-1)), element_dtype=tf.float32)
    reserved = R.TensorListReserve(element_shape=shape, num_elements=call.tensor(np.int32(2)), element_dtype=tf.float32)
    return [stack(call, R.TensorListPushBack(input_handle=it, tensor=row(call))) for it in (empty, reserved)]


@case("TensorListPopBack")
def pop_back(call):
    shape = call.tensor(np.int32([4]))
    rest, last = R.TensorListPopBack(input_handle=filled_list(call), element_shape=shape, element_dtype=tf.float32)
    return [stack(call, rest), last]


@case("TensorListPushBackBatch")
def push_back_batch(call):
    with tf.init_scope():
        lists = lists_of_rows()
    pushed = R.TensorListPushBackBatch(input_handles=lists, tensor=call.tensor(FLOATS[:2]))
    return [stack(call, it) for it in tf.unstack(pushed, num=2)]


@case("TensorListConcat", "TensorListConcatV2")
def concatenate(call):
    rows = R.TensorListFromTensor(tensor=call.tensor(FLOATS.reshape(3, 2, 2)), element_shape=call.tensor(np.int32([2, 2])))
    first = R.TensorListConcat(input_handle=rows, element_dtype=tf.float32, element_shape=[2, 2])
    shape, dims = call.tensor(np.int32([2, 2])), call.tensor(np.zeros(0, np.int64))
    second = R.TensorListConcatV2(input_handle=rows, element_shape=shape, leading_dims=dims, element_dtype=tf.float32)
    return [first, second]


# Queues, stacks and staging areas.


@case("QueueIsClosedV2", modes=("eager",))
def is_queue_closed(call):
    handle = R.FIFOQueueV2(component_types=[tf.float32], shared_name=new_name("queue"))
    before = R.QueueIsClosedV2(handle=handle)
    R.QueueCloseV2(handle=handle)
    return [before, R.QueueIsClosedV2(handle=handle)]


@case("FIFOQueueV2", "QueueEnqueueV2", "QueueDequeueV2", "QueueSizeV2", "QueueCloseV2")
def queue(call):
    handle = R.FIFOQueueV2(component_types=[tf.float32], shared_name=new_name("queue"))
    put = R.QueueEnqueueV2(handle=handle, components=[call.floats()])
    with tf.control_dependencies([put] if call.is_graph else []):
        size = R.QueueSizeV2(handle=handle)
    with tf.control_dependencies([size]):
        (value,) = R.QueueDequeueV2(handle=handle, component_types=[tf.float32])
    with tf.control_dependencies([value]):
        R.QueueCloseV2(handle=handle)
    return [size, value]


@case("StackV2", "StackPushV2", "StackPopV2", "StackCloseV2")
def stack_of_tensors(call):
    handle = R.StackV2(max_size=call.tensor(np.int32(10)), elem_type=tf.float32)
    pushed = R.StackPushV2(handle=handle, elem=call.floats())
    with tf.control_dependencies([pushed]):
        popped = R.StackPopV2(handle=handle, elem_type=tf.float32)
    with tf.control_dependencies([popped]):
        R.StackCloseV2(handle=handle)
    return popped


@graph("Stack", "StackPush", "StackPop", "StackClose")
def stack_of_references(call):
    handle = R.Stack(elem_type=tf.float32)
    pushed = R.StackPush(handle=handle, elem=call.floats())
    with tf.control_dependencies([pushed]):
        popped = R.StackPop(handle=handle, elem_type=tf.float32)
    with tf.control_dependencies([popped]):
        closed = R.StackClose(handle=handle)
    with tf.control_dependencies([closed]):
        return R.Identity(input=popped)


# In eager mode each call makes a new staging area, unless it has a name.
@case("Stage", "Unstage", "StagePeek", "StageSize", "StageClear")
def staging(call):
    types = dict(dtypes=[tf.float32], shared_name=new_name("staging"))
    staged = R.Stage(values=[call.floats()], shared_name=types["shared_name"])
    with tf.control_dependencies([staged] if call.is_graph else []):
        size = R.StageSize(**types)
    with tf.control_dependencies([size]):
        peeked = R.StagePeek(index=call.tensor(np.int32(0)), **types)
    with tf.control_dependencies(list(peeked)):
        value = R.Unstage(**types)
    with tf.control_dependencies(list(value)):
        R.StageClear(**types)
    return [size, peeked, value]


def staged_map(prefix):
    def run(call):
        op = lambda name: getattr(R, prefix + name)
        types = dict(dtypes=[tf.float32], shared_name=new_name("map"))
        key, indices = call.tensor(np.int64(1)), call.tensor(np.int32([0]))
        put = [op("MapStage")(key=key, indices=indices, values=[call.floats()], **types)]
        with tf.control_dependencies(put if call.is_graph else []):
            size, incomplete = op("MapSize")(**types), op("MapIncompleteSize")(**types)
        with tf.control_dependencies([size, incomplete]):
            peeked = op("MapPeek")(key=key, indices=indices, **types)
        with tf.control_dependencies(list(peeked)):
            value = op("MapUnstage")(key=key, indices=indices, **types)
        with tf.control_dependencies(list(value)):
            put = [op("MapStage")(key=key, indices=indices, values=[call.floats(2.0)], **types)]
        with tf.control_dependencies(put if call.is_graph else []):
            found, last = op("MapUnstageNoKey")(indices=indices, **types)
        with tf.control_dependencies([found]):
            op("MapClear")(**types)
        return [size, incomplete, peeked, value, found, last]

    return run


_MAP = "MapStage MapUnstage MapUnstageNoKey MapPeek MapSize MapIncompleteSize MapClear".split()
case(*_MAP)(staged_map(""))
case(*["Ordered" + op for op in _MAP])(staged_map("Ordered"))


@case("MutexV2", "MutexLock", "ConsumeMutexLock")
def mutex(call):
    lock = R.MutexLock(mutex=R.MutexV2(shared_name=new_name("mutex")))
    R.ConsumeMutexLock(mutex_lock=lock)
    return call.floats()


@graph("GetSessionHandle", "GetSessionHandleV2", "GetSessionTensor", "DeleteSessionTensor")
def session_tensor(call):
    return lambda session: session_tensor_steps(call, session)


def session_tensor_steps(call, session):
    handle = session.run(V1.get_session_handle(call.floats()))
    place, value = V1.get_session_tensor(handle.handle, tf.float32)
    found = session.run(value + 0.0, {place: handle.handle})
    place, delete = V1.delete_session_tensor(handle.handle)
    session.run(delete, {place: handle.handle})
    return [found]


# Control flow and calls of functions.


@graph("Enter", "Exit", "Switch", "Merge", "NextIteration", "LoopCond")
def loop_of_version_1(call):
    V1.disable_control_flow_v2()
    step = lambda count, value: (count + 1, value * 1.5 + 1.0)
    with tf.device(None):
        limit = tf.constant(5)
    return V1.while_loop(lambda count, value: count < limit, step, [tf.constant(0), call.floats()])


@case("If", "StatelessIf", "_If")
def branch(call):
    yes = function_of(lambda x: x * 2.0, spec(3, 4))
    no = function_of(lambda x: x - 1.0, spec(3, 4))
    arguments = dict(cond=call.tensor(True), Tout=[tf.float32], then_branch=yes, else_branch=no, output_shapes=[[3, 4]])
    arguments["input"] = [call.floats()]
    return [R.If(**arguments), R.StatelessIf(**arguments)]


@case("Case", "StatelessCase")
def cases(call):
    branches = [function_of(lambda x: x * 2.0, spec(3, 4)), function_of(lambda x: x - 1.0, spec(3, 4))]
    arguments = dict(branch_index=call.tensor(np.int32(1)), Tout=[tf.float32], branches=branches, output_shapes=[[3, 4]])
    arguments["input"] = [call.floats()]
    return [R.Case(**arguments), R.StatelessCase(**arguments)]


@case("While", "StatelessWhile", "_While", "_SwitchN")
def loop(call):
    specs = spec(dtype=tf.int32), spec(3, 4)
    cond = function_of(lambda count, value: count < 5, *specs)
    body = function_of(lambda count, value: (count + 1, value * 1.5 + 1.0), *specs)
    arguments = dict(cond=cond, body=body, output_shapes=[[], [3, 4]])
    arguments["input"] = [call.tensor(np.int32(0)), call.floats()]
    return [R.While(**arguments), R.StatelessWhile(**arguments)]


@case("For")
def counted_loop(call):
    body = function_of(lambda count, value: value * 1.5, spec(dtype=tf.int32), spec(3, 4))
    bounds = [call.tensor(np.int32(it)) for it in (0, 3, 1)]
    return R.For(start=bounds[0], limit=bounds[1], delta=bounds[2], input=[call.floats()], body=body)


@case("PartitionedCall", "StatefulPartitionedCall", "_Arg", "_Retval")
def calls(call):
    function = function_of(lambda x: x * 2.0 + 1.0, spec(3, 4))
    first = R.PartitionedCall(args=[call.floats()], Tout=[tf.float32], f=function)
    return [first, R.StatefulPartitionedCall(args=[call.floats()], Tout=[tf.float32], f=function)]


@case("RemoteCall", modes=("function",))
def remote_call(call):
    function = function_of(lambda x: x * 2.0 + 1.0, spec(3, 4))
    return R.RemoteCall(target="/job:localhost/replica:0/task:0" + call.device, args=[call.floats()], Tout=[tf.float32], f=function)


@case("BatchFunction", modes=("function",))
def batch_function(call):
    function = function_of(lambda x: x * 2.0, spec(None, 4))
    return R.BatchFunction(
        in_tensors=[call.floats()], captured_tensors=[], f=function, num_batch_threads=1, max_batch_size=3,
        batch_timeout_micros=0, Tout=[tf.float32])


if tf.__version__.startswith("2.12."):
    del CASES["BatchFunction"]
    uncalled("its second call ends the process, on the CPU too", "BatchFunction")


@case("EagerPyFunc")
def python_function(call):
    return tf.py_function(lambda x: x * 2.0, [call.floats()], tf.float32)


@case("_Send", "_Recv", "_HostSend", "_HostRecv")
def transfer(call):
    x = call.floats()
    with tf.device("/CPU:0"):
        y = x * 2.0
    return [y + x, R.AddV2(x=y, y=x)]


@case("_EagerConst", modes=("eager",))
def converted(call):
    return [call.floats() + np.float32(1.0), call.tensor(np.int64([1, 2])) + 1]


@case("parallel_stack", modes=("function",))
def parallel_stack(call):
    return tf.parallel_stack([row(call), row(call, 2.0), row(call, 3.0)])


@graph("Placeholder", "PlaceholderV2")
def placeholder(call):
    place = V1.placeholder(tf.float32, [3, 4])
    return lambda session: [session.run(place * 2.0, {place: FLOATS})]


@graph("ConditionalOfVersion1")
def conditional_of_version_1(call):
    V1.disable_control_flow_v2()
    x = call.floats()
    return V1.cond(call.tensor(True), lambda: x * 2.0, lambda: x - 1.0)


# The debugger's ops.
case("Copy")(lambda call: R.Copy(input=call.floats()))
case("CopyHost")(lambda call: R.CopyHost(input=call.floats()))
case("DebugIdentity", "DebugIdentityV2", "DebugIdentityV3")(lambda call: R.DebugIdentityV2(input=call.floats()))
case("DebugNanCount")(lambda call: R.DebugNanCount(input=call.floats()))
case("DebugNumericSummary")(lambda call: R.DebugNumericSummary(input=call.floats()))


@case("SymbolicGradient", modes=("function",))
def symbolic_gradient(call):
    function = function_of(lambda x: x * 2.0, spec(3, 4))
    return R.SymbolicGradient(input=[call.floats(), call.floats()], Tout=[tf.float32], f=function)


@case("Fact")
def fact(call):
    return R.Rank(input=R.Fact())


def collective(op):
    def run(call):
        group = dict(group_size=call.tensor(np.int32(1)), group_key=call.tensor(np.int32(7)), instance_key=call.tensor(np.int32(9)))
        reduction = dict(merge_op="Add", final_op="Id") if "Reduce" in op else {}
        return getattr(R, op)(input=call.floats(), ordering_token=[], communication_hint="auto", timeout_seconds=5, **group, **reduction)

    return run


case("CollectiveReduceV2", modes=("eager",))(collective("CollectiveReduceV2"))
case("CollectiveGatherV2", modes=("eager",))(collective("CollectiveGatherV2"))

uncalled("needs a group of workers", "CollectiveAllToAllV2", "CollectiveAssignGroupV2", "CollectiveBcastRecv", "CollectiveBcastRecvV2",
         "CollectiveBcastSend", "CollectiveBcastSendV2", "CollectiveReduceScatterV2")
uncalled("only TensorFlow's own passes create it", "HostConst", "_ArrayToList", "_DeviceArg", "_DeviceRetval", "_HostCast", "_ListToArray",
         "_ScopedAllocator", "_ScopedAllocatorConcat", "_ScopedAllocatorSplit")
uncalled("needs XLA", "_XlaCompile", "_XlaMerge", "_XlaRun")
uncalled("an op of TensorFlow's own tests", "DevicePlacementOp")
uncalled("needs a Send and a Recv in two partitions, which TensorFlow creates as _Send and _Recv", "Send", "Recv")
uncalled("no Python function calls it", "FakeParam", "MakeWeakResourceHandle")
