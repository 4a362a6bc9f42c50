"""`sp-gen layer` with the installed plugin: what a trace shows, that checks find nothing in a plugin without defects, and captures
that `sp-gen replay` repeats.

Plugins with defects are in `codegen/layer/tests/layer`, captures that are no complete files in `codegen/cli/tests/replay`. The environment variable SP_GEN is the path of sp-gen.
"""

import json
import os
import platform
import shutil
import struct
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import tensorflow

PROGRAM = """
import os
import sys
os.chdir("/")
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


@pytest.mark.parametrize("options", [["--validate"], ["--validate", "--guard"]], ids=" ".join)
def test_checks_find_nothing_in_plugin_without_defects(layer, options):
    process = layer(*options)
    assert (process.returncode, "sp-gen layer:" in process.stderr) == (0, False), process.stderr
    assert process.stdout.startswith("["), process.stdout


@pytest.mark.parametrize("options", [["--validate"], ["--validate", "--guard"]], ids=" ".join)
def test_checks_find_nothing_in_device_with_asynchronous_streams(layer, options):
    process = layer(*options, SP_CPU_STREAMS="async", SP_CPU_JITTER="150")
    assert (process.returncode, "sp-gen layer:" in process.stderr) == (0, False), process.stderr


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


PLUGINS = Path(sysconfig.get_paths()["platlib"], "tensorflow-plugins")


def replay(capture, plugin, *options):
    """Repeats a capture, and returns the report and the exit status."""
    command = [os.environ["SP_GEN"], "replay", capture, "--plugin", plugin, *options, "--format", "json"]
    process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert process.returncode < 2, process.stderr
    return json.loads(process.stdout), process.returncode


@pytest.fixture(scope="module")
def plugin():
    """Returns the library of the installed plugin."""
    (library,) = PLUGINS.glob("*.so")
    return library


@pytest.fixture(scope="module")
def capture(layer, tmp_path_factory):
    """Returns a capture of the program."""
    path = tmp_path_factory.mktemp("capture") / "step.capture"
    process = layer("--capture", path)
    assert process.returncode == 0, process.stderr
    return path


@pytest.fixture(scope="module")
def wrong_plugin(plugin, tmp_path_factory):
    """Returns the installed plugin with a wrong kernel of Relu."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    library = tmp_path_factory.mktemp("wrong") / "libwrong.so"
    folder = Path(tensorflow.__file__).parent
    source = Path(__file__).with_name("wrong_kernel.c")
    # Up to 2.20 TensorFlow loads no plugin that names none of its libraries.
    libraries = [folder / "libtensorflow_framework.so.2", *folder.glob("libtensorflow_cc.so.2")]
    command = ["cc", "-shared", "-fPIC", "-O1", f"-I{folder / 'include'}", f'-DPLUGIN="{plugin}"', source, "-o", library]
    command += ["-Wl,--no-as-needed", *libraries, "-ldl"]
    subprocess.run(command, check=True)
    return library


def test_capture_of_a_training_step_replays_to_the_bit(capture, plugin):
    report, status = replay(capture, plugin)
    assert status == 0, report
    ops = {op["op"]: op["calls"] for op in report["ops"]}
    assert ops["MatMul"] >= 6 and ops["Relu"] >= 3, ops
    not_compared = sum(reason["calls"] for reason in report["not_compared"])
    assert report["equal"] == report["calls"] - not_compared > 15, report


def test_variables_are_inputs_and_results_of_a_capture(capture, plugin):
    report, _ = replay(capture, plugin)
    ops = {op["op"] for op in report["ops"]}
    # No library of 2.19 to 2.21 exports the functions for variables: core's kernels update them.
    if tensorflow.__version__.startswith(("2.19", "2.20", "2.21")):
        assert "AssignSubVariableOp" not in ops
    else:
        assert "AssignSubVariableOp" in ops, report


def test_wrong_kernel_is_named_and_reduced_to_its_call(capture, wrong_plugin, tmp_path):
    small = tmp_path / "small.capture"
    report, status = replay(capture, wrong_plugin, "--reduce", small)
    assert (status, report["different"]) == (1, 3), report
    finding = report["findings"][0]
    assert finding["op"] == "Relu" and finding["node"].endswith("activation"), finding
    assert "output 0 differs at [0, 0]" in finding["detail"], finding
    report, status = replay(small, wrong_plugin)
    assert (status, report["calls"]) == (1, 1), report


def listed(capture):
    """Returns the lines of the calls of a capture."""
    process = subprocess.run([os.environ["SP_GEN"], "replay", capture, "--list"], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()


def test_list_has_each_call_with_the_author_of_its_kernel(capture, plugin):
    lines = listed(capture)
    (number, line) = next((number, line) for number, line in enumerate(lines, 1) if line.split()[1] == "Relu")
    assert line.startswith(f'{number} Relu "') and line.endswith("activation\" (FLOAT[4, 8]) -> (FLOAT[4, 8]) own"), line
    assert all(line.endswith(" reference") for line in lines if line.split()[1] == "MatMul"), lines
    report, status = replay(capture, plugin, "--call", number)
    assert (status, report["calls"], report["ops"][0]["op"]) == (0, 1, "Relu"), report


def test_coverage_of_a_capture_has_its_calls_by_the_author_of_the_kernel(capture):
    process = subprocess.run([os.environ["SP_GEN"], "coverage", capture, "--format", "json"], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    report = json.loads(process.stdout)
    assert report["device_types"] == ["MYACCEL"] and "cpu" in report["unknown_classes"], report
    rows = {row["op"]: row for row in report["rows"]}
    assert (rows["Relu"]["class"], rows["Relu"]["types"], rows["Relu"]["calls"]) == ("own", "T=float", 3)
    assert rows["MatMul"]["class"] == "reference" and rows["MatMul"]["nanoseconds"] > 0
    assert sum(row["calls"] for row in report["rows"]) == len(listed(capture))


def call_offsets(capture):
    """Returns the offsets of the records of calls in a capture."""
    content, offset, offsets = capture.read_bytes(), 12, []
    while offset < len(content):
        kind, length = struct.unpack_from("<IQ", content, offset)
        offsets += [offset] if kind == 4 else []
        offset += 12 + length + 8
    return offsets


def test_capture_ends_at_its_limit_and_is_read_up_to_then(layer, capture, plugin, tmp_path):
    path, offsets = tmp_path / "cut.capture", call_offsets(capture)
    limit = offsets[len(offsets) // 2]
    process = layer("--capture", path, "--capture-limit", limit)
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("["), process.stdout
    assert process.stderr.count("the capture has reached its limit of ") == 1, process.stderr
    assert "; cut at the limit of " in process.stderr, process.stderr
    report, status = replay(path, plugin)
    assert status == 0 and report["capture_limit"] == limit, report
    assert 0 < report["calls"] < len(offsets), report


def test_existing_file_is_not_replaced_by_a_capture(layer, tmp_path):
    path = tmp_path / "train.py"
    path.write_text("print()")
    process = layer("--capture", path)
    assert (process.returncode, path.read_text()) == (2, "print()"), process.stderr
    assert list(tmp_path.iterdir()) == [path]
