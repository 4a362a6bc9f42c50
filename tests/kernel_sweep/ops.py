"""The table of the sweep: a line for each op says how its calls are drawn and how its results are compared."""

import dataclasses
import typing

import index_cases
import shape_cases
import numpy as np

import checks as c
import families as f
import patches as e
import pools as p
import random_ops as n
import sparse as s
import variables as v
import windows as w
from calls import R

shape_cases.R = index_cases.R = R


@dataclasses.dataclass
class Op:
    """How an op is swept.

    A result has the CPU's `bits`, is `equal` to the CPU's, or `close` to that of float64. Then `unit` is the number whose
    unit in the last place measures an error: that of the `element`, of the sum of the magnitudes of its `terms`, or of the
    largest element of the `tensor`. `limit` is in units.
    """

    make: typing.Callable
    result: str = "close"
    unit: str = "element"
    limit: float = 4


def bits(make):
    return Op(make, "bits")


def equal(make):
    return Op(make, "equal")


def terms(make, limit=8):
    return Op(make, unit="terms", limit=limit)


def tensor(make, limit=8):
    return Op(make, unit="tensor", limit=limit)


def without_nan(make):
    """Draws what `make` draws, with 0 in the place of NaN: where it is in the order of numbers depends on the CPU's loops."""

    def draw(r):
        function, inputs = make(r)
        return function, [np.where(it != it, it.dtype.type(0), it) for it in map(np.asarray, inputs)]

    return draw


def without_minus_zero(make):
    """Draws what `make` draws, with 0 in the place of -0: the CPU's hash of half differs for them."""

    def draw(r):
        function, inputs = make(r)
        return function, [it + it.dtype.type(0) if it.dtype.kind in "fV" else it for it in map(np.asarray, inputs)]

    return draw


def without_complex_infinity(make):
    """Draws what `make` draws, with 1 in the place of complex infinities: the CPU's vectors return NaN where its last elements have 0."""

    def draw(r):
        function, inputs = make(r)
        return function, [np.where(np.isinf(it), it.dtype.type(1), it) if it.dtype.kind == "c" else it for it in map(np.asarray, inputs)]

    return draw


def each(names, op):
    return {name: op(name) for name in names.split()}


def convolutions(op, rank, version="", is_depthwise=False):
    """Returns the lines of a convolution and of its gradients."""
    parts = [("", "output"), (f"BackpropInput{version}", "input"), (f"BackpropFilter{version}", "filter")]
    return {op + part: terms(w.convolution(op + part, rank, kind, is_depthwise)) for part, kind in parts}


# Functions of an element, with the range from which most inputs are and the largest error in units.
FUNCTIONS = {
    "Acos": (-1, 1, 4), "Acosh": (1, 90, 4), "Asin": (-1, 1, 4), "Asinh": (-90, 90, 4), "Atan": (-9, 9, 4), "Atanh": (-1, 1, 4),
    "Cos": (-99, 99, 4), "Cosh": (-9, 9, 4), "Digamma": (0.1, 9, 16), "Elu": (-9, 9, 4), "Erf": (-4, 4, 4), "Erfc": (-4, 4, 6),
    "Erfinv": (-1, 1, 4),
    "Exp": (-80, 80, 4), "Expm1": (-9, 9, 4), "BesselI0": (-30, 30, 4), "BesselI0e": (-60, 60, 4), "BesselI1": (-30, 30, 4),
    "BesselI1e": (-60, 60, 4), "BesselJ0": (-30, 30, 8), "BesselJ1": (-30, 30, 8), "BesselK0": (0.01, 30, 4), "BesselK0e": (0.01, 60, 4),
    "BesselK1": (0.01, 30, 4), "BesselK1e": (0.01, 60, 4), "BesselY0": (0.01, 30, 8), "BesselY1": (0.01, 30, 8), "Dawsn": (-12, 12, 4),
    "Expint": (0.01, 60, 4), "FresnelCos": (-9, 9, 4), "FresnelSin": (-9, 9, 4), "Spence": (0, 30, 4),
    "Inv": (-9, 9, 1), "Lgamma": (0.1, 9, 4), "Log": (0.1, 9, 4), "Log1p": (-0.9, 9, 4),
    "Ndtri": (0, 1, 32), "Reciprocal": (-9, 9, 1), "Rsqrt": (0.1, 9, 4), "Selu": (-9, 9, 4), "Sigmoid": (-20, 20, 4), "Sin": (-99, 99, 4),
    "Sinh": (-9, 9, 4), "Softplus": (-20, 20, 4), "Softsign": (-9, 9, 4), "Sqrt": (0, 9, 1), "Square": (-9, 9, 1),
    "Tan": (-1.5, 1.5, 4), "Tanh": (-9, 9, 4),
}  # fmt: skip
# Results of floats that the CPU's kernels round as well as the plugin's, after sums in another order.
SUMMED = "CumulativeLogsumexp Cumprod SegmentMean SegmentProd SparseSegmentMean SparseSegmentSqrtN SparseSegmentSum UnsortedSegmentProd"
LINEAR = "MirrorPadGrad Cumsum SegmentSum UnsortedSegmentSum ScatterNd ScatterNdNonAliasingAdd TensorScatterAdd TensorScatterSub"
SEGMENT_GRADIENTS = "SumGrad SumGradV2 MeanGrad MeanGradV2 SqrtNGrad SqrtNGradV2"
COMPARED = (
    "ArgMin Bincount DenseBincount InTopK InTopKV2 LowerBound UpperBound Range SegmentMin SegmentMax UnsortedSegmentMin"
    " UnsortedSegmentMax TensorScatterMin TensorScatterMax"
)
SEGMENTS = {
    **{f"SparseSegment{it}": index_cases.sparse_segment(f"SparseSegment{it}", []) for it in ("Mean", "SqrtN")},
    "UnsortedSegmentMax": index_cases.unsorted_segment("UnsortedSegmentMax", []),
}
MOVES = {**shape_cases.OPS, **index_cases.OPS, **SEGMENTS}
TRAINING = (
    "AdaMax Adadelta Adagrad AdagradV2 Adam AdamWithAmsgrad AddSign CenteredRMSProp Ftrl FtrlV2 GradientDescent KerasMomentum"
    " Momentum PowerSign ProximalAdagrad ProximalGradientDescent RMSProp"
)
ROWS_TRAINING = (
    "Adadelta Adagrad AdagradV2 CenteredRMSProp Ftrl FtrlV2 KerasMomentum Momentum ProximalAdagrad ProximalGradientDescent RMSProp"
)
GRADIENTS = (
    "EluGrad InvGrad ReciprocalGrad Relu6Grad ReluGrad RsqrtGrad SeluGrad SoftplusGrad SoftsignGrad SqrtGrad TanhGrad"
)
EXACT_OPERATORS = "BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift LogicalAnd LogicalOr Maximum Minimum NextAfter"
FAKE_QUANTIZED = "Args ArgsGradient Vars VarsGradient VarsPerChannel VarsPerChannelGradient"
AXES = [(1, ""), (2, "2D"), (3, "3D")]
STATELESS = "UniformV2 UniformFullIntV2 UniformIntV2 NormalV2"
BY_SEED = "RandomUniform RandomUniformInt RandomUniformFullInt RandomNormal TruncatedNormal"
GENERATORS = (
    "RngReadAndSkip RngSkip StatefulUniform StatefulUniformInt StatefulUniformFullInt StatefulStandardNormalV2"
    " StatefulTruncatedNormal"
)

OPS = {
    **{name: bits(make) for name, make in MOVES.items()},
    **{name: equal(MOVES[name]) for name in COMPARED.split()},
    **{name: terms(MOVES[name]) for name in LINEAR.split()},
    **{name: tensor(MOVES[name]) for name in SUMMED.split() if name in MOVES},
    **{name: equal(without_minus_zero(MOVES[name])) for name in ("Unique", "UniqueV2", "UniqueWithCounts")},
    "TopKV2": equal(without_nan(f.top_k)), "ArgMax": equal(f.arg_max),
    "CumulativeLogsumexp": tensor(f.running("CumulativeLogsumexp")),
    **{name: Op(f.unary(name, low, high), limit=limit) for name, (low, high, limit) in FUNCTIONS.items()},
    **each("Abs Ceil Floor Invert IsFinite IsInf IsNan LogicalNot Neg Relu Relu6 Rint", lambda op: equal(f.unary(op))), "Round": equal(f.rounded),
    "Sign": Op(f.unary("Sign"), limit=1),
    "LeakyRelu": Op(f.leaky("LeakyRelu", 1)),
    "LeakyReluGrad": Op(f.leaky("LeakyReluGrad", 2)),
    **each("Add AddV2 Sub Mul MulNoNan SquaredDifference", lambda op: Op(f.binary(op), limit=1)),
    **each("RealDiv DivNoNan", lambda op: Op(without_complex_infinity(f.binary(op)), limit=1)),
    **each("Atan2 Xlog1py Xlogy", lambda op: Op(f.binary(op))),
    **each("Pow Xdivy", lambda op: Op(without_complex_infinity(f.binary(op)))),
    **each("Div FloorDiv FloorMod Mod TruncateDiv TruncateMod", lambda op: Op(without_complex_infinity(f.division(op)), limit=1)),
    **each(EXACT_OPERATORS, lambda op: equal(f.binary(op))),
    **each("Equal NotEqual Greater GreaterEqual Less LessEqual", lambda op: equal(f.binary(op, few=True))),
    **each(GRADIENTS, lambda op: Op(f.same_shape(op))), "SigmoidGrad": Op(f.sigmoid_grad),
    "AddN": terms(f.add_n), "ClipByValue": equal(f.clip), "Cross": terms(f.cross), "L2Loss": terms(f.l2_loss), "Cast": equal(f.cast),
    "StringLength": equal(f.strings), "Complex": equal(f.binary("Complex")),
    **each("Conj Imag Real", lambda op: equal(f.unary(op))), **each("Angle ComplexAbs", lambda op: Op(f.unary(op))),
    **each("All Any Max Min", lambda op: equal(f.reduction(op))),
    **each("Sum Mean", lambda op: terms(f.reduction(op))),
    "Prod": Op(f.reduction("Prod"), limit=32),
    **each("Softmax LogSoftmax", lambda op: tensor(f.softmax(op))),
    "SoftmaxCrossEntropyWithLogits": tensor(f.cross_entropy),
    "SparseSoftmaxCrossEntropyWithLogits": tensor(f.sparse_cross_entropy),
    "MatMul": terms(f.product), "BatchMatMulV2": terms(f.batch_product), "Einsum": terms(f.einsum),
    **each("BiasAdd BiasAddGrad", lambda op: terms(f.bias(op))),
    **each("Igamma Igammac", lambda op: Op(f.between(op, (0.01, 20), (0, 30)), limit=64)),
    "Zeta": Op(f.between("Zeta", (1.01, 9), (0.1, 20)), limit=16), "Betainc": Op(f.between("Betainc", (0.1, 9), (0.1, 9), (0, 1)), limit=64),
    "Polygamma": Op(f.polygamma, limit=64),
    **each("FusedBatchNorm FusedBatchNormV2 FusedBatchNormGrad FusedBatchNormGradV2", lambda op: tensor(f.batch_norm(op), 32)),
    **each("FusedBatchNormV3 FusedBatchNormGradV3", lambda op: tensor(f.batch_norm(op), 32)),
    **each("LRN LRNGrad", lambda op: tensor(f.normalization(op), 32)),
    "Conv": terms(w.batches_convolution),
    **convolutions("Conv2D", 2), **convolutions("Conv3D", 3, "V2"), **convolutions("DepthwiseConv2dNative", 2, is_depthwise=True),
    **{op: equal(without_nan(w.pool(op, rank, "output"))) for op, rank in (("MaxPool", 2), ("MaxPool3D", 3))},
    **{op: terms(w.pool(op, rank, "output")) for op, rank in (("AvgPool", 2), ("AvgPool3D", 3))},
    **{op: tensor(w.pool(op, rank, "maximum")) for op, rank in (("MaxPoolGrad", 2), ("MaxPool3DGrad", 3))},
    **{op: terms(w.pool(op, rank, "average")) for op, rank in (("AvgPoolGrad", 2), ("AvgPool3DGrad", 3))},
    "MaxPoolV2": equal(p.input_windows("MaxPoolV2")), "MaxPoolGradV2": tensor(p.input_windows("MaxPoolGradV2")),
    "MaxPoolGradGradV2": equal(p.input_windows("MaxPoolGradGradV2")),
    **{op: equal(p.second_gradient(op, rank)) for op, rank in (("MaxPoolGradGrad", 2), ("MaxPool3DGradGrad", 3))},
    **each("MaxPoolWithArgmax MaxPoolGradGradWithArgmax", lambda op: equal(p.positions(op))),
    "MaxPoolGradWithArgmax": tensor(p.positions("MaxPoolGradWithArgmax")),
    **each("ResizeBilinear ResizeBilinearGrad ResizeNearestNeighborGrad", lambda op: tensor(w.resized(op), 32)),
    "ResizeNearestNeighbor": equal(w.resized("ResizeNearestNeighbor")), "CropAndResize": tensor(w.crops, 32),
    **each("CropAndResizeGradImage CropAndResizeGradBoxes", lambda op: tensor(c.crop_gradient(op), 32)),
    **each("NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4", lambda op: equal(c.suppression(op))),
    "NonMaxSuppressionV5": Op(c.suppression("NonMaxSuppressionV5")),
    **each("CheckNumerics CheckNumericsV2", lambda op: equal(c.check(op))), "ApproximateEqual": equal(c.approximate),
    **each("DeepCopy Snapshot", lambda op: bits(c.one_input(op))), "Empty": bits(c.empty), "PopulationCount": equal(c.one_input("PopulationCount")),
    "HistogramFixedWidth": equal(c.histogram), "Bucketize": equal(c.bucketize), "BiasAddV1": Op(c.bias_v1, limit=1),
    "InplaceUpdate": equal(c.rows("InplaceUpdate")), **each("InplaceAdd InplaceSub", lambda op: Op(c.rows(op), limit=1)),
    **each("DataFormatDimMap DataFormatVecPermute", lambda op: equal(c.formats(op))), "EuclideanNorm": tensor(f.reduction("EuclideanNorm")),
    "ExtractImagePatches": bits(e.extracted("ExtractImagePatches", 2)), "ExtractVolumePatches": bits(e.extracted("ExtractVolumePatches", 3)),
    "Dilation2D": equal(e.dilation("Dilation2D")), "Dilation2DBackpropInput": tensor(e.dilation("Dilation2DBackpropInput")),
    "Dilation2DBackpropFilter": tensor(e.dilation("Dilation2DBackpropFilter")),
    **{f"FakeQuantWithMinMax{it}": tensor(e.fake_quantized(f"FakeQuantWithMinMax{it}")) for it in FAKE_QUANTIZED.split()},
    **{f"QuantizeAndDequantize{it}": tensor(e.quantized(f"QuantizeAndDequantize{it}")) for it in "V2 V3 V4 V4Grad".split()},
    **{f"{kind}FFT{axes}": tensor(e.fourier(f"{kind}FFT{axes}", rank)) for kind in ("", "I") for rank, axes in AXES},
    **{f"{kind}FFT{axes}": tensor(e.real_fourier(f"{kind}FFT{axes}", rank)) for kind in ("R", "IR") for rank, axes in AXES},
    **each("ImageProjectiveTransformV2 ImageProjectiveTransformV3", lambda op: tensor(w.projected(op), 64)),
    **each("RGBToHSV HSVToRGB", lambda op: tensor(w.colors(op), 32)),
    **each("AdjustContrastv2 AdjustHue AdjustSaturation", lambda op: tensor(w.adjusted(op), 32)),
    **each("RandomUniform RandomStandardNormal TruncatedNormal RandomUniformInt", lambda op: bits(n.seeded(op))),
    **{f"StatelessRandom{it}": bits(n.stateless(f"StatelessRandom{it}")) for it in STATELESS.split()},
    "StatelessTruncatedNormalV2": bits(n.stateless("StatelessTruncatedNormalV2")),
    **each("Multinomial StatelessMultinomial", lambda op: bits(n.classes(op))),
    **{f"Stateless{it}": bits(n.by_seed(f"Stateless{it}")) for it in BY_SEED.split()},
    **each("StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg", lambda op: bits(n.key_counter(op))),
    **each("StatelessRandomGammaV2 StatelessRandomGammaV3", lambda op: bits(n.gamma(op))),
    "StatelessRandomBinomial": bits(n.binomial("StatelessRandomBinomial")), "StatefulRandomBinomial": bits(v.binomial),
    "StatelessRandomGetAlg": bits(n.algorithm),
    **each(GENERATORS, lambda op: bits(v.generator(op))),
    **{f"SparseSegment{it}WithNumSegments": tensor(s.totals(f"SparseSegment{it}WithNumSegments")) for it in "Sum Mean SqrtN".split()},
    **{f"SparseSegment{it}": tensor(s.totals_gradient(f"SparseSegment{it}")) for it in SEGMENT_GRADIENTS.split()},
    "SparseToDense": bits(s.to_dense), "SparseTensorDenseMatMul": terms(s.mat_mul),
    **{f"ResourceSparseApply{it}": tensor(v.rows_training(f"ResourceSparseApply{it}")) for it in ROWS_TRAINING.split()},
    **each("ResourceStridedSliceAssign TensorStridedSliceUpdate", lambda op: bits(v.strided(op))),
    **{f"ResourceApply{it}": tensor(v.training(f"ResourceApply{it}")) for it in TRAINING.split()},
    **each("AssignAddVariableOp AssignSubVariableOp", lambda op: Op(v.assign(op), limit=1)),
    **each(" ".join(f"ResourceScatter{it}" for it in "Add Sub Mul Div".split()), lambda op: Op(v.rows(op), limit=1)),
    **each("ResourceGather ResourceScatterMin ResourceScatterMax ResourceScatterUpdate", lambda op: equal(v.rows(op))),
    **each("ResourceScatterNdAdd ResourceScatterNdSub", lambda op: Op(v.elements(op), limit=1)),
    **each("ResourceGatherNd ResourceScatterNdMin ResourceScatterNdMax ResourceScatterNdUpdate", lambda op: equal(v.elements(op))),
}  # fmt: skip


def is_lowest(found, cpu):
    return np.isneginf(found.astype(float)) & (cpu.astype(float) < -1e4)


def is_bessel_of_infinity(found, cpu):
    return np.isnan(cpu) & (np.isinf(found) | (found == 0))


def is_bessel_of_large(found, cpu):
    return (np.abs(found) < 1e-7) & (np.abs(cpu) < 1e-7)


# Results that differ from the CPU's: a function of both, and the reason.
DEVIATIONS = {
    **dict.fromkeys(
        "BesselI0 BesselI1 BesselJ0 BesselJ1 BesselY0 BesselY1 Expint Spence".split(),
        [(is_bessel_of_infinity, "the CPU's results of infinity and of BesselY1 of 0 are NaN")],
    ),
    "Erf": [(lambda found, cpu: np.isnan(cpu) & (np.abs(found) == 1), "the CPU's Erf of infinity in float64 is NaN")],
    "SqrtGrad": [(lambda found, cpu: (cpu == 0) | np.isinf(found) & np.isnan(cpu), "the CPU flushes an intermediate result to 0")],
    "ResizeBilinearGrad": [(lambda found, cpu: np.isclose(found, cpu, 1e-5, 1e-5), "the CPU adds in float32 for float64")],
    "Pow": [(lambda found, cpu: (found.dtype.kind == "c") & np.isinf(found) & np.isinf(cpu), "the angle of a complex power that overflows has no digits")],
    **dict.fromkeys(["MaxPool", "MaxPool3D"], [(is_lowest, "the CPU's maximum of negative infinities is the lowest number")]),
}
for op in "BesselJ0 BesselJ1 BesselY0 BesselY1".split():
    DEVIATIONS[op] = [*DEVIATIONS[op], (is_bessel_of_large, "the CPU's angles of large numbers have no digits, not even in float64")]
# Errors of the CPU that the plugin does not have, or has as another class: a part of the message, and the reason.
ERRORS = {
    "GatherNd": [("Only indices.shape[-1] values between 1", "the CPU's gradient rejects indices without dims")],
    "Reverse": [("Invalid input first dimension", "the CPU's kernel rejects empty vectors")],
    **dict.fromkeys(["TruncateDiv", "TruncateMod"], [("Unexpected error in binary operator", "the plugin's error is that of FloorDiv")]),
}
# Ops that are not swept, and why.
EXCLUDED = {
    "FusedBiasRelu": "an op of the scaffold, which the CPU does not have: test_custom_ops.py",
    "Identity": "has kernels of resources and variants only, which every function of variables runs",
    **dict.fromkeys(
        ["_FusedBatchNormEx", "_MklFusedInstanceNorm", "_MklLayerNorm"],
        "only TensorFlow's graph optimizer creates it: test_batch_norm.py",
    ),
    "_FusedConv2D": "only graph optimizers create it: test_fusion.py",
    "_FusedMatMul": "only graph optimizers create it: test_fusion.py",
    "SpRandomBinomial": "only the SDK's optimizer creates it: test_generators.py",
    "SpReserveNumbers": "only the SDK's optimizer creates it: test_generators.py",
    **{f"CudnnRNN{it}": "the CPU has no kernel of it: test_recurrent.py" for it in (
        "", "V2", "V3", "Backprop", "BackpropV2", "BackpropV3", "ParamsSize", "ParamsToCanonical", "ParamsToCanonicalV2",
        "CanonicalToParams", "CanonicalToParamsV2",
    )},
    "CTCLossV2": "the CPU has no kernel of it: test_ctc.py",
    **{it: "the CPU compiles it by XLA: test_xla_ops.py" for it in ("XlaDynamicSlice", "XlaDynamicUpdateSlice", "XlaSharding")},
    "_TensorToHashBucketFast": "only TensorFlow's graph optimizer creates it: test_optimizer_ops.py",
    **dict.fromkeys(["SpElementwise", "SpElementwiseResults"], "only the SDK's optimizer creates it: test_elementwise.py"),
}
# Ops with kernels that no call needs, and why.
UNCALLED = {
    **dict.fromkeys(["DataFormatDimMap", "DataFormatVecPermute"], "only the optimizer of layouts writes ops with the label host"),
    **dict.fromkeys(["LogicalAnd", "LogicalNot", "LogicalOr"], "only the SDK's optimizer writes ops with the label host: test_conditions.py"),
    **dict.fromkeys(["AddN", "ZerosLike"], "lists of tensors, in the releases that export their functions: test_variable_updates.py"),
    "MaxPool3DGrad": "the CPU has no kernel whose inputs have two types",
}
