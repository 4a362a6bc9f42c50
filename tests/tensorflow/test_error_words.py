"""Errors contain the words of TensorFlow's own, for which users search: the same pattern matches the CPU's error and the device's.

The CPU's errors are those without oneDNN, which TensorFlow uses on some processors only, and which has other words. As a program
this file prints them.
"""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from conftest import DEVICE, RELEASE
from outcomes import R

pytestmark = pytest.mark.usefixtures("hard_placement")


def z(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def i(*values, dtype=np.int32):
    return np.array(values, dtype)


# The op, its invalid arguments, and the pattern of which TensorFlow's own tests and users look for a part.
CASES = [
    ("AddV2", dict(x=z(2, 3), y=z(3, 2)), r"Incompatible shapes: \[2,3\] vs\. \[3,2\]"),
    ("Mul", dict(x=z(2), y=z(3)), r"Incompatible shapes: \[2\] vs\. \[3\]"),
    ("Maximum", dict(x=z(2, 1, 4), y=z(3, 3)), r"Incompatible shapes"),
    ("Pow", dict(x=i(2, 3), y=i(-1, 2)), r"Integers to negative integer powers are not allowed"),
    ("FloorDiv", dict(x=i(2, dtype=np.int64), y=i(0, dtype=np.int64)), r"(?i)(integer )?division by zero"),
    ("SelectV2", dict(condition=np.array([True, False]), t=z(3), e=z(3)), r"must be broadcastable"),
    ("AddN", dict(inputs=[z(2, 3), z(3, 2), z(2, 3)]), r"(?i)must have the same size and shape|Inputs to operation"),
    ("MatMul", dict(a=z(2), b=z(2, 3)), r"In\[0\] is not a matrix|In\[0\] and In\[1\] has different ndims"),
    ("MatMul", dict(a=z(2, 3), b=z(2, 3)), r"Matrix size-incompatible: In\[0\]: \[2,3\], In\[1\]: \[2,3\]"),
    ("BatchMatMulV2", dict(x=z(2, 2, 3), y=z(2, 2, 3)), r"Matrix size-incompatible: In\[0\]: \[2,2,3\], In\[1\]: \[2,2,3\]"),
    ("BatchMatMulV2", dict(x=z(2, 2, 3), y=z(3, 3, 2)), r"In\[0\] and In\[1\] must have compatible batch dimensions"),
    ("BatchMatMulV2", dict(x=z(3), y=z(3, 3)), r"ndims must be >= 2"),
    ("BiasAdd", dict(value=z(2, 3), bias=z(2)), r"Must provide as many biases as the last dimension of the input tensor"),
    ("BiasAdd", dict(value=z(2, 3), bias=z(1, 3)), r"Biases must be 1D"),
    ("BiasAdd", dict(value=z(3), bias=z(3)), r"Input tensor must be at least 2D"),
    ("BiasAddGrad", dict(out_backprop=z(3)), r"Input tensor must be at least 2D"),
    ("ConcatV2", dict(values=[z(2, 3), z(2, 4)], axis=0), r"Dimension 1 in both shapes must be equal"),
    ("ConcatV2", dict(values=[z(2, 3), z(2, 3)], axis=2), r"in the range \[-2, 2\), but got 2"),
    ("Pack", dict(values=[z(2, 3), z(2, 4)], axis=0), r"Shapes of all inputs must match"),
    ("Unpack", dict(value=z(2, 3), num=2, axis=2), r"axis = 2 not in \[-2, 2\)"),
    ("Split", dict(axis=0, value=z(3, 2), num_split=2), r"evenly divide|must be evenly"),
    ("SplitV", dict(value=z(3, 2), size_splits=i(1, 1), axis=0, num_split=2), r"(?i)must either match (input|the) shape along split_dim exactly"),
    ("Slice", dict(input=z(3), begin=i(4), size=i(1)), r"Expected begin\[0\] in \[0, 3\], but got 4"),
    ("Slice", dict(input=z(3), begin=i(1), size=i(3)), r"Expected size\[0\] in \[0, 2\], but got 3"),
    ("StridedSlice", dict(input=z(3), begin=i(5), end=i(6), strides=i(1), shrink_axis_mask=1), r"slice index 5 of dimension 0 out of bounds"),
    ("StridedSlice", dict(input=z(3), begin=i(0), end=i(2), strides=i(0)), r"strides\[0\] must be non-zero"),
    ("Tile", dict(input=z(3), multiples=i(-1)), r"Expected multiples\[0\] >= 0, but got -1"),
    ("Tile", dict(input=z(3), multiples=i(1, 2)), r"Expected multiples argument to be a vector of length 1 but got length 2"),
    ("Transpose", dict(x=z(2, 3), perm=i(0)), r"transpose expects a vector of size 2"),
    ("Transpose", dict(x=z(2, 3), perm=i(0, 2)), r"2 is out of range \[0 \.\. 2\)"),
    ("Transpose", dict(x=z(2, 3), perm=i(0, 0)), r"1 is missing from"),
    ("Pad", dict(input=z(2, 3), paddings=i([1, -1], [0, 0])), r"(?i)paddings must be non-negative"),
    ("Pad", dict(input=z(2, 3), paddings=i([1, 1])), r"(?i)first dimension of paddings must be the rank of inputs"),
    ("MirrorPad", dict(input=z(2, 3), paddings=i([2, 0], [0, 0]), mode="REFLECT"), r"(?i)paddings must be"),
    ("GatherV2", dict(params=z(3, 2), indices=i(3), axis=0), r"indices\[0\] = 3 is not in \[0, 3\)"),
    ("GatherNd", dict(params=z(3, 2), indices=i([3, 0])), r"indices\[0\] = \[3, 0\] does not index into param shape \[3,2\]"),
    ("ScatterNd", dict(indices=i([5]), updates=z(1), shape=i(3)), r"indices\[0\] = \[5\] does not index into shape \[3\]"),
    ("TensorScatterUpdate", dict(tensor=z(3), indices=i([5]), updates=z(1)), r"indices\[0\] = \[5\] does not index into shape \[3\]"),
    ("OneHot", dict(indices=i(1), depth=-1, on_value=1.0, off_value=0.0), r"depth must be non-negative, got: -1"),
    ("Sum", dict(input=z(2, 3), axis=i(2)), r"Invalid reduction dimension \(2 for input with 2 dimension\(s\)"),
    ("Mean", dict(input=z(2, 3), axis=i(-3)), r"Invalid reduction dimension"),
    ("Sum", dict(input=z(2, 3), axis=i(0, 0)), r"Axes contains duplicate dimension: 0"),
    ("ArgMax", dict(input=z(2, 3), dimension=2), r"in the range \[-2, 2\), but got 2"),
    ("ArgMax", dict(input=z(0, 3), dimension=0), r"Reduction axis 0 is empty in shape \[0,3\]"),
    ("Cumsum", dict(x=z(2, 3), axis=2), r"in the range \[-2, 2\), but got 2"),
    ("TopKV2", dict(input=z(2, 3), k=4), r"input must have at least k columns"),
    ("TopKV2", dict(input=z(2, 3), k=-1), r"Need k >= 0, got -1"),
    ("TopKV2", dict(input=z(1, 32768), k=1, index_type=tf.int16), r"Second dimension of flattened input must be <= 32767"),
    ("UniqueV2", dict(x=z(3), axis=z(0, 2, dtype=np.int32)), r"axis expects a 1D vector|axis must be a vector"),
    ("QuantizeAndDequantizeV2", dict(input=z(3), input_min=np.nan, input_max=1.0, range_given=True), r"Invalid range: input_min"),
    ("SpaceToBatchND", dict(input=z(2**40, 0), block_shape=i(2**40, dtype=np.int64), paddings=i([0, 0])), r"overflow when multiplying 1099511627776 and"),
    ("StatelessRandomUniformV2", dict(shape=i(0), key=i(1, dtype=np.uint64), counter=i(1, 2, dtype=np.uint64), alg=9), r"counter must be|Unsupported algorithm id: 9"),
    ("ReverseV2", dict(tensor=z(2, 3), axis=i(2)), r"is out of valid range \[0, "),
    ("ReverseV2", dict(tensor=z(2, 3), axis=i(0, 0)), r"axis 0 specified more than once"),
    ("SegmentSum", dict(data=z(3, 2), segment_ids=i(0, 1)), r"segment_ids should be the same size as dimension 0 of input"),
    ("SegmentSum", dict(data=z(3, 2), segment_ids=i(1, 0, 1)), r"segment ids are not increasing"),
    ("UnsortedSegmentSum", dict(data=z(3), segment_ids=i(0, 3, 1), num_segments=2), r"segment_ids\[1\] = 3 is out of range \[0, 2\)"),
    ("DynamicPartition", dict(data=z(3), partitions=i(0, 3, 1), num_partitions=2), r"partitions\[1\] = 3 is not in \[0, 2\)"),
    ("SparseSoftmaxCrossEntropyWithLogits", dict(features=z(2, 3), labels=i(0, 1, 2)), r"logits and labels must have the same first dimension"),
    ("SparseSoftmaxCrossEntropyWithLogits", dict(features=z(3), labels=i(0, 1, 2)), r"logits must be 2-D|must be rank 2|must be rank  2"),
    ("SoftmaxCrossEntropyWithLogits", dict(features=z(2, 3), labels=z(3, 2)), r"logits and labels must be broadcastable"),
    ("Softmax", dict(logits=z()), r"logits must have >= 1 dimension"),
    ("InTopKV2", dict(predictions=z(2, 3), targets=i(0), k=1), r"First dimension of predictions 2 must match length of targets 1"),
    ("Conv2D", dict(input=z(3, 3, 1), filter=z(1, 1, 1, 1), strides=[1, 1, 1, 1], padding="SAME"), r"must be 4-dimensional"),
    ("Conv2D", dict(input=z(1, 3, 3, 3), filter=z(1, 1, 2, 1), strides=[1, 1, 1, 1], padding="SAME"), r"(?i)input depth must be evenly divisible by filter depth: 3 vs 2"),
    ("Conv3D", dict(input=z(1, 2, 2, 2, 3), filter=z(1, 1, 1, 2, 1), strides=[1] * 5, padding="SAME"), r"(?i)input depth must be evenly divisible by filter depth: 3 vs 2"),
    ("Conv2D", dict(input=z(1, 3, 3, 3), filter=z(1, 1, 3, 1), strides=[2, 1, 1, 1], padding="SAME"), r"does not yet support strides in the batch and depth dimensions"),
    ("DepthwiseConv2dNative", dict(input=z(1, 3, 3, 3), filter=z(1, 1, 2, 1), strides=[1] * 4, padding="SAME"), r"(?i)input and filter must have the same depth: 3 vs 2"),
    ("AvgPool", dict(value=z(1, 3, 3, 2), ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding="SAME"), r"Non-spatial pooling is not yet supported"),
    ("MaxPool", dict(input=z(1, 3, 3, 1), ksize=[2, 1, 1, 1], strides=[1, 1, 1, 1], padding="SAME"), r"Pooling is not yet supported on the batch dimension"),
    ("FusedBatchNormV3", dict(x=z(1, 2, 3), scale=z(3), offset=z(3), mean=z(0), variance=z(0)), r"input,? must be 4( or 5)?-dimensional"),
    ("FusedBatchNormV3", dict(x=z(1, 2, 2, 3), scale=z(2), offset=z(3), mean=z(0), variance=z(0)), r"scale must have the same number of elements as the channels of x, got 2 and 3"),
    ("ResizeBilinear", dict(images=z(2, 2, 1), size=i(2, 2)), r"input must be 4-dimensional"),
    ("ResizeBilinear", dict(images=z(1, 2, 2, 1), size=i(0, 2)), r"output dimensions must be positive"),
    ("CropAndResize", dict(image=z(1, 2, 2, 1), boxes=z(1, 3), box_ind=i(0), crop_size=i(2, 2)), r"boxes must have 4 columns"),
    ("NonMaxSuppressionV3", dict(boxes=z(2, 3), scores=z(2), max_output_size=1, iou_threshold=0.5, score_threshold=0.0), r"boxes must have 4 columns"),
    ("NonMaxSuppressionV3", dict(boxes=z(2, 4), scores=z(3), max_output_size=1, iou_threshold=0.5, score_threshold=0.0), r"scores has incompatible shape"),
    ("NonMaxSuppressionV3", dict(boxes=z(2, 4), scores=z(2), max_output_size=1, iou_threshold=1.5, score_threshold=0.0), r"iou_threshold must be in \[0, 1\]"),
    ("MatrixBandPart", dict(input=z(2, 3), num_lower=5, num_upper=0), r"num_lower must be negative or less or equal to number of rows \(2\) got: 5"),
    ("MatrixDiagPart", dict(input=z(3)), r"input must be at least 2-dim"),
    ("RandomUniformInt", dict(shape=i(2), minval=5, maxval=3), r"Need minval < maxval, got 5 >= 3"),
    ("StatelessRandomUniform", dict(shape=i(-1), seed=i(1, 2)), r"must be (non-negative|>= 0)|>= 0"),
    ("StatelessRandomUniform", dict(shape=i(2), seed=i(1, 2, 3)), r"seed must have shape \[2\], not \[3\]"),
    ("Multinomial", dict(logits=z(3), num_samples=2), r"logits should be a matrix, got shape \[3\]"),
    ("Multinomial", dict(logits=z(1, 3), num_samples=-1), r"num_samples should be non-?negative, got -1"),
    ("RFFT", dict(input=z(3), fft_length=i(4)), r"(?i)input dimension 0 must have length of at least 4 but got: 3"),
    ("RFFT2D", dict(input=z(3), fft_length=i(4, 4)), r"Input must have rank of at least 2 but got"),
    ("DenseBincount", dict(input=i(0, 1), size=-1, weights=z(0)), r"size \(-1\) must be non-negative"),
    ("Roll", dict(input=z(2, 3), shift=i(1), axis=i(2)), r"axis is out of range|axis .* out of range|is out of range"),
    ("Cross", dict(a=z(2), b=z(2)), r"Cross-products are only defined for 3-element vectors"),
    ("ClipByValue", dict(t=z(2, 3), clip_value_min=z(3), clip_value_max=z()), r"(?i)must be either of the same shape as input, or a scalar"),
    ("SpaceToDepth", dict(input=z(1, 3, 4, 1), block_size=2), r"(?i)(width|height) 3 and .*should be divisible|should be divisible by"),
    ("DepthToSpace", dict(input=z(1, 2, 2, 3), block_size=2), r"(?i)3 should be divisible by 4|should be divisible by"),
    ("BroadcastTo", dict(input=z(2, 3), shape=i(2, 2)), r"Incompatible shapes"),
    ("CheckNumerics", dict(tensor=np.float32([np.nan]), message="x"), r"Tensor had NaN"),
    ("LeftShift", dict(x=i(1, 2), y=i(1, 2, 3)), r"Incompatible shapes"),
    ("ReluGrad", dict(gradients=z(2), features=z(3)), r"(?i)same (size|shape)|Inputs to operation|must be the same"),
    ("Einsum", dict(inputs=[z(2, 3), z(2, 3)], equation="ij,jk->ik"), r"(?i)incompatible dim|Expected dimension|must be equal"),
]  # fmt: skip


def message(op, arguments, device):
    """Returns the message of the error that the op raises on the device."""
    try:
        with tf.device(device):
            is_input = lambda it: isinstance(it, (np.ndarray, list)) and not (isinstance(it, list) and it and isinstance(it[0], int))
            constants = {name: tf.nest.map_structure(tf.constant, it) if is_input(it) else it for name, it in arguments.items()}
            result = getattr(R, op)(**constants)
    # An op has no such attribute in an older release.
    except (tf.errors.OpError, ValueError, TypeError) as error:
        return str(error)
    return f"no error, but {tf.nest.map_structure(lambda it: it.shape, result)}"


@pytest.fixture(scope="module")
def expected():
    """Returns the CPU's message of each case."""
    variables = {**os.environ, "TF_ENABLE_ONEDNN_OPTS": "0"}
    process = subprocess.run([sys.executable, __file__], env=variables, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout.splitlines()[-1])


@pytest.mark.parametrize("case", range(len(CASES)), ids=lambda it: f"{CASES[it][0]}-{it}")
def test_error_has_the_words_of_tensorflow(expected, case):
    op, arguments, pattern = CASES[case]
    if RELEASE < (2, 21) and not re.search(pattern, expected[case]):
        pytest.skip(f"another message in this release: {expected[case][:100]}")
    assert re.search(pattern, expected[case]), "the message of the CPU has other words"
    found = message(op, arguments, f"/device:{DEVICE}:0")
    assert re.search(pattern, found), f"not in the device's message: {expected[case]}"


if __name__ == "__main__":
    print(json.dumps([message(op, arguments, "/CPU:0") for op, arguments, _ in CASES]))
