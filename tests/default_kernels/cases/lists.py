"""Lists of tensors."""

import numpy as np
import tensorflow as tf

from .call import FLOATS, R
from .registry import case


def lists_of_rows():
    """Returns a vector of lists. It is made on the CPU, since no other device can stack variants."""
    with tf.device("/CPU:0"):
        lists = tf.stack([R.TensorListFromTensor(tensor=tf.constant(FLOATS), element_shape=[4])] * 2)
    return tf.identity(lists)


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
