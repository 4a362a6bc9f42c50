"""Calls of functions, and the tensors that are passed to them."""

import numpy as np
import tensorflow as tf

from .call import FLOATS, function_of, R, spec, V1
from .lists import row
from .registry import case, CASES, graph, uncalled


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


@case("SymbolicGradient", modes=("function",))
def symbolic_gradient(call):
    function = function_of(lambda x: x * 2.0, spec(3, 4))
    return R.SymbolicGradient(input=[call.floats(), call.floats()], Tout=[tf.float32], f=function)
