"""Queues, stacks, staging areas, locks and tensors of a session."""

import numpy as np
import tensorflow as tf

from .call import new_name, R, V1
from .registry import case, graph


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
