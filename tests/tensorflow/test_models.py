"""Networks that train on the device, compared step by step with the CPU; and which of their ops run elsewhere.

With `SP_EVERY_NETWORK=1` in the environment every network is trained, with `SP_EVERY_MODEL=1` also every model that
`tests/traced-ops` traces.
"""

import collections
import functools
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

from conftest import RELEASE

PROGRAM = pathlib.Path(__file__).with_name("models_program.py")
IS_COMPLETE = os.environ.get("SP_EVERY_MODEL") == "1"
EVERY = ["transformer encoder", "transformer decoder", "decoding loop", "LSTM", "GRU", "U-Net", "VAE", "GAN"]
NETWORKS = EVERY if IS_COMPLETE or os.environ.get("SP_EVERY_NETWORK") == "1" else ["transformer encoder", "LSTM", "U-Net", "GAN"]
# Arguments and constants of the host, and the initial values of recurrent weights.
HOST_OPS = {"_Arg", "_DeviceArg", "_Retval", "_DeviceRetval", "_HostSend", "_HostRecv", "Const", "Qr"}
# Models of layers, losses, optimizers and metrics that Keras 2.12 lacks or cannot compute.
NOT_IN_KERAS_2 = {
    "layer SpectralNormalization(layers.Dense(4))", 'layer Dense(4,activation="mish")', "loss categorical_focal_crossentropy",
    "optimizer Lion", "optimizer Lamb", "metric F1Score", "metric R2Score",
    "application ConvNeXtTiny",  # Keras 2 has a float32 variable in it, so it does not run in float64
}
PLACED = re.compile(r"\((\w+)\): /job:\S*/device:(\w+):\d+")

pytestmark = pytest.mark.skipif(RELEASE < (2, 12), reason="Keras has other optimizers there")


@functools.cache
def outcomes(*names):
    """Returns the results of models on both devices, and the ops that each placed on the CPU when it ran on the device."""
    process = subprocess.run([sys.executable, PROGRAM, *names], capture_output=True, text=True, timeout=3000)
    assert process.returncode == 0, process.stderr[-3000:]
    return json.loads(process.stdout.splitlines()[-1]), elsewhere(process.stderr)


def elsewhere(log):
    """Returns the ops on the CPU by the name of the model that ran on the device."""
    found, name = collections.defaultdict(set), None
    for line in log.splitlines():
        if line.startswith("begin "):
            name = line.removeprefix("begin ").removesuffix(" on device") if line.endswith(" on device") else None
        elif line == "end":
            name = None
        elif name and (placed := PLACED.search(line)) and placed[2] == "CPU":
            found[name].add(placed[1])
    return found


@pytest.mark.parametrize("name", NETWORKS)
def test_network_has_losses_of_cpu(name):
    results, on_cpu = outcomes(*NETWORKS)
    cpu, device = results[name]["cpu"], results[name]["device"]
    np.testing.assert_allclose(device, cpu, rtol=1e-3, atol=1e-4)
    assert not on_cpu[name] - HOST_OPS


@pytest.mark.skipif(not IS_COMPLETE, reason="SP_EVERY_MODEL=1 is not set")
def test_every_model_has_losses_of_cpu():
    names = subprocess.run([sys.executable, PROGRAM, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
    wrong = {}
    for name in names:
        results, _ = outcomes(name)
        cpu, device = results[name]["cpu"], results[name]["device"]
        if isinstance(device, str):
            is_absent = name in NOT_IN_KERAS_2 and str(cpu).startswith("not in Keras 2")
            if not is_absent:
                wrong[name] = device
        elif not has_losses(name, cpu, device) and not are_losses_of_other_run(name, device):
            wrong[name] = cpu[:2], device[:2]
    assert not wrong, json.dumps(wrong, indent=1)


def are_losses_of_other_run(name, device):
    """Returns true if one of three more runs on the CPU device has these losses: in 2.12 two random ops with a state run there in
    either order."""
    return any(has_losses(name, outcomes.__wrapped__(name)[0][name]["cpu"], device) for _ in range(3))


def has_losses(name, cpu, device):
    """Returns true if losses are those of the CPU device, in the precision of the model's type."""
    if name.startswith("application"):
        # In float64; the losses after an update amplify rounding, and differ between two runs on the CPU.
        return np.allclose(device[:1], cpu[:1], rtol=1e-4)
    tolerance = 1e-2 if name == "mixed_bfloat16" else 1e-3
    if name.startswith("mixed") and RELEASE < (2, 16):
        # Keras 2 computes the encoder's loss in the half type too.
        tolerance *= 5
    return np.allclose(device, cpu, rtol=tolerance, atol=tolerance)
