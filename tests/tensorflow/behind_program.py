"""Computes on the asynchronous device of the environment, and prints results of kernels that can run behind their calls, as JSON.

The argument is the name of a function of `PARTS`. Two processes with the same argument print the same results.
"""

import ctypes
import gc
import hashlib
import json
import os
import pathlib
import re
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.python.eager import context  # noqa: E402

R = tf.raw_ops
RELEASE = tuple(map(int, tf.__version__.split(".")[:2]))
DEVICE = "/device:MYACCEL:0"
BFLOAT16 = tf.bfloat16.as_numpy_dtype
FLOATS = [np.float32, np.float64, np.float16, BFLOAT16]
NUMBERS = [*FLOATS, np.int32, np.int64, np.complex64]
SHAPES = [(), (0,), (5,), (3, 4), (2, 0, 3), (2, 3, 1, 5), (37, 41)]
PAIRS = [((), ()), ((), (5,)), ((0, 3), (1, 3)), ((3, 4), (3, 4)), ((3, 4), (4,)), ((2, 1, 3), (4, 1)), ((37, 41), (37, 1))]
UNARY = ["Abs", "Exp", "Floor", "Neg", "Sigmoid", "Sign", "Sqrt", "Square", "Tanh"]
BINARY = ["AddV2", "Equal", "FloorDiv", "Less", "Maximum", "Minimum", "Mul", "RealDiv", "SquaredDifference", "Sub"]
EVERY_TYPE = ["AddV2", "Mul", "Square", "Sub"]


class Tensors:
    """A seeded source of tensors."""

    def __init__(self):
        self.random = np.random.default_rng(11)

    def number(self, shape, dtype=np.float32):
        values = self.random.normal(scale=3, size=shape) + 0.125
        return tf.constant(np.asarray(values).astype(dtype))

    def boolean(self, shape):
        return np.asarray(self.random.random(shape) < 0.5)


def elementwise_cases():
    """Yields the op, and the arguments of a call."""
    of = Tensors()
    for dtype in NUMBERS:
        for op in UNARY if dtype in FLOATS else [it for it in UNARY if it in EVERY_TYPE]:
            yield from ((op, {"x": of.number(shape, dtype)}) for shape in SHAPES)
        for op in BINARY if dtype in FLOATS else [it for it in BINARY if it in EVERY_TYPE]:
            yield from ((op, {"x": of.number(x, dtype), "y": of.number(y, dtype)}) for x, y in PAIRS)


def shape_cases():
    """Yields calls of ops that move and select data."""
    of = Tensors()
    for dtype in [*FLOATS, np.int32, np.int64]:
        x, y, image = of.number((3, 4), dtype), of.number((3, 4), dtype), of.number((4, 2, 6, 3), dtype)
        for shape in SHAPES:
            yield "OnesLike", {"x": of.number(shape, dtype)}
            yield "ZerosLike", {"x": of.number(shape, dtype)}
            yield "Pack", {"values": [of.number(shape, dtype), of.number(shape, dtype)]}
            yield "BroadcastTo", {"input": of.number(shape, dtype), "shape": (2, *shape)}
        yield "BatchToSpaceND", {"input": image, "block_shape": [2, 2], "crops": [[0, 1], [1, 0]]}
        yield "Cast", {"x": x, "DstT": tf.float32}
        yield "Cast", {"x": x, "DstT": tf.bfloat16}
        yield "Cast", {"x": x, "DstT": tf.bool}
        yield "ConcatV2", {"values": [x, y, of.number((3, 0), dtype)], "axis": 1}
        yield "DepthToSpace", {"input": of.number((1, 2, 3, 8), dtype), "block_size": 2}
        yield "Fill", {"dims": [2, 3], "value": of.number((), dtype)}
        yield "MirrorPad", {"input": x, "paddings": [[1, 2], [0, 1]], "mode": "REFLECT"}
        yield "OneHot", {"indices": [0, 2, -1], "depth": 3, "on_value": of.number((), dtype), "off_value": of.number((), dtype)}
        yield "Pad", {"input": x, "paddings": [[1, 2], [0, 1]]}
        yield "PadV2", {"input": x, "paddings": [[1, 2], [0, 1]], "constant_values": of.number((), dtype)}
        yield "ReverseV2", {"tensor": image, "axis": [0, 2]}
        yield "Select", {"condition": of.boolean((3, 4)), "x": x, "y": y}
        yield "SelectV2", {"condition": of.boolean((4,)), "t": x, "e": of.number((), dtype)}
        yield "Slice", {"input": image, "begin": [1, 0, 2, 1], "size": [2, -1, 3, 2]}
        yield "SpaceToBatchND", {"input": image, "block_shape": [2, 3], "paddings": [[0, 0], [1, 2]]}
        yield "SpaceToDepth", {"input": image, "block_size": 2}
        yield "Split", {"axis": 1, "value": x, "num_split": 2}
        yield "SplitV", {"value": x, "size_splits": [1, 0, 3], "axis": 1, "num_split": 3}
        yield "StridedSlice", {"input": image, "begin": [0, 1, 5, 0], "end": [4, 2, 0, 3], "strides": [2, 1, -2, 1]}
        yield "StridedSliceGrad", {"shape": [6, 4], "begin": [0, 0], "end": [6, 4], "strides": [2, 1], "dy": x}
        yield "Tile", {"input": x, "multiples": [2, 3]}
        yield "Transpose", {"x": image, "perm": [3, 1, 0, 2]}
        yield "Unpack", {"value": x, "num": 3}


def reduction_cases():
    """Yields calls of reductions, scans, products and activations."""
    of = Tensors()
    for axes in [[0], [1], [0, 1], []]:
        yield "All", {"input": of.boolean((3, 4)), "axis": axes}
        yield "Any", {"input": of.boolean((3, 4)), "axis": axes}
    x = {"x": of.boolean((3, 4))}
    yield "LogicalNot", x
    yield "LogicalAnd", {**x, "y": of.boolean((4,))}
    yield "LogicalOr", {**x, "y": of.boolean(())}
    for dtype in FLOATS:
        x, y, bias = of.number((3, 4), dtype), of.number((4, 5), dtype), of.number((4,), dtype)
        for op in ["EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum"]:
            for shape, axes in [((3, 4), [0]), ((37, 41), [1]), ((2, 3, 4), [0, -1]), ((0, 3), [1]), ((5,), [0])]:
                yield op, {"input": of.number(shape, dtype), "axis": axes}
        yield "AddN", {"inputs": [x, x, of.number((3, 4), dtype)]}
        yield "ArgMax", {"input": x, "dimension": 1}
        yield "ArgMin", {"input": x, "dimension": 0}
        yield "BatchMatMulV2", {"x": of.number((2, 1, 3, 4), dtype), "y": of.number((2, 4, 2), dtype)}
        yield "BiasAdd", {"value": x, "bias": bias}
        yield "BiasAddGrad", {"out_backprop": x}
        yield "ClipByValue", {"t": x, "clip_value_min": np.asarray(-1, dtype), "clip_value_max": np.asarray(2, dtype)}
        yield "Cumprod", {"x": x, "axis": 0}
        yield "Cumsum", {"x": x, "axis": 1, "reverse": True}
        yield "Einsum", {"inputs": [x, y], "equation": "ij,jk->ki"}
        yield "L2Loss", {"t": x}
        yield "LeakyRelu", {"features": x, "alpha": 0.25}
        yield "LogSoftmax", {"logits": x}
        yield "MatMul", {"a": x, "b": y}
        yield "MatMul", {"a": of.number((3, 0), dtype), "b": of.number((0, 2), dtype)}
        yield "Softmax", {"logits": of.number((37, 41), dtype)}
        yield "SoftmaxCrossEntropyWithLogits", {"features": x, "labels": tf.abs(x)}


def image_cases():
    """Yields calls of convolutions, pools, norms and resizes."""
    of = Tensors()
    step, window = {"strides": [1, 1, 1, 1], "padding": "SAME"}, {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    for dtype in FLOATS:
        image, weights = of.number((2, 6, 8, 3), dtype), of.number((3, 3, 3, 4), dtype)
        slope, pooled, slope_of_pool = of.number((2, 6, 8, 4), dtype), of.number((2, 3, 4, 3), dtype), of.number((2, 3, 4, 3), dtype)
        yield "AvgPool", {"value": image, **window}
        yield "AvgPoolGrad", {"orig_input_shape": [2, 6, 8, 3], "grad": slope_of_pool, **window}
        yield "Conv2D", {"input": image, "filter": weights, **step}
        yield "Conv2DBackpropFilter", {"input": image, "filter_sizes": [3, 3, 3, 4], "out_backprop": slope, **step}
        yield "Conv2DBackpropInput", {"input_sizes": [2, 6, 8, 3], "filter": weights, "out_backprop": slope, **step}
        yield "DepthwiseConv2dNative", {"input": image, "filter": of.number((3, 3, 3, 2), dtype), **step}
        yield "MaxPool", {"input": image, **window}
        yield "MaxPoolGrad", {"orig_input": image, "orig_output": pooled, "grad": slope_of_pool, **window}
        yield "ResizeBilinear", {"images": image, "size": [5, 3]}
        yield "ResizeNearestNeighbor", {"images": image, "size": [5, 3]}
    scale = {name: tf.abs(of.number((3,))) for name in ["scale", "offset", "mean", "variance"]}
    for dtype in [np.float32, np.float16, BFLOAT16]:
        yield "FusedBatchNormV3", {"x": of.number((2, 6, 8, 3), dtype), **scale, "is_training": False}


CASES = [elementwise_cases, shape_cases, reduction_cases, image_cases]


def digest(tensor):
    """Returns type, shape and a hash of the bytes of a tensor."""
    array = np.ascontiguousarray(tensor.numpy())
    return [tensor.dtype.name, list(tensor.shape), hashlib.sha256(array.tobytes()).hexdigest()[:16]]


def tensors_of(result):
    """Returns the tensors of a call's result, which may be lists of them."""
    return [it for part in result for it in tensors_of(part)] if isinstance(result, (list, tuple)) else [result]


def results():
    """Returns the results of all cases. Their values are read after all calls, so that most calls are pending together."""
    called = []
    for cases in CASES:
        called += [(op, tensors_of(getattr(R, op)(**arguments))) for op, arguments in cases()]
    return [[op, *map(digest, found)] for op, found in called]


def wrong_calls():
    """Yields calls whose shapes are wrong."""
    of = Tensors()
    x, y, image = of.number((3, 4)), of.number((5, 6)), of.number((2, 6, 8, 3))
    yield "AddV2", {"x": x, "y": y}
    yield "BatchMatMulV2", {"x": x, "y": y}
    yield "BiasAdd", {"value": x, "bias": of.number((3,))}
    yield "BroadcastTo", {"input": x, "shape": [3, 5]}
    yield "ConcatV2", {"values": [x, y], "axis": 1}
    yield "Conv2D", {"input": image, "filter": of.number((3, 3, 2, 4)), "strides": [1, 1, 1, 1], "padding": "SAME"}
    yield "MatMul", {"a": x, "b": y}
    yield "Pack", {"values": [x, y]}
    yield "Slice", {"input": x, "begin": [2, 0], "size": [2, 4]}
    yield "SoftmaxCrossEntropyWithLogits", {"features": x, "labels": y}
    yield "Split", {"axis": 1, "value": x, "num_split": 3}
    yield "Sum", {"input": x, "axis": [7]}
    yield "Tile", {"input": x, "multiples": [2]}
    yield "Transpose", {"x": x, "perm": [0, 0]}


def error_of(op, arguments):
    try:
        getattr(R, op)(**arguments)
    except tf.errors.OpError as error:
        return f"{type(error).__name__}: {error.message}"
    return "no error"


def errors():
    """Returns the error of each wrong call, behind pending calls, and the result of these."""
    total, step = tf.zeros([37, 41]), Tensors().number((37, 41))
    found = []
    for op, arguments in wrong_calls():
        total = total + step
        found.append([op, error_of(op, arguments)])
    return {"errors": found, "after": digest(total)}


def functions():
    """Returns the results of functions, whose graphs have fused nodes and intermediate tensors that are freed while work is pending."""
    of = Tensors()
    x, weights, bias = [of.number(shape) for shape in [(37, 41), (41, 41), (41,)]]

    @tf.function
    def layers(value):
        for _ in range(4):
            value = tf.nn.relu(tf.matmul(value, weights) * 0.01 + bias) + tf.tanh(value) * tf.sigmoid(value - 1.0)
        return value, tf.nn.softmax(value), tf.reduce_mean(value, axis=0)

    found = [layers(x + float(number)) for number in range(5)]
    return [digest(tensor) for result in found for tensor in result]


def checks():
    """Returns the results of the functions above."""
    found = {"results": results(), "errors": errors()}
    return {**found, "functions": functions()} if RELEASE >= (2, 8) else found


def chain(count):
    """Returns the result of a chain of additions, which need not be computed yet."""
    total, step = tf.zeros([64, 64]), Tensors().number((64, 64))
    for _ in range(count):
        total = total + step
    return total


def enqueue():
    """Returns the time until twenty additions are enqueued, and until they are done, in seconds."""
    total, step = tf.zeros([64, 64]), tf.ones([64, 64])
    (total + step).numpy()
    start = time.monotonic()
    for _ in range(20):
        total = total + step
    enqueued = time.monotonic() - start
    value = float(total.numpy()[0, 0])
    return {"enqueued": enqueued, "done": time.monotonic() - start, "value": value}


def released():
    """Returns results of kernels that are deleted while their calls are pending: of functions, eager ops and a session's graph."""
    found = []
    for number in range(3):
        x = chain(3)
        function = tf.function(lambda value, factor=float(number): tf.nn.softmax(value * factor) + tf.tanh(value))
        found.append(function(x))
        del function, x
        gc.collect()
        found.append(R.LeakyRelu(features=chain(3), alpha=0.5 + number))
        context.context().clear_kernel_cache()
        run_session(number)
    values = [digest(tensor) for tensor in found]
    # Pending when the process ends.
    found.append(R.LeakyRelu(features=chain(3), alpha=0.25))
    return values


def run_session(number):
    """Runs a graph without reading its result, and deletes it."""
    with tf.Graph().as_default(), tf.device(DEVICE):
        result = tf.nn.softmax(chain(3) * float(number))
        config = tf.compat.v1.ConfigProto(allow_soft_placement=False)
        with tf.compat.v1.Session(config=config) as session:
            session.run(result.op)


def calls_behind():
    """Returns the number of calls of each op that have run behind, as the plugin counts them."""
    (library,) = (pathlib.Path(tf.__file__).parent.parent / "tensorflow-plugins").glob("*myaccel*.so")
    count = ctypes.CDLL(str(library)).sp_kernel_calls
    count.argtypes, count.restype = [ctypes.c_char_p, ctypes.c_size_t], ctypes.c_size_t
    text = ctypes.create_string_buffer(count(None, 0) + 1024)
    count(text, len(text))
    found = {}
    for line in text.value.decode().splitlines():
        behind = re.search(r" behind=(\d+)", line)
        if behind:
            op = line.split()[0]
            found[op] = found.get(op, 0) + int(behind.group(1))
    return found


PARTS = {function.__name__: function for function in [checks, enqueue, released]}

if __name__ == "__main__":
    with tf.device(DEVICE):
        found = PARTS[sys.argv[1]]()
    print(json.dumps({"found": found, "behind": calls_behind()}))
