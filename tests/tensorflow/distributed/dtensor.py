"""DTensor: a batch over the devices of a mesh, with replicated weights."""

import os

import tensorflow as tf
import workload
from report import report
from tensorflow.experimental import dtensor

kind = os.environ.get("SP_MESH", "CPU")
if kind == "CPU":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
mesh = dtensor.create_mesh([("batch", 2)], devices=[f"{kind}:0", f"{kind}:1"], device_type=kind)
replicated = [dtensor.Layout.replicated(mesh, rank=it.ndim) for it in workload.WEIGHTS]
weights = [dtensor.DVariable(dtensor.copy_to_mesh(tf.constant(it), layout)) for it, layout in zip(workload.WEIGHTS, replicated)]


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        hidden = tf.nn.relu(x @ weights[0] + weights[1])
        loss = tf.reduce_mean((hidden @ weights[2] + weights[3]) ** 2)
    for weight, gradient in zip(weights, tape.gradient(loss, weights)):
        weight.assign_sub(0.01 * gradient)
    return loss


layout = dtensor.Layout(["batch", dtensor.UNSHARDED], mesh)
halves = [tf.constant(it) for it in (workload.FEATURES[:16], workload.FEATURES[16:])]
losses = [step(dtensor.pack(halves, layout)).numpy() for _ in range(3)]
report(losses=losses, weights=[it.numpy() for it in weights])
