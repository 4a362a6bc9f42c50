"""Runs models of tests/traced_ops for some steps on the default device: `program.py NAME...`, or `--list`, which prints a line for each group."""

import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "traced_ops"))
import models  # noqa: E402
import networks  # noqa: E402

STEPS = 3
# The models of a family with one row in the page, and those with a row each.
TOGETHER = {
    "layers": models.layer_models, "losses": models.loss_models, "optimizers": models.optimizer_models, "metrics": models.metric_models,
}
EACH = [models.application_models, networks.network_models]


def run(function, *arguments):
    compiled = tf.function(function, autograph=False, jit_compile=False)
    for _ in range(STEPS):
        compiled(*arguments)
    return []


def groups():
    """Returns the models of each group, by name."""
    together = {name: dict(family()) for name, family in TOGETHER.items()}
    return together | {name: {name: model} for family in EACH for name, model in family()}


def run_group(group):
    """Runs the models of a group, and names those that this TensorFlow or Keras cannot run."""
    for name, model in group.items():
        tf.keras.utils.set_random_seed(1)
        try:
            model()
        except Exception as error:  # of any kind: the page lists it
            reason = str(error).strip().splitlines() or [type(error).__name__]
            print(f"failed: {name}: {reason[0][:160]}", file=sys.stderr, flush=True)


def main(names):
    every = groups()
    if names == ["--list"]:
        return print("\n".join(every))
    models.Use.of_function = staticmethod(run)
    for name in names:
        run_group(every[name])


main(sys.argv[1:])
