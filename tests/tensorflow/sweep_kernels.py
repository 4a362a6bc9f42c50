"""Calls each kernel of a device with random inputs and attributes, many of them wrong: `sweep_kernels.py DEVICE CASES [OP..]`.

A call returns tensors or raises an error of TensorFlow. The program exits with 1 if an error is a panic of the plugin, or if
no call of an op succeeded: its kernel was not tested then. `SP_SEED` is the first seed. `SP_LAST_CASE` names a file that has
the description of the current call, so that a caller can print it if the process ends.
"""

import collections
import os
import resource
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402  (the log level must be set before)
import tensorflow as tf  # noqa: E402
from tensorflow.python.eager import context, execute  # noqa: E402
from tensorflow.python.framework import kernels, op_def_library, op_def_registry  # noqa: E402

EQUATIONS = ["ij,jk->ik", "bij,bjk->bik", "ij->ji", "ij->", "ii->i", "...i,...i->...", "i,j->ij", "ij,jk", "->", "ij->k", "i->iij", "a" * 9]
# Lists of small sizes, most of them valid for 4 dimensions.
SIZES = [[1, 1, 1, 1], [1, 2, 2, 1], [1, 3, 2, 1], [1, 1, 2, 3], [2, 1, 1, 1], [1, 0, 1, 1], [1, -1, 2, 1], [1, 2, 2], [], [1, 2**31 - 1, 1, 1]]
PADDINGS = [[], [], [], [0, 0, 1, 1, 2, 0, 0, 0], [0, 0, 9, 9, 9, 9, 0, 0], [1, 1, 0, 0, 0, 0, 0, 0], [0, 0, -1, 0, 0, 0, 0, 0], [1, 2]]
# The product of two of these is no size that a machine has, or small.
WRONG = [-1, -2, -7, 99, 2**31 - 1, -(2**31)]
DIMS = [0, 1, 1, 2, 2, 3, 3, 4, 5, 8, 17]
INTEGERS = [np.dtype(it) for it in (np.int32, np.int64)]
IMAGE, SMALL, WINDOW = (2, 6, 5, 3), (3,), dict(strides=[1, 1, 1, 1], padding=b"SAME", data_format=b"NHWC", explicit_paddings=[])
CONV = dict(WINDOW, dilations=[1, 1, 1, 1])
POOL = dict(WINDOW, ksize=[1, 2, 2, 1])
PATCHES = dict(strides=[1, 1, 1, 1], rates=[1, 2, 1, 1], padding=b"SAME")
WINDOWS = [[1, 2, 2, 1], [1, 1, 1, 1]]
NORM = dict(is_training=True, data_format=b"NHWC", exponential_avg_factor=1.0)
SLICE, MASKS = ([0, 1], [3, 4], [1, 2]), dict(ellipsis_mask=0, shrink_axis_mask=0, new_axis_mask=0, begin_mask=0, end_mask=0)
SEED = ((1,), (2,), 1)
SLICES = ([[1], [3]], (2, 3))
POLICY = dict(bad_indices_policy=b"")
SEGMENTS = [(4, 3), [0, 2, 3], [0, 0, 1]]
SEGMENT_GRADIENTS = ([(2, 3), *SEGMENTS[1:], 5], {})
ROWS = [(3, 3), [1, 0, 1]]
STATE = [1, 2, 3], 1
SPARSE = [[[0, 1], [2, 3]], [3, 4]]
VOLUME, CONV3D = (2, 4, 5, 4, 3), dict(strides=[1] * 5, padding=b"SAME", data_format=b"NDHWC", dilations=[1] * 5)
POOL3D = dict(ksize=[1, 2, 2, 2, 1], strides=[1] * 5, padding=b"SAME", data_format=b"NDHWC")
RESIZE = dict(align_corners=False, half_pixel_centers=True)
PROJECTION = dict(interpolation=b"BILINEAR", fill_mode=b"REFLECT")
RULES = dict(Adagrad=(2, 1), AdagradV2=(2, 2), Adadelta=(3, 3), RMSProp=(3, 4), CenteredRMSProp=(4, 4), AdamWithAmsgrad=(4, 6), AdaMax=(3, 5), AddSign=(2, 4), PowerSign=(2, 4), ProximalGradientDescent=(1, 3), ProximalAdagrad=(2, 3))
# A network of one layer with 2 units and inputs of 3 numbers has 14 parameters and saves 16 numbers in 4 steps of 2 sequences.
NETWORK = dict(rnn_mode=b"rnn_relu", input_mode=b"linear_input", direction=b"unidirectional", dropout=0.0, num_proj=0, is_training=True, time_major=True)
NETWORK_INPUTS, NETWORK_OUTPUTS, LENGTHS, SAVED = [(4, 2, 3), (1, 2, 2), (1, 2, 2), (14,)], [(4, 2, 2), (1, 2, 2), ()], [4, 4], [(16,)]
NETWORK_SIZES, NETWORK_PARTS = [1, 2, 3], [(2, 3), (2, 2), (2,), (2,)]
NETWORK_COUNTS = dict(NETWORK, num_params=2, num_params_weights=2, num_params_biases=2)
# Calls that succeed, of ops for which random inputs rarely fit together: shapes of inputs, or as lists their integers.
EXAMPLES = {
    **{f"ResourceApply{name}": ([SMALL] * variables + [()] * scalars + [SMALL], {}) for name, (variables, scalars) in RULES.items()},
    **{f"ResourceSparseApply{it}": ([(4, 3)] * RULES[it][0] + [()] * RULES[it][1] + ROWS, {}) for it in ("Adadelta", "AdagradV2", "CenteredRMSProp", "RMSProp")},
    "ResourceSparseApplyFtrl": ([(4, 3)] * 3 + ROWS + [1, 0, 0, 0], {}),
    "ResourceSparseApplyFtrlV2": ([(4, 3)] * 3 + ROWS + [1, 0, 0, 0, 0], {}),
    **dict.fromkeys(["RngReadAndSkip", "RngSkip"], ([*STATE, 5], {})),
    **{f"Stateful{it}": ([*STATE, [2, 3]], {}) for it in ("StandardNormalV2", "TruncatedNormal", "Uniform", "UniformFullInt")},
    "StatefulUniformInt": ([*STATE, [2, 3], 0, 9], {}),
    "SpReserveNumbers": ([*STATE, 5], {}),
    "SpRandomBinomial": ([*STATE, [2, 3], 9, 1], {}),
    "StatefulRandomBinomial": ([*STATE, [2, 3], 9, 1], {}),
    "StatelessRandomBinomial": ([[2, 3], [1, 2], 9, 1], {}),
    "CTCLossV2": ([(5, 2, 4), [[0, 0], [1, 0]], [1, 2], [5, 5]], dict(preprocess_collapse_repeated=False, ctc_merge_repeated=True)),
    **dict.fromkeys(["CudnnRNN", "CudnnRNNV2"], (NETWORK_INPUTS, NETWORK)),
    "CudnnRNNV3": ([*NETWORK_INPUTS, LENGTHS], NETWORK),
    "CudnnRNNBackprop": (NETWORK_INPUTS + NETWORK_OUTPUTS * 2 + SAVED, NETWORK),
    "CudnnRNNBackpropV2": (NETWORK_INPUTS + NETWORK_OUTPUTS * 2 + SAVED + [(0,)], NETWORK),
    "CudnnRNNBackpropV3": ([*NETWORK_INPUTS, LENGTHS] + NETWORK_OUTPUTS * 2 + SAVED + [(0,)], NETWORK),
    "CudnnRNNParamsSize": (NETWORK_SIZES, NETWORK),
    **{f"CudnnRNNParamsToCanonical{it}": ([*NETWORK_SIZES, (14,)], NETWORK_COUNTS) for it in ("", "V2")},
    **{f"CudnnRNNCanonicalToParams{it}": (NETWORK_SIZES + NETWORK_PARTS, NETWORK_COUNTS) for it in ("", "V2")},
    "Conv": ([IMAGE, (3, 2, 3, 4)], dict(strides=[1] * 4, padding=b"SAME", explicit_paddings=[], data_format=b"CHANNELS_LAST", dilations=[], batch_dims=1, groups=1)),
    "SpElementwise": ([IMAGE, SMALL], dict(N=2, steps=[b"AddV2 0 1", b"Relu 2"])),
    "SpElementwiseResults": ([IMAGE, IMAGE], dict(N=2, M=2, steps=[b"AddV2 0 1", b"Relu 2"], results=[0, 1])),
    "_FusedBatchNormEx": ([IMAGE, SMALL, SMALL, SMALL, SMALL, IMAGE], dict(NORM, num_side_inputs=1, activation_mode=b"Relu")),
    "_MklFusedInstanceNorm": ([IMAGE, SMALL, SMALL], dict(fused_ops=[b"Relu"], reduction_axes=[1, 2])),
    "_MklLayerNorm": ([IMAGE, SMALL, SMALL], {}),
    "_FusedConv2D": ([IMAGE, (3, 2, 3, 4), (4,)], dict(CONV, num_args=1, num_host_args=0, TArgs=[tf.float32.as_datatype_enum], fused_ops=[b"BiasAdd"])),
    "_FusedMatMul": ([(3, 4), (4, 5), (5,)], dict(transpose_a=False, transpose_b=False, num_args=1, fused_ops=[b"BiasAdd"])),
    "ResourceApplyFtrl": ([SMALL] * 4 + [1, 0, 0, 0], {}),
    "ResourceApplyFtrlV2": ([SMALL] * 4 + [1, 0, 0, 0, 0], {}),
    **dict.fromkeys(["AdjustContrastv2", "AdjustHue", "AdjustSaturation"], ([IMAGE, ()], {})),
    **dict.fromkeys(["RGBToHSV", "HSVToRGB"], ([IMAGE], {})),
    **dict.fromkeys(["MaxPool3D", "AvgPool3D"], ([VOLUME], POOL3D)),
    "AvgPool3DGrad": ([list(VOLUME), VOLUME], POOL3D),
    "MaxPool3DGrad": ([VOLUME] * 3, POOL3D),
    "Conv3D": ([VOLUME, (3, 2, 2, 3, 4)], CONV3D),
    "Conv3DBackpropFilterV2": ([VOLUME, [3, 2, 2, 3, 4], (2, 4, 5, 4, 4)], CONV3D),
    "Conv3DBackpropInputV2": ([list(VOLUME), (3, 2, 2, 3, 4), (2, 4, 5, 4, 4)], CONV3D),
    "ClipByValue": ([IMAGE, (), ()], {}),
    "CropAndResize": ([IMAGE, (3, 4), [0, 1, 0], [2, 3]], dict(method=b"bilinear", extrapolation_value=0.5)),
    "CropAndResizeGradBoxes": ([(3, 2, 2, 3), IMAGE, (3, 4), [0, 1, 0]], dict(method=b"bilinear")),
    "CropAndResizeGradImage": ([(3, 2, 2, 3), (3, 4), [0, 1, 0], list(IMAGE)], dict(method=b"nearest")),
    "Cross": ([IMAGE, IMAGE], {}),
    **dict.fromkeys(["DataFormatDimMap", "DataFormatVecPermute"], ([[0, 1, 2, 3]], dict(src_format=b"NHWC", dst_format=b"NCHW"))),
    "Dilation2D": ([IMAGE, (2, 2, 3)], PATCHES),
    **dict.fromkeys(["Dilation2DBackpropInput", "Dilation2DBackpropFilter"], ([IMAGE, (2, 2, 3), IMAGE], PATCHES)),
    "ExtractImagePatches": ([IMAGE], dict(PATCHES, ksizes=[1, 2, 2, 1])),
    "ExtractVolumePatches": ([VOLUME], dict(POOL3D, ksizes=[1, 2, 2, 2, 1])),
    "FakeQuantWithMinMaxArgs": ([IMAGE], dict(num_bits=8)),
    "FakeQuantWithMinMaxArgsGradient": ([IMAGE] * 2, dict(num_bits=8)),
    "FakeQuantWithMinMaxVars": ([IMAGE, (), ()], dict(num_bits=8)),
    "FakeQuantWithMinMaxVarsGradient": ([IMAGE] * 2 + [()] * 2, dict(num_bits=8)),
    "FakeQuantWithMinMaxVarsPerChannel": ([IMAGE, SMALL, SMALL], dict(num_bits=8)),
    "FakeQuantWithMinMaxVarsPerChannelGradient": ([IMAGE] * 2 + [SMALL] * 2, dict(num_bits=8)),
    "HistogramFixedWidth": ([IMAGE, [0, 4], 3], {}),
    **dict.fromkeys(["InplaceAdd", "InplaceSub", "InplaceUpdate"], ([(4, 3), [1, 0], (2, 3)], {})),
    "IRFFT": ([(4, 5), [7]], {}), "IRFFT2D": ([(4, 5), [3, 7]], {}), "IRFFT3D": ([(2, 4, 5), [2, 3, 7]], {}),
    "RFFT": ([(4, 5), [4]], {}), "RFFT2D": ([(4, 5), [3, 5]], {}), "RFFT3D": ([(2, 4, 5), [2, 3, 4]], {}),
    **dict.fromkeys(["MaxPoolGradGrad", "MaxPoolGradWithArgmax", "MaxPoolGradGradWithArgmax"], ([IMAGE] * 3, POOL)),
    "MaxPool3DGradGrad": ([VOLUME] * 3, POOL3D),
    "MaxPoolV2": ([IMAGE, *WINDOWS], WINDOW),
    **dict.fromkeys(["MaxPoolGradV2", "MaxPoolGradGradV2"], ([IMAGE] * 3 + WINDOWS, WINDOW)),
    "MaxPoolWithArgmax": ([IMAGE], POOL),
    "NonMaxSuppressionV2": ([(5, 4), (5,), 3, 1], {}),
    **dict.fromkeys(["NonMaxSuppressionV3", "NonMaxSuppressionV4"], ([(5, 4), (5,), 3, 1, 0], {})),
    "NonMaxSuppressionV5": ([(5, 4), (5,), 3, 1, 0, 0], {}),
    **dict.fromkeys(["QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4"], ([IMAGE, -1, 1], dict(num_bits=8, axis=-1))),
    "QuantizeAndDequantizeV3": ([IMAGE, -1, 1, 8], dict(axis=-1)),
    "QuantizeAndDequantizeV4Grad": ([IMAGE, IMAGE, -1, 1], dict(axis=-1)),
    **dict.fromkeys(["FusedBatchNorm", "FusedBatchNormV2"], ([IMAGE, SMALL, SMALL, SMALL, SMALL], NORM)),
    **dict.fromkeys(["FusedBatchNormGrad", "FusedBatchNormGradV2"], ([IMAGE, IMAGE, SMALL, SMALL, SMALL], NORM)),
    "ImageProjectiveTransformV2": ([IMAGE, (1, 8), [4, 5]], PROJECTION),
    "ImageProjectiveTransformV3": ([IMAGE, (1, 8), [4, 5], ()], PROJECTION),
    "LRN": ([IMAGE], dict(depth_radius=2)),
    "LRNGrad": ([IMAGE] * 3, dict(depth_radius=2)),
    "Multinomial": ([(4, 5), 3], {}),
    "StatelessMultinomial": ([(4, 5), 3, [1, 2]], {}),
    **dict.fromkeys(["RandomUniform", "RandomStandardNormal", "TruncatedNormal"], ([[2, 3]], {})),
    "RandomUniformInt": ([[2, 3], 0, 9], {}),
    "ResizeBilinear": ([IMAGE, [4, 7]], RESIZE),
    "ResizeBilinearGrad": ([IMAGE, IMAGE], RESIZE),
    "ResizeNearestNeighbor": ([IMAGE, [4, 7]], RESIZE),
    "ResizeNearestNeighborGrad": ([IMAGE, [4, 7]], RESIZE),
    "AvgPool": ([IMAGE], POOL),
    "AvgPoolGrad": ([list(IMAGE), IMAGE], POOL),
    "BatchToSpace": ([(8, 2, 3, 1), [[0, 1], [1, 0]]], dict(block_size=2)),
    "BatchToSpaceND": ([(12, 2, 3, 1), [2, 3], [[0, 1], [1, 0]]], {}),
    "BiasAdd": ([IMAGE, SMALL], dict(data_format=b"NHWC")),
    "BiasAddV1": ([IMAGE, SMALL], {}),
    "Conv2D": ([IMAGE, (3, 2, 3, 4)], CONV),
    "Conv2DBackpropFilter": ([IMAGE, [3, 2, 3, 4], (2, 6, 5, 4)], CONV),
    "Conv2DBackpropInput": ([list(IMAGE), (3, 2, 3, 4), (2, 6, 5, 4)], CONV),
    "DepthwiseConv2dNative": ([IMAGE, (3, 2, 3, 4)], CONV),
    "DepthwiseConv2dNativeBackpropFilter": ([IMAGE, [3, 2, 3, 4], (2, 6, 5, 12)], CONV),
    "DepthwiseConv2dNativeBackpropInput": ([list(IMAGE), (3, 2, 3, 4), (2, 6, 5, 12)], CONV),
    "Einsum": ([(3, 4), (4, 5)], dict(N=2, equation=b"ij,jk->ik")),
    "FusedBatchNormGradV3": ([IMAGE, IMAGE, SMALL, SMALL, SMALL, SMALL], NORM),
    "FusedBatchNormV3": ([IMAGE, SMALL, SMALL, SMALL, SMALL], NORM),
    "GatherNd": ([(4, 3), SLICES[0]], POLICY),
    "GatherV2": ([(4, 5), [1, 0, 1], 0], dict(batch_dims=0)),
    "InTopK": ([(4, 5), [0, 1, 2, 4]], dict(k=2)),
    "InTopKV2": ([(4, 5), [0, 1, 2, 4], 2], {}),
    **dict.fromkeys(["MatrixDiagV2", "MatrixDiagV3"], ([(2, 3), 0, -1, -1, ()], dict(align=b"RIGHT_LEFT"))),
    "MatrixSetDiag": ([(2, 3, 4), (2, 3)], {}),
    **dict.fromkeys(["MatrixSetDiagV2", "MatrixSetDiagV3"], ([(2, 3, 4), (2, 3), 0], dict(align=b"RIGHT_LEFT"))),
    "MaxPool": ([IMAGE], POOL),
    "MaxPoolGrad": ([IMAGE, IMAGE, IMAGE], POOL),
    "MirrorPadGrad": ([(6, 8), [[1, 1], [2, 2]]], dict(mode=b"REFLECT")),
    "OneHot": ([[0, 1, 2], 3, (), ()], dict(axis=-1)),
    **dict.fromkeys(["AssignAddVariableOp", "AssignSubVariableOp"], ([SMALL, SMALL], {})),
    "ResourceApplyAdam": ([SMALL] * 3 + [()] * 6 + [SMALL], {}),
    "ResourceApplyGradientDescent": ([SMALL, (), SMALL], {}),
    **dict.fromkeys(["ResourceApplyMomentum", "ResourceApplyKerasMomentum"], ([SMALL, SMALL, (), SMALL, ()], {})),
    **dict.fromkeys([f"ResourceScatter{it}" for it in ("Add", "Div", "Max", "Min", "Mul", "Sub", "Update")], ([(4, 3), [1, 0, 1], (3, 3)], {})),
    **dict.fromkeys([f"ResourceScatterNd{it}" for it in ("Add", "Max", "Min", "Sub", "Update")], ([(4, 3), *SLICES], POLICY)),
    "ResourceGather": ([IMAGE, [1, 0, 1]], dict(batch_dims=0)),
    "ResourceGatherNd": ([(4, 3), SLICES[0]], {}),
    "ScatterNd": ([*SLICES, [4, 3]], POLICY),
    **dict.fromkeys(["ScatterNdNonAliasingAdd", *(f"TensorScatter{it}" for it in ("Add", "Max", "Min", "Sub", "Update"))], ([(4, 3), *SLICES], POLICY)),
    "SpaceToBatch": ([(2, 4, 6, 3), [[0, 0], [1, 1]]], dict(block_size=2)),
    "SpaceToBatchND": ([(2, 4, 6, 3), [2, 4], [[0, 0], [1, 1]]], {}),
    **dict.fromkeys([f"SparseSegment{it}" for it in ("Mean", "SqrtN", "Sum")], (SEGMENTS, {})),
    **dict.fromkeys([f"SparseSegment{it}WithNumSegments" for it in ("Mean", "SqrtN", "Sum")], ([*SEGMENTS, 2], {})),
    **dict.fromkeys([f"SparseSegment{it}{version}" for it in ("Mean", "SqrtN", "Sum") for version in ("Grad", "GradV2")], SEGMENT_GRADIENTS),
    "SparseTensorDenseMatMul": ([SPARSE[0], (2,), SPARSE[1], (4, 5)], dict(adjoint_a=False, adjoint_b=False)),
    "SparseToDense": ([*SPARSE, (2,), ()], {}),
    "SparseSoftmaxCrossEntropyWithLogits": ([(4, 5), [0, 1, 2, 4]], {}),
    "SplitV": ([(2, 6), [2, 4], 1], dict(num_split=2)),
    "StatelessRandomGammaV3": ([[2, 3], *SEED, (3,)], {}),
    "StatelessRandomUniformInt": ([[2, 3], [1, 2], 0, 9], {}),
    "StatelessRandomNormalV2": ([[2, 3], *SEED], {}),
    "StatelessRandomUniformFullIntV2": ([[2, 3], *SEED], {}),
    "StatelessRandomUniformIntV2": ([[2, 3], *SEED, 0, 9], {}),
    "StatelessRandomUniformV2": ([[2, 3], *SEED], {}),
    "StatelessTruncatedNormalV2": ([[2, 3], *SEED], {}),
    "StridedSlice": ([(4, 5), *SLICE], MASKS),
    "StridedSliceGrad": ([[4, 5], *SLICE, (3, 2)], MASKS),
}


class Case:
    """One call: its inputs and attributes are drawn from a seed."""

    def __init__(self, kernel, definition, seed):
        self.rng = np.random.default_rng(seed)
        self.kernel, self.definition, self.variables = kernel, definition, []
        inputs, attributes = EXAMPLES.get(definition.name, ([], {})) if self.chance(0.7) else ([], {})
        self.example = iter(inputs)
        self.attributes = {it.name: self.attribute(it) for it in definition.attr}
        self.attributes |= {name: value for name, value in attributes.items() if name in self.attributes and self.chance(0.9)}
        for argument in definition.output_arg:
            if argument.number_attr:  # TensorFlow's Python allocates an array of them before it checks the number
                self.attributes[argument.number_attr] = min(max(self.attributes[argument.number_attr], 1), 4)
        self.rank = 4 if self.has("data_format", "ksize") and self.chance(0.9) else self.below(6)
        self.base = [self.choice(DIMS) for _ in range(self.rank)]
        self.is_tame = self.chance(0.5)
        self.inputs = [it for argument in definition.input_arg for it in self.argument(argument)]

    def below(self, limit):
        return int(self.rng.integers(limit))

    def chance(self, probability):
        return self.rng.random() < probability

    def choice(self, items):
        return items[self.below(len(items))]

    def has(self, *names):
        return any(name in self.attributes for name in names)

    def attribute(self, attribute):
        """Returns a value; a type is one of those that the kernel is registered for."""
        allowed = next((it.allowed_values for it in self.kernel.constraint if it.name == attribute.name), attribute.allowed_values)
        kind, name = attribute.type, attribute.name
        if kind == "type":
            return self.choice(list(allowed.list.type) or [tf.float32.as_datatype_enum])
        if kind == "int":
            least = attribute.minimum if attribute.has_minimum else -3
            return self.choice([least, least + 1, 0, 1, 2]) if self.chance(0.9) else self.choice(WRONG)
        if kind == "bool":
            return self.chance(0.5)
        if kind == "float":
            return self.choice([0.0, 0.5, 1.0, -1.0, 1e-3])
        if kind == "string":
            return self.choice(list(allowed.list.s) or [it.encode() for it in EQUATIONS])
        if kind == "list(int)":
            return self.choice(PADDINGS if "padding" in name else SIZES) if name != "squeeze_dims" else self.choice([[], [0], [-1], [1, 2], [9]])
        if kind == "list(float)":
            return sorted(self.choice([0.0, 0.5, 1.0, -1.0]) for _ in range(self.below(4)))
        if kind == "list(type)":
            return [self.choice([tf.float32, tf.int32, tf.int64]).as_datatype_enum for _ in range(self.below(3))]
        if kind == "shape":
            return [self.choice(DIMS) for _ in range(self.below(4))]
        return None

    def argument(self, argument):
        """Yields the tensors of one input."""
        count = self.attributes[argument.number_attr] if argument.number_attr else 1
        kind = self.attributes[argument.type_attr] if argument.type_attr else argument.type
        if argument.number_attr:
            count = self.attributes[argument.number_attr] = min(max(count, 1), 4)
        types = self.attributes[argument.type_list_attr] if argument.type_list_attr else [kind] * count
        for kind in types:
            dtype, example = tf.as_dtype(kind), next(self.example, None)
            yield self.tensor(dtype) if example is None or self.chance(0.1) else self.like(example, dtype)

    def like(self, example, dtype):
        """Returns a tensor of the example's shape, or its integers."""
        if dtype == tf.resource:
            return self.variable(self.like(example, self.variable_type()))
        with tf.device("/CPU:0"):
            return tf.cast(tf.constant(self.rng.integers(0, 3, example) if isinstance(example, tuple) else example), dtype)

    def variable_type(self):
        """Returns the type of the op's variables, sometimes another one."""
        if self.definition.name.startswith(("Rng", "Stateful")) and self.chance(0.9):
            return tf.int64
        kinds = [tf.as_dtype(self.attributes[it]) for it in ("T", "dtype") if it in self.attributes and self.chance(0.9)]
        return kinds[0] if kinds and kinds[0] not in (tf.resource, tf.variant, tf.string) else tf.float32

    def variable(self, value):
        """Returns the handle of a variable, which lives as long as the case."""
        self.variables.append(tf.Variable(value))
        return self.variables[-1].handle

    def shape(self):
        """Returns the case's shape, one that broadcasts or reduces to it, or any."""
        if self.is_tame or self.chance(0.5):
            return self.base
        if self.chance(0.5):
            return [1 if self.chance(0.3) else dim for dim in self.base][self.below(len(self.base) + 1) :]
        return [self.choice(DIMS) for _ in range(self.below(7))]

    def tensor(self, dtype):
        if dtype == tf.string:
            return tf.constant(np.array([b"", b"text", b"x" * 40, "\u00fc".encode()], object)[self.rng.integers(0, 4, self.shape())])
        if dtype == tf.resource:
            return self.variable(self.tensor(self.variable_type()))
        if dtype == tf.variant:
            return tf.raw_ops.EmptyTensorList(element_shape=[2], max_num_elements=-1, element_dtype=tf.float32)
        if dtype.as_numpy_dtype in INTEGERS and self.chance(0.7):
            return tf.constant(self.integers(), dtype)
        numbers = self.rng.integers(0, 7, self.shape()) if self.chance(0.5) else self.rng.normal(size=self.shape())
        with tf.device("/CPU:0"):
            return tf.cast(tf.constant(numbers), dtype)

    def integers(self):
        """Returns sizes, axes, indices or a shape, as the integer inputs of most ops are; sometimes a wrong one."""
        rank = len(self.base)
        values = self.choice([
            self.base, self.rng.permutation(rank), self.rng.integers(0, 3, rank), self.rng.integers(-2, 3, rank), [-1] * rank,
            self.rng.integers(0, 3, (rank, 2)), self.below(4), self.below(max(rank, 1)), -1, [self.below(3)], self.rng.integers(0, 4, self.shape()),
        ])  # fmt: skip
        values = np.array(values, np.int64)
        if values.size and self.chance(0.15):
            values.reshape(-1)[self.below(values.size)] = self.choice(WRONG)
        return values

    def outputs(self):
        """Returns the number of outputs."""
        return sum(self.attributes[it.number_attr] if it.number_attr else 1 for it in self.definition.output_arg)

    def call(self):
        """Calls the op; returns its results."""
        attributes = {name: value for name, value in self.attributes.items() if value is not None}
        if not self.definition.name.startswith("_Mkl"):
            parts = tuple(part for attribute in attributes.items() for part in attribute)
            return execute.execute(self.definition.name, self.outputs(), self.inputs, parts, context.context())
        del attributes["T"]
        return call_in_graph(self.definition, self.inputs, attributes)

    def run(self, device):
        with tf.device(device):
            results = self.call()
        for result in results if isinstance(results, list) else [results]:
            if isinstance(result, tf.Tensor) and result.dtype not in (tf.resource, tf.variant):
                result.numpy()

    def __str__(self):
        return f"{self.definition.name} {self.attributes} {', '.join(map(describe_tensor, self.inputs))}"


def call_in_graph(definition, inputs, attributes):
    """Calls an op with one result in a function. In eager mode TensorFlow looks for oneDNN's kernels of those that begin with `_Mkl`."""
    names, apply = [it.name for it in definition.input_arg], op_def_library._apply_op_helper
    node = lambda *tensors: apply(definition.name, "node", **dict(zip(names, tensors)), **attributes)[2].outputs[0]
    return tf.function(node)(*inputs)


def describe_tensor(tensor):
    """Returns the type and shape, and the values of a short list of integers."""
    text = f"{tensor.dtype.name}{tensor.shape.as_list()}"
    is_short = tensor.dtype in (tf.int32, tf.int64) and tensor.shape.num_elements() <= 16
    return text + (f"={tensor.numpy().tolist()}" if is_short else "")


def sweep(device, op, registered, cases):
    """Returns the number of calls by outcome, and the first panic, if any."""
    outcomes, panic = collections.Counter(), None
    for seed in range(cases):
        case = Case(registered[seed % len(registered)], op_def_registry.get(op), [int(os.environ.get("SP_SEED", "1")), seed])
        write_last_case(case)
        try:
            case.run(device)
            outcomes["passed"] += 1
        except (tf.errors.OpError, ValueError, TypeError) as error:
            outcomes[type(error).__name__] += 1
            if "panic in" in str(error):
                panic = panic or f"{case}\n    {error}"
    return outcomes, panic


def write_last_case(case):
    if path := os.environ.get("SP_LAST_CASE"):
        with open(path, "w") as file:
            file.write(str(case))


def limit_memory():
    """Makes allocations of wrong sizes fail. AddressSanitizer needs all addresses, and has an option for this."""
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))


def is_on_host(kernel):
    """Returns true if core creates the kernel's variables on the CPU device only, whose own kernels write past wrong shapes."""
    has_variables = any(it.type == tf.resource for it in op_def_registry.get(kernel.op).input_arg)
    types = [it.allowed_values.list.type for it in kernel.constraint if it.name in ("T", "dtype")]
    return has_variables and [tf.int32.as_datatype_enum] in [list(it) for it in types]


def main(device, cases, *ops):
    """Returns the exit status."""
    limit_memory()
    tf.config.set_soft_device_placement(False)
    registered = {}
    for kernel in kernels.get_all_registered_kernels().kernel:
        if kernel.device_type == device and (not ops or kernel.op in ops) and not is_on_host(kernel):
            registered.setdefault(kernel.op, []).append(kernel)
    defects = [] if registered else [f"no kernel of {device} is registered"]
    for op in sorted(registered):
        outcomes, panic = sweep(f"/device:{device}:0", op, registered[op], int(cases))
        print(op, dict(outcomes), flush=True)
        defects += [panic] if panic else []
        defects += [f"{op}: no call passed"] if not outcomes["passed"] else []
    print(*defects, sep="\n")
    print(f"{len(registered)} ops, {int(cases)} calls each, {len(defects)} defects")
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
