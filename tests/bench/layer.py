"""Measures what `sp-gen layer` adds to a training step: `layer.py SP_GEN PYTHON [--rounds N] [--forms N]`.

Processes without and with the layer alternate, so that both see the same load. A process has two figures: the tenth
percentile of the time of a step, which other programs disturb least, and its CPU time for a step. The results are the
medians over the processes.
"""

import argparse
import os
import statistics
import subprocess
import tempfile

PROGRAM = """
import statistics, time
import tensorflow as tf
tf.random.set_seed(1)
device = [it for it in tf.config.list_physical_devices() if it.device_type != "CPU"][0].device_type
with tf.device(f"/device:{device}:0"):
    images, labels = tf.random.normal([32, 28, 28, 1]), tf.one_hot(tf.range(32) % 10, 10)
    shapes = [[3, 3, 1, 16], [3, 3, 16, 32], [7 * 7 * 32, 10]]
    weights = [tf.Variable(tf.random.normal(shape, stddev=0.1)) for shape in shapes]
    @tf.function
    def step():
        with tf.GradientTape() as tape:
            x = tf.nn.relu(tf.nn.conv2d(images, weights[0], 2, "SAME"))
            x = tf.nn.relu(tf.nn.conv2d(x, weights[1], 2, "SAME"))
            x = tf.matmul(tf.reshape(x, [32, -1]), weights[2])
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels, x))
        for weight, gradient in zip(weights, tape.gradient(loss, weights)):
            weight.assign_sub(0.01 * gradient)
        return loss
    for _ in range(10):
        float(step())
    times, cpu = [], time.process_time()
    for _ in range(300):
        start = time.perf_counter()
        float(step())
        times.append(time.perf_counter() - start)
    cpu = (time.process_time() - cpu) / len(times)
print(statistics.quantiles(times, n=10)[0], cpu)
"""

FORMS = {
    "no layer": [],
    "--filter slots": ["--trace", "{trace}", "--filter", "slots"],
    "--filter slots,kernels": ["--trace", "{trace}", "--filter", "slots,kernels"],
    "every call": ["--trace", "{trace}"],
    "--validate": ["--validate"],
}


def measure(sp_gen, python, options):
    """Returns the time and the CPU time of a step, in milliseconds."""
    program = [python, "-c", PROGRAM]
    command = [sp_gen, "layer", *options, "--", *program] if options else program
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    return [float(field) * 1e3 for field in output.splitlines()[-1].split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sp_gen")
    parser.add_argument("python")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--forms", type=int, default=len(FORMS), help="measure the first of the forms only")
    arguments = parser.parse_args()
    forms = dict(list(FORMS.items())[: arguments.forms])
    figures = {form: [] for form in forms}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.rounds):
            for form, options in forms.items():
                trace = f"{folder}/{number} {form}.txt".replace(" ", "_")
                options = [option.format(trace=trace) for option in options]
                figures[form].append(measure(arguments.sp_gen, arguments.python, options))
    plain = [statistics.median(column) for column in zip(*figures["no layer"])]
    for form, found in figures.items():
        step, cpu = (statistics.median(column) for column in zip(*found))
        print(f"{form:24} step {step:7.3f} ms {step / plain[0] - 1:+7.1%}   CPU {cpu:7.3f} ms {cpu / plain[1] - 1:+7.1%}")


main()
