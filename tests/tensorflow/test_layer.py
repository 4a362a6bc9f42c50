"""`sp-gen layer` with the installed plugin: what a trace shows, and that checks find nothing in a plugin without defects.

Plugins with defects are in `codegen/layer/tests/layer`. The environment variable SP_GEN is the path of sp-gen.
"""

import json
import os
import platform
import shutil
import subprocess
import sys

import pytest

PROGRAM = """
import sys
import tensorflow as tf
with tf.device("/device:MYACCEL:0"):
    weights = tf.Variable(tf.ones([8, 8]))
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.relu(tf.matmul(x, weights, name="dense"), name="activation"))
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        return loss
    print([float(step(tf.ones([4, 8]))) for _ in range(3)])
sys.exit(int(sys.argv[1]))
"""

pytestmark = pytest.mark.skipif(
    platform.system() != "Linux" or shutil.which("rustc") is None or not os.environ.get("SP_GEN"),
    reason="the layer is compiled by rustc, on Linux, and SP_GEN names sp-gen",
)


@pytest.fixture(scope="module")
def layer(tmp_path_factory):
    """Returns a function that runs the program with these options of the layer and this exit status."""
    cache = tmp_path_factory.mktemp("cache")

    def run(*options, status=0, **variables):
        command = [os.environ["SP_GEN"], "layer", *map(str, options), "--", sys.executable, "-c", PROGRAM, str(status)]
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "TF_CPP_MIN_LOG_LEVEL": "3", **variables}
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    return run


def test_text_shows_slots_and_functions_with_op_and_node(layer, tmp_path):
    path = tmp_path / "trace.txt"
    process = layer("--trace", path)
    assert process.returncode == 0, process.stderr
    lines = path.read_text().splitlines()
    assert any("SP_StreamExecutor.memcpy_htod(device={" in line and "status=OK" in line for line in lines)
    (init,) = (line for line in lines if "SE_InitPlugin(" in line)
    assert 'platform={name="MYACCEL", type="MYACCEL"' in init and "status=OK" in init, init
    computed = [line for line in lines if "KernelBuilder.compute_func(" in line]
    assert any('in MatMul "' in line and "dense" in line for line in computed), computed[:5]
    allocated = [line for line in lines if "TF_AllocateOutput(" in line]
    assert any("dtype=TF_FLOAT, dims=[4, 8], num_dims=2" in line for line in allocated), allocated[:5]
    assert not any("has not returned" in line for line in lines)


def test_json_has_events_with_arguments_for_perfetto(layer, tmp_path):
    path = tmp_path / "trace.json"
    process = layer("--trace", path, "--filter", "slots,kernels")
    assert process.returncode == 0, process.stderr
    events = json.loads(path.read_text())["traceEvents"]
    names = {event["name"] for event in events}
    assert {"MatMul (compute)", "SP_StreamExecutor.memcpy_htod"} <= names
    assert not any(name.startswith("TF_Allocate") for name in names)
    assert all(event["ph"] == "X" and event["dur"] >= 0 for event in events)


def test_checks_find_nothing_in_plugin_without_defects(layer):
    process = layer("--validate")
    assert (process.returncode, "sp-gen layer:" in process.stderr) == (0, False), process.stderr
    assert process.stdout.startswith("["), process.stdout


def test_exit_status_is_that_of_the_program(layer, tmp_path):
    assert layer("--trace", tmp_path / "trace.txt", status=7).returncode == 7


def test_another_plugin_is_not_shown(layer, tmp_path):
    path = tmp_path / "trace.txt"
    assert layer("--trace", path, "--plugin", "libother.so").returncode == 0
    assert path.read_text() == ""


def test_absent_compiler_is_one_message(layer, tmp_path):
    process = layer("--validate", XDG_CACHE_HOME=str(tmp_path), RUSTC="/nonexistent/rustc")
    assert process.returncode == 2
    assert "cannot run /nonexistent/rustc" in process.stderr and "install Rust" in process.stderr


def test_name_that_matches_nothing_is_one_message(layer):
    process = layer("--trace", "-", "--filter", "slots,no_such_slot")
    assert process.returncode == 2
    assert "no function, slot or group matches `no_such_slot`" in process.stderr
