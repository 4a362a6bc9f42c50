"""A plugin of type GPU in a build of TensorFlow with CUDA: no kernel for CUDA runs on its device.

`SP_TYPE_GPU_LIBRARY=FILE` names another library than that of tests/examples.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest
import tensorflow as tf

from conftest import example
from test_gpu_kernels import host_ops

PROGRAM = pathlib.Path(__file__).with_name("cuda_build_program.py")
PRIORITY = 100

pytestmark = pytest.mark.skipif(
    not tf.sysconfig.get_build_info()["is_cuda_build"], reason="this TensorFlow is built without CUDA"
)


@pytest.fixture(scope="module")
def found():
    library = os.environ.get("SP_TYPE_GPU_LIBRARY") or example("type_gpu")
    process = subprocess.run([sys.executable, PROGRAM, library], capture_output=True, text=True, timeout=600)
    assert process.returncode == 0, process.stderr[-3000:]
    return json.loads(process.stdout.splitlines()[-1])


def test_each_op_with_a_kernel_for_cuda_has_one_of_higher_priority(found):
    of_core = {op for op, priorities in found["kernels"].items() if priorities[0] < PRIORITY}
    assert len(of_core) > 500
    replaced = {op for op in of_core if PRIORITY in found["kernels"][op]}
    assert of_core - replaced - host_ops() == set()
    assert replaced & host_ops() == set()


def test_results_are_those_of_cpu(found):
    assert len(found["results"]) > 15
    assert {name: it for name, it in found["results"].items() if it > 1e-5} == {}


def test_op_that_only_core_can_compute_is_an_error_that_names_it(found):
    message = found["errors"]["reference variable"]
    assert "Assign" in message and "the plugin has no kernel for it here" in message and "tensorflow-cpu" in message


def test_calls_release_their_tensors(found):
    assert found["growth"] < 60
