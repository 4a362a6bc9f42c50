"""Element types, strings, resources and variants on the device, compared with TensorFlow's kernels on the CPU."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework import dtypes

from conftest import DEVICE, RELEASE

ON_DEVICE = f"/device:{DEVICE}:0"
INTEGERS = [tf.uint8, tf.int8, tf.uint16, tf.int16, tf.uint32, tf.int32, tf.uint64, tf.int64]
FLOATS = [tf.half, tf.bfloat16, tf.float32, tf.float64]
COMPLEX = [tf.complex64, tf.complex128]
FLOAT8 = [getattr(dtypes, name) for name in ("float8_e5m2", "float8_e4m3fn") if hasattr(dtypes, name)]
INT4 = [getattr(dtypes, name) for name in ("int4", "uint4") if hasattr(dtypes, name)]
NOT_PASSED = [tf.qint16, tf.quint16]
QUANTIZED = [tf.qint8, tf.quint8, tf.qint32]


def cast(x, target):
    return tf.raw_ops.Cast(x=x, DstT=target)


def values(source):
    """Returns values of the type, on the CPU: all are values of every other type, but for signs and halves."""
    if source == tf.bool:
        return tf.constant([True, False, True])
    numbers = [0, 1, 2, 3, 7]
    if source in COMPLEX:
        return tf.complex(*(tf.constant([0.0, 1.5, -2.0, 3.0, 7.0], source.real_dtype),) * 2)
    if source in FLOATS:
        return cast(tf.constant([0.0, 1.5, -2.0, 3.25, 7.0, 100.0]), source)
    if source in FLOAT8:
        return cast(tf.constant([0.0, 1.5, 2.0, 3.25, 96.0, -1.0]), source)
    return cast(tf.constant(numbers + ([100, 127] if source not in INT4 else [])), source)


def has_cpu_kernel(x, target):
    try:
        with tf.device("/CPU:0"):
            cast(x, target)
    except tf.errors.OpError:
        return False
    return True


def bits(tensor):
    """Returns the bytes of a tensor."""
    return tensor.numpy().tobytes()


def targets_of(source, x):
    every = [tf.bool, *INTEGERS, *FLOATS, *COMPLEX, *FLOAT8, *INT4, *QUANTIZED, *NOT_PASSED]
    # C does not define the conversion of a negative float to an unsigned type.
    unsigned = [tf.uint8, tf.uint16, tf.uint32, tf.uint64, tf.quint8, tf.quint16, *INT4]
    undefined = lambda it: it in unsigned and (source.is_floating or source.is_complex)
    return [it for it in every if it != source and has_cpu_kernel(x, it) and not undefined(it)]


@pytest.mark.parametrize(
    "source", [tf.bool, *INTEGERS, *FLOATS, *COMPLEX, *FLOAT8, *INT4, *QUANTIZED], ids=lambda it: it.name
)
def test_cast_of_every_pair_that_the_cpu_has(calls, source):
    with tf.device("/CPU:0"):
        x = values(source)
    targets = targets_of(source, x)
    assert len(targets) >= 13
    for target in targets:
        with tf.device("/CPU:0"):
            expected = cast(x, target)
        before = calls()["Cast"]
        with tf.device(ON_DEVICE):
            found = cast(tf.identity(x), target)
        assert calls()["Cast"] == before + 1, (source, target)
        assert ON_DEVICE.lower() in found.device.lower()
        assert bits(found) == bits(expected), (source, target, expected, found)


@pytest.mark.skipif(RELEASE < (2, 8), reason="functions return no tensors of the device")
@pytest.mark.parametrize("source", [tf.int16, tf.float32, tf.complex64], ids=lambda it: it.name)
def test_cast_in_function(calls, source):
    with tf.device("/CPU:0"):
        x = values(source)
    for target in [tf.half, tf.uint16, tf.complex128, tf.bool]:
        if target == tf.uint16 and source != tf.int16:
            continue  # C does not define the conversion of a negative float

        @tf.function
        def run(x, target=target):
            with tf.device(ON_DEVICE):
                return cast(x, target)

        before = calls()["Cast"]
        assert bits(run(x)) == bits(cast(x, target)), (source, target)
        assert calls()["Cast"] > before


@pytest.mark.parametrize("source", [np.uint16, np.uint8, np.int32, np.int64])
@pytest.mark.parametrize("target", [tf.half, tf.bfloat16, tf.complex64], ids=lambda it: it.name)
def test_cast_of_large_tensor_in_several_steps(on_both, source, target):
    limits = [65519, 65520, 2**24 + 1, -(2**24) - 3, -65519]  # where floats round to even, or halves become infinite
    x = np.append(np.arange(200_003), limits).astype(source)
    expected, found = on_both("Cast", lambda x: cast(x, target), x)
    assert bits(expected) == bits(found)


@pytest.mark.skipif(RELEASE < (2, 12), reason="earlier releases compute the op on the CPU")
@pytest.mark.parametrize("source", NOT_PASSED, ids=lambda it: it.name)
def test_core_passes_no_16_bit_quantized_tensor_to_the_device(source):
    """No release has a kernel of _Arg for these types on a plugin's device, so that no op on them can run there."""
    with tf.device("/CPU:0"):
        x = values(source)
    with tf.device(ON_DEVICE), pytest.raises(tf.errors.OpError, match="_Arg"):
        cast(x, tf.float32)


def test_cast_to_string_is_an_error():
    with tf.device(ON_DEVICE), pytest.raises(tf.errors.OpError):
        cast(tf.constant([1.0]), tf.string)


TEXTS = ["", "short", "a text of more than twenty-two bytes", "üñï", b"\xff\xfe", "x" * 5000]


@pytest.mark.parametrize("unit", ["BYTE", "UTF8_CHAR"])
def test_string_length(on_both, unit):
    run = lambda x: tf.raw_ops.StringLength(input=x, unit=unit)
    for shape in [(6,), (2, 3), (0,)]:
        texts = np.array(TEXTS[: int(np.prod(shape))], object).reshape(shape)
        expected, found = on_both("StringLength", run, texts)
        assert found.shape == expected.shape
        assert found.numpy().tolist() == expected.numpy().tolist()


@pytest.mark.skipif(RELEASE < (2, 8), reason="functions pass no tensors to the device before 2.8")
def test_string_length_in_function(calls):
    @tf.function
    def run(texts):
        with tf.device(ON_DEVICE):
            return tf.raw_ops.StringLength(input=texts, unit="UTF8_CHAR")

    before = calls()["StringLength"]
    assert run(tf.constant(TEXTS)).numpy().tolist() == [0, 5, 36, 3, 2, 5000]
    assert calls()["StringLength"] == before + 1


@pytest.mark.skipif(RELEASE < (2, 6), reason="2.5 has variables on the CPU only")
def test_identity_passes_resource_on(calls):
    with tf.device(ON_DEVICE):
        variable = tf.Variable([1.0, 2.0])
        before = calls()["Identity"]
        handle = tf.raw_ops.Identity(input=variable.handle)
        assert calls()["Identity"] == before + 1
        variable.assign([3.0, 4.0])
        assert tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32).numpy().tolist() == [3.0, 4.0]


def test_identity_passes_variant_on(calls):
    with tf.device(ON_DEVICE):
        shape, size = tf.constant([2]), tf.constant(-1)
        items = tf.raw_ops.EmptyTensorList(element_shape=shape, max_num_elements=size, element_dtype=tf.float32)
        items = tf.raw_ops.TensorListPushBack(input_handle=items, tensor=tf.constant([1.0, 2.0]))
        before = calls()["Identity"]
        items = tf.raw_ops.Identity(input=items)
        assert calls()["Identity"] == before + 1
        popped = tf.raw_ops.TensorListPopBack(input_handle=items, element_shape=shape, element_dtype=tf.float32)
        assert popped.tensor.numpy().tolist() == [1.0, 2.0]


@pytest.mark.skipif(RELEASE < (2, 8), reason="functions return no tensors of the device")
def test_identity_in_function():
    with tf.device(ON_DEVICE):
        variable = tf.Variable([1.0, 2.0])

    @tf.function
    def run(x):
        with tf.device(ON_DEVICE):
            items = tf.raw_ops.EmptyTensorList(element_shape=[2], max_num_elements=-1, element_dtype=tf.float32)
            items = tf.raw_ops.TensorListPushBack(input_handle=items, tensor=x)
            items = tf.raw_ops.Identity(input=items)
            handle = tf.raw_ops.Identity(input=variable.handle)
            popped = tf.raw_ops.TensorListPopBack(input_handle=items, element_shape=[2], element_dtype=tf.float32)
            return popped.tensor, tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)

    item, value = run(tf.constant([5.0, 6.0]))
    assert (item.numpy().tolist(), value.numpy().tolist()) == ([5.0, 6.0], [1.0, 2.0])
