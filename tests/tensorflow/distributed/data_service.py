"""The tf.data service: a dispatcher with the program, and a worker in a process of its own."""
# processes: chief worker

import json
import os
import sys

import tensorflow as tf
import workload
from report import report

service = tf.data.experimental.service
config = json.loads(os.environ["TF_CONFIG"])
address = config["cluster"]["chief"][0]
if config["task"]["type"] == "worker":
    own = config["cluster"]["worker"][0]
    worker = service.WorkerServer(service.WorkerConfig(address, worker_address=own, port=int(own.split(":")[1])))
    workload.wait_until_done()
    sys.exit()
dispatcher = service.DispatchServer(service.DispatcherConfig(port=int(address.split(":")[1])))
numbers = tf.data.Dataset.range(10).map(lambda it: it * it)
numbers = numbers.apply(service.distribute(service.ShardingPolicy.OFF, f"grpc://{address}"))


@tf.function
def total():
    found = tf.constant(0, tf.int64)
    for it in numbers:
        found += it
    return found


batches = workload.dataset().apply(service.distribute(service.ShardingPolicy.OFF, f"grpc://{address}", job_name="train"))
model = workload.new_model()
model.set_weights(workload.WEIGHTS)
losses = model.fit(batches.prefetch(1), verbose=0, shuffle=False).history["loss"]
report(numbers=[int(it) for it in numbers], total=total(), losses=losses)
