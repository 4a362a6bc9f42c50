"""ParameterServerStrategy: a coordinator, a worker that computes and a server that has the variables."""
# processes: chief worker ps

import json
import os
import sys

import tensorflow as tf
import workload
from report import report

resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
if json.loads(os.environ["TF_CONFIG"])["task"]["type"] != "chief":
    server = tf.distribute.Server(resolver.cluster_spec(), job_name=resolver.task_type, task_index=resolver.task_id, protocol="grpc")
    workload.wait_until_done()
    sys.exit()
strategy = tf.distribute.ParameterServerStrategy(resolver)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
with strategy.scope():
    weights = workload.variables()


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = workload.loss_of(weights, x, y)
    for weight, gradient in zip(weights, tape.gradient(loss, weights)):
        weight.assign_sub(0.1 * gradient)
    return loss


@tf.function
def step_of_worker(iterator):
    # Each device of a worker computes the whole batch.
    return strategy.reduce("MEAN", strategy.run(step, next(iterator)), axis=None)


iterator = iter(coordinator.create_per_worker_dataset(workload.dataset))
# One update at a time, so that the results do not depend on the order.
losses = [coordinator.schedule(step_of_worker, args=(iterator,)).fetch() for _ in range(4)]
report(losses=losses, weights=[it.numpy() for it in weights])
