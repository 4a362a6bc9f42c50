"""The kernels of type GPU that TensorFlow's CPU build has: a new one needs a decision, since programs reach it on a plugin's device."""

import re

import pytest
import tensorflow as tf
from tensorflow.python.framework import kernels

from conftest import ROOT

KERNELS = ROOT / "templates" / "sdk" / "src" / "kernel" / "registration"
# The plugin's kernels have a higher priority.
OF_PLUGIN = {"Reshape", "SquaredDifference"}


def host_ops():
    """Returns the ops whose kernels of core stay: they run no code for CUDA."""
    listed = re.search(r"const HOST_OPS.*?^\];", (KERNELS / "cuda_build" / "mod.rs").read_text(), re.M | re.S)
    return set(re.findall(r'"(\w+)"', listed[0]))


@pytest.mark.skipif(tf.sysconfig.get_build_info()["is_cuda_build"], reason="test_cuda_build.py has the kernels of such a build")
def test_each_kernel_of_type_gpu_is_known():
    registered = kernels.get_all_registered_kernels().kernel
    found = {it.op for it in registered if it.device_type == "GPU"}
    assert len(found) > 90
    listed = re.search(r"^rejections! { of_xla, .*?^}", (KERNELS / "rejected.rs").read_text(), re.M | re.S)
    rejected = set(re.findall(r"\bXla\w+", listed[0]))
    assert len(rejected) > 30
    assert found - host_ops() - OF_PLUGIN - rejected == set()
