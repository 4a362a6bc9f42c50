//! The kernels that run behind their calls, on a device whose queues run later.
//!
//! In each of these, shapes and arguments in host memory decide the shapes of the outputs, and no value in device memory is an
//! error. A test in `tests/tensorflow/test_behind.py` compares their results with those of calls that wait.

use sp_plugin::kernel::Kernel;

/// The ops, apart from those of the table of elementwise ops.
pub const OPS: &[&str] = &[
    "AddN",
    "All",
    "Any",
    "ArgMax",
    "ArgMin",
    "AvgPool",
    "AvgPool3D",
    "AvgPool3DGrad",
    "AvgPoolGrad",
    "BatchMatMulV2",
    "BatchToSpaceND",
    "BiasAdd",
    "BiasAddGrad",
    "BiasAddV1",
    "BroadcastTo",
    "Cast",
    "ClipByValue",
    "Concat",
    "ConcatV2",
    "Conv2D",
    "Conv2DBackpropFilter",
    "Conv2DBackpropInput",
    "Conv3D",
    "Conv3DBackpropFilterV2",
    "Conv3DBackpropInputV2",
    "Cumprod",
    "Cumsum",
    "DepthToSpace",
    "DepthwiseConv2dNative",
    "DepthwiseConv2dNativeBackpropFilter",
    "DepthwiseConv2dNativeBackpropInput",
    "Einsum",
    "EuclideanNorm",
    "Fill",
    "FusedBatchNorm",
    "FusedBatchNormGrad",
    "FusedBatchNormGradV2",
    "FusedBatchNormGradV3",
    "FusedBatchNormV2",
    "FusedBatchNormV3",
    "L2Loss",
    "LRN",
    "LRNGrad",
    "LeakyRelu",
    "LeakyReluGrad",
    "LogSoftmax",
    "LogicalAnd",
    "LogicalNot",
    "LogicalOr",
    "MatMul",
    "Max",
    "MaxPool",
    "MaxPool3D",
    "MaxPool3DGrad",
    "MaxPoolGrad",
    "MaxPoolGradV2",
    "MaxPoolV2",
    "Mean",
    "Min",
    "MirrorPad",
    "OneHot",
    "OnesLike",
    "Pack",
    "Pad",
    "PadV2",
    "Prod",
    "ResizeBilinear",
    "ResizeBilinearGrad",
    "ResizeNearestNeighbor",
    "ResizeNearestNeighborGrad",
    "Reverse",
    "ReverseV2",
    "Select",
    "SelectV2",
    "Slice",
    "Softmax",
    "SoftmaxCrossEntropyWithLogits",
    "SpElementwise",
    "SpaceToBatchND",
    "SpaceToDepth",
    "Split",
    "SplitV",
    "StridedSlice",
    "StridedSliceGrad",
    "Sum",
    "Tile",
    "Transpose",
    "Unpack",
    "ZerosLike",
    "_FusedBatchNormEx",
    "_FusedConv2D",
    "_FusedMatMul",
];

/// Elementwise ops in which an integer 0, or a negative exponent, is an error.
const CHECKED: &[&str] = &[
    "Div",
    "FloorDiv",
    "FloorMod",
    "Mod",
    "Pow",
    "TruncateDiv",
    "TruncateMod",
];

/// The types in which these ops have no error.
const UNCHECKED_TYPES: &[&str] = &[
    "TF_HALF",
    "TF_BFLOAT16",
    "TF_FLOAT",
    "TF_DOUBLE",
    "TF_COMPLEX64",
];

/// States which kernels run behind their calls.
pub fn state(kernels: &[&'static Kernel]) {
    let is_listed = |it: &&&Kernel| OPS.iter().any(|op| op.as_bytes() == it.op().to_bytes());
    kernels.iter().filter(is_listed).for_each(|it| {
        it.with_known_shapes();
    });
}

/// States that the kernels of rows of elementwise ops run behind their calls, unless a value can be an error.
pub fn state_elementwise(kernels: &[&'static Kernel]) {
    kernels.iter().filter(|it| !can_fail(it)).for_each(|it| {
        it.with_known_shapes();
    });
}

/// States it of the kernels of an author's rows whose type has no value that is an error.
pub fn state_unchecked(kernels: &[&'static Kernel]) {
    let kernels = kernels.iter().filter(|it| has_unchecked_type(it));
    kernels.for_each(|it| {
        it.with_known_shapes();
    });
}

fn can_fail(kernel: &Kernel) -> bool {
    let is_checked = (CHECKED.iter()).any(|op| op.as_bytes() == kernel.op().to_bytes());
    is_checked && !has_unchecked_type(kernel)
}

fn has_unchecked_type(kernel: &Kernel) -> bool {
    UNCHECKED_TYPES
        .iter()
        .any(|it| kernel.label().ends_with(it))
}
