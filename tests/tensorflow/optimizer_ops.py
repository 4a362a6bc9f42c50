"""The ops that TensorFlow's graph optimizers write into graphs, and what computes each on a plugin's device.

Read in the sources of the optimizers (tensorflow/core/grappler/optimizers and tensorflow/core/common_runtime) of 2.6 to
2.21. Ops that an optimizer only copies or moves are not in the list: the graph had them before.
"""

import dataclasses

FLOATS = ["half", "bfloat16", "float", "double"]
NUMBERS = [*FLOATS, "int64"]


@dataclasses.dataclass
class Written:
    """An op, the passes that write it, and what computes it.

    `by` is `plugin` (kernels of these types on the device), `core` (a kernel of device type DEFAULT, or of the plugin),
    `host` (the SDK's optimizer moves the node to the CPU unless the plugin has a kernel), `restored` (the SDK's optimizer restores
    the ops that it replaces) or `never` (it is not written for a node on the device, for the reason given).
    """

    passes: str
    by: str
    types: list = dataclasses.field(default_factory=list)
    attribute: str = "T"
    reason: str = ""


def plugin(passes, types, attribute="T"):
    return Written(passes, "plugin", types, attribute)


def core(passes):
    return Written(passes, "core")


def never(passes, reason):
    return Written(passes, "never", reason=reason)


CPU_ONLY = "the pass selects nodes on the CPU, or on a device of type GPU"
GPU_ONLY = "the pass selects nodes on a device of type GPU, for which the SDK switches it off"

WRITTEN = {
    # Arithmetic.
    "AddN": plugin("arithmetic_optimizer", NUMBERS),
    "AddV2": plugin("arithmetic_optimizer, constant_folding, remapper", NUMBERS),
    "BroadcastTo": plugin("arithmetic_optimizer, constant_folding", NUMBERS),
    "ConjugateTranspose": plugin("arithmetic_optimizer", ["complex64"]),
    "Expm1": plugin("arithmetic_optimizer", FLOATS),
    "LeakyRelu": plugin("remapper", FLOATS),
    "Log1p": plugin("arithmetic_optimizer", FLOATS),
    "LogSoftmax": plugin("arithmetic_optimizer", FLOATS),
    "Mul": plugin("arithmetic_optimizer, constant_folding, remapper", NUMBERS),
    "Neg": plugin("arithmetic_optimizer, constant_folding", NUMBERS),
    "Reciprocal": plugin("arithmetic_optimizer, constant_folding", FLOATS),
    "Rsqrt": plugin("arithmetic_optimizer, remapper", FLOATS),
    "Sqrt": plugin("arithmetic_optimizer", FLOATS),
    "Square": plugin("arithmetic_optimizer", NUMBERS),
    "SquaredDifference": plugin("arithmetic_optimizer", NUMBERS),
    "Sub": plugin("remapper, constant_folding", NUMBERS),
    "Add": plugin("remapper (the primitives of a batch normalization)", NUMBERS),
    "Cast": plugin("remapper, auto_mixed_precision, constant_folding", [], "SrcT"),
    "MatMul": plugin("arithmetic_optimizer (a transpose becomes an attribute)", FLOATS),
    "BatchMatMulV2": plugin("arithmetic_optimizer", FLOATS),
    "Conv2D": plugin("remapper (a convolution with dilations)", FLOATS),
    "DepthwiseConv2dNative": plugin("remapper (a convolution with dilations)", FLOATS),
    "LogicalNot": plugin("constant_folding, arithmetic_optimizer", []),
    "ReverseV2": plugin("arithmetic_optimizer", NUMBERS),
    "SparseSegmentSum": plugin("arithmetic_optimizer (embedding lookups)", ["float"]),
    "SparseSegmentMean": plugin("arithmetic_optimizer (embedding lookups)", ["float"]),
    "SparseSegmentSqrtN": plugin("arithmetic_optimizer (embedding lookups)", ["float"]),
    # Movement of elements, and shapes.
    "ConcatV2": plugin("constant_folding (a part of the inputs)", NUMBERS),
    "GatherV2": plugin("arithmetic_optimizer", NUMBERS, "Tparams"),
    "Pack": plugin("constant_folding", NUMBERS),
    "Snapshot": plugin("constant_folding (x + 0 and x * 1 in a graph that assigns)", NUMBERS),
    "Slice": plugin("arithmetic_optimizer", NUMBERS),
    "Split": plugin("arithmetic_optimizer (hoisted unary ops)", NUMBERS),
    "SplitV": plugin("arithmetic_optimizer (hoisted unary ops)", NUMBERS),
    "StridedSlice": plugin("arithmetic_optimizer", NUMBERS),
    "Tile": plugin("arithmetic_optimizer", NUMBERS),
    "Transpose": plugin("arithmetic_optimizer, layout optimizer", NUMBERS),
    "ZerosLike": plugin("memory_optimizer, constant_folding", NUMBERS),
    "OnesLike": plugin("constant_folding", NUMBERS),
    "ExpandDims": core("arithmetic_optimizer, constant_folding"),
    "Fill": core("constant_folding"),
    "Identity": core("most passes"),
    "IdentityN": core("function_optimizer"),
    "Rank": core("constant_folding"),
    "Reshape": core("arithmetic_optimizer, constant_folding"),
    "Shape": core("arithmetic_optimizer, constant_folding"),
    "ShapeN": core("constant_folding"),
    "Size": core("shape_optimizer"),
    "Squeeze": core("arithmetic_optimizer"),
    "EnsureShape": core("function_optimizer"),
    # Structure: constants, control flow, functions, partitions.
    "Const": core("constant_folding"),
    "Enter": core("lowering of loops"),
    "Exit": core("lowering of loops"),
    "FakeParam": core("lowering of branches"),
    "HostConst": core("placement in host memory"),
    "LoopCond": core("lowering of loops"),
    "Merge": core("lowering of branches"),
    "NextIteration": core("lowering of loops"),
    "NoOp": core("dependency_optimizer, debug_stripper, function_optimizer"),
    "PartitionedCall": core("function_optimizer"),
    "PreventGradient": core("function_optimizer"),
    "StatefulPartitionedCall": core("function_optimizer"),
    "StatelessCase": core("dependency_optimizer"),
    "StatelessIf": core("dependency_optimizer"),
    "StatelessWhile": core("dependency_optimizer"),
    "StopGradient": core("debug_stripper"),
    "Switch": core("lowering of branches"),
    "ReadVariableOp": core("inline_function"),
    "_Arg": core("functions"),
    "_ArrayToList": core("parallel functions"),
    "_DeviceArg": core("functions"),
    "_DeviceRetval": core("functions"),
    "_EagerConst": core("eager mode"),
    "_HostCast": core("casts in host memory"),
    "_HostRecv": core("partitions"),
    "_HostSend": core("partitions"),
    "_If": core("functional_ops"),
    "_ListToArray": core("parallel functions"),
    "_Recv": core("partitions"),
    "_Retval": core("functions"),
    "_Send": core("partitions"),
    "_SwitchN": core("lowering of branches"),
    "_While": core("functional_ops"),
    "_ReadVariablesOp": core("batched reads of variables"),
    "_VarHandlesOp": core("batched handles of variables"),
    "_ScopedAllocator": core("scoped_allocator_optimizer"),
    "_ScopedAllocatorConcat": core("scoped_allocator_optimizer"),
    "_ScopedAllocatorSplit": core("scoped_allocator_optimizer"),
    # Fusions.
    "_FusedBatchNormEx": Written("remapper (oneDNN)", "host", ["float"]),
    "_MklFusedInstanceNorm": Written("remapper (oneDNN)", "host", ["float"]),
    "_MklLayerNorm": Written("remapper (oneDNN)", "host", ["float"]),
    "_TensorToHashBucketFast": Written("remapper", "host", ["int8", "int16", "int32", "int64"]),
    "_FusedBatchNormGradEx": never("remapper", GPU_ONLY),
    "_FusedConv2D": never("remapper", CPU_ONLY),
    "_FusedConv3D": never("remapper", CPU_ONLY),
    "_FusedDepthwiseConv2dNative": never("remapper", CPU_ONLY),
    "_FusedMatMul": never("remapper", CPU_ONLY),
    "_MklFusedBatchMatMulV2": never("remapper", CPU_ONLY),
    "_MklFusedMish": never("remapper", CPU_ONLY),
    "_MklSwish": never("remapper", CPU_ONLY),
    "_UnaryOpsComposition": never("arithmetic_optimizer", CPU_ONLY),
    "_FusedQuantizedConv2D": never("quantization of oneDNN", CPU_ONLY),
    "_FusedQuantizedDepthwiseConv2D": never("quantization of oneDNN", CPU_ONLY),
    "_QuantizedMatMul": never("quantization of oneDNN", CPU_ONLY),
    "_QuantizedMaxPool3D": never("quantization of oneDNN", CPU_ONLY),
    "_QuantizedConv3D": never("quantization of oneDNN", CPU_ONLY),
    "_QuantizedTranspose": never("quantization of oneDNN", CPU_ONLY),
    "_QuantizedBatchMatMul": never("quantization of oneDNN", CPU_ONLY),
    "_QuantizedFusedBatchNorm": never("quantization of oneDNN", CPU_ONLY),
    "_QuantizedFusedMatMul": never("quantization of oneDNN", CPU_ONLY),
    "_QuantizedFusedMatMulAndDequantize": never("quantization of oneDNN", CPU_ONLY),
    "_QuantizedFusedMatMulAndRequantize": never("quantization of oneDNN", CPU_ONLY),
    "_CopyFromGpuToHost": never("memory_optimizer", GPU_ONLY),
    "_CopyFromHostToGpu": never("memory_optimizer", GPU_ONLY),
    "DataFormatDimMap": never("layout optimizer", GPU_ONLY),
    "DataFormatVecPermute": never("layout optimizer", GPU_ONLY),
    # Sums in variables, and stacks.
    "Assign": Written("memory_optimizer (sums in temporary variables)", "restored"),
    "AssignAdd": Written("memory_optimizer (sums in temporary variables)", "restored"),
    "DestroyTemporaryVariable": Written("memory_optimizer (sums in temporary variables)", "restored"),
    "TemporaryVariable": Written("memory_optimizer (sums in temporary variables)", "restored"),
    "_ParallelConcatStart": core("parallel_concat_optimizer: an error of the SDK, which names tf.stack"),
    "_ParallelConcatUpdate": core("parallel_concat_optimizer: an error of the SDK, which names tf.stack"),
}

# Ops that no pass writes for a node on a plugin's device, by the beginning of their name.
NEVER = {
    "_Mkl": "the passes of oneDNN rewrite nodes on the CPU",
    "__Mkl": "placeholders of the passes of oneDNN, for nodes on the CPU",
    "_Nccl": "collectives of CUDA devices: MirroredStrategy uses them for type GPU only",
    "_Xla": "nodes that XLA compiles",
    "_TPU": "nodes of TPUs",
    "_ConfigureDistributedTPU": "nodes of TPUs",
    "_DisconnectHostFromDistributedTPU": "nodes of TPUs",
    "_InitializeHostForDistributedTPU": "nodes of TPUs",
    "_SetGlobalTPUArray": "nodes of TPUs",
    "_ShutdownDistributedTPU": "nodes of TPUs",
    "_WaitForDistributedTPU": "nodes of TPUs",
    "_Tfrt": "nodes of another runtime",
    "_TfrtGetResource": "nodes of another runtime",
    "_Test": "ops of TensorFlow's own tests",
}
