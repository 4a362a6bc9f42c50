"""Tensors that other libraries read: DLPack in both directions, NumPy's protocols, the buffer protocol."""

import numpy as np
import tensorflow as tf
from report import report

x = tf.constant(np.arange(12, dtype="float32").reshape(3, 4))
product = tf.matmul(x, x, transpose_b=True)
whole = tf.cast(product, tf.int64)
dlpack = tf.experimental.dlpack
through = [dlpack.from_dlpack(dlpack.to_dlpack(it)) for it in (product, whole, tf.constant(7))]
if hasattr(product, "__dlpack__"):
    assert product.__dlpack_device__()[0] == 1, "the memory is not the CPU's"
    shared = np.from_dlpack(product)
else:
    shared = np.asarray(product)
capsule = dlpack.to_dlpack(tf.matmul(product, product))
product = None
report(
    through=[it.numpy() for it in through],
    again=tf.reduce_sum(dlpack.from_dlpack(capsule) * 2.0),
    shared=np.array(shared),
    buffer=np.frombuffer(memoryview(x + 1.0), dtype="float32"),
    mixed=np.add(x, np.ones(4, "float32")),
)
