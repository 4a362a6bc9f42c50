"""Ops of tensors, and ops that wait or check."""

import numpy as np
import tensorflow as tf

from .call import Call, FLOATS, INTEGERS, R
from .lists import filled_list, stack
from .registry import case

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


@case("Fact")
def fact(call):
    return R.Rank(input=R.Fact())
