"""Measures what `sp-gen layer` adds to a training step: `layer.py SP_GEN PYTHON [--rounds N] [--forms N]`.

Processes without and with the layer alternate, so that both see the same load. A process has two figures: the tenth
percentile of the time of a step, which other programs disturb least, and its CPU time for a step. The results are the
medians over the processes.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

from cnn import STEP

PROGRAM = STEP + """
import sys
count = int(sys.argv[1])
with tf.device(f"/device:{device}:0"):
    step = create_step(32, lambda x, kernel: tf.nn.relu(tf.nn.conv2d(x, kernel, 2, "SAME")))
    tenth_percentile(step, 10)
    cpu = time.process_time()
    print(tenth_percentile(step, count), (time.process_time() - cpu) / count)
"""

STEPS = 300
# A capture of a step has some megabytes.
CAPTURED_STEPS = 20

FORMS = {
    "no layer": [],
    "--filter slots": ["--trace", "{output}", "--filter", "slots"],
    "--filter slots,kernels": ["--trace", "{output}", "--filter", "slots,kernels"],
    "every call": ["--trace", "{output}"],
    "--validate": ["--validate"],
    "--capture": ["--capture", "{output}"],
}


def measure(sp_gen, python, options):
    """Returns the time and the CPU time of a step, in milliseconds."""
    steps = CAPTURED_STEPS if "--capture" in options else STEPS
    program = [python, "-c", PROGRAM, str(steps)]
    command = [sp_gen, "layer", *options, "--", *program] if options else program
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    # With 1, --validate has a finding.
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return [float(field) * 1e3 for field in done.stdout.splitlines()[-1].split()]


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
                output = f"{folder}/{number}.txt"
                options = [option.format(output=output) for option in options]
                figures[form].append(measure(arguments.sp_gen, arguments.python, options))
                pathlib.Path(output).unlink(missing_ok=True)
    plain = [statistics.median(column) for column in zip(*figures["no layer"])]
    for form, found in figures.items():
        step, cpu = (statistics.median(column) for column in zip(*found))
        print(f"{form:24} step {step:7.3f} ms {step / plain[0] - 1:+7.1%}   CPU {cpu:7.3f} ms {cpu / plain[1] - 1:+7.1%}")


main()
