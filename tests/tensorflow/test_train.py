"""The scaffold's example: SGD and Adam on the device, compared with the CPU."""

import subprocess
import sys

import pytest
import tensorflow as tf

from conftest import RELEASE


@pytest.mark.skipif(RELEASE < (2, 11), reason="Keras' older optimizers use fused kernels that only core has")
def test_training_example_succeeds(scaffold):
    run = subprocess.run(
        [sys.executable, scaffold / "examples" / "train.py"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "trained on MYACCEL" in run.stdout
    assert run.stdout.count("kernels of src/kernels/: Relu of myaccel\n") == 2, run.stdout


def test_losses_match_cpu(calls):
    """Trains in a hand-written loop, which needs no kernels for variables."""

    def train(device):
        losses = []
        with tf.device(device):
            x = tf.reshape(tf.cast(tf.range(64), tf.float32) / 64.0, [16, 4])
            labels = tf.range(16, dtype=tf.int64) % 3
            weights = tf.reshape(tf.cast(tf.range(12), tf.float32) / 12.0, [4, 3])
            bias = tf.zeros([3])
            for _ in range(10):
                with tf.GradientTape() as tape:
                    tape.watch([weights, bias])
                    logits = tf.nn.bias_add(tf.nn.relu(tf.matmul(x, weights)), bias)
                    loss = tf.reduce_mean(
                        tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
                    )
                steps = tape.gradient(loss, [weights, bias])
                weights, bias = weights - 0.5 * steps[0], bias - 0.5 * steps[1]
                losses.append(float(loss))
        return losses

    before = calls()
    on_device = train("/device:MYACCEL:0")
    after = calls()
    for op in "MatMul BiasAdd BiasAddGrad Relu ReluGrad Sub Mul".split():
        assert after[op] > before[op], op
    assert on_device[-1] < on_device[0]
    for found, expected in zip(on_device, train("/CPU:0")):
        assert abs(found - expected) < 1e-5
