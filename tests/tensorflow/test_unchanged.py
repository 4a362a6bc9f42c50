"""Programs as users write them, which do not mention the plugin: each has the CPU's results on the device.

A program of `unchanged` runs in two processes of its own, without the plugin and with it, and hands its results to `report`. Comments
of a line of their own state what the test has to know:

- `# releases: 2.16 and later`, `# releases: 2.12 to 2.15`: the releases that have what the program uses; all if absent.
- `# rtol: 1e-2: REASON`: the relative difference that is allowed, 1e-3 if absent, which is that of losses of several steps.
- `# host only: REASON`: the plugin computes nothing.
- `# packages: tensorboard`: packages that TensorFlow does not install in every release; the program is skipped without them.

The default is a short form for 2.21 and later. `SP_EVERY_PROGRAM=1` runs all programs, `SP_EVERY_MODE=1` each of them in all modes of
the reference device. `SP_LIBRARIES=1` also runs those of `unchanged_libraries`, which use libraries that are built on TensorFlow.
"""

import dataclasses
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from conftest import RELEASE, ROOT

FOLDER = pathlib.Path(__file__).with_name("unchanged")
LIBRARIES = pathlib.Path(__file__).with_name("unchanged_libraries")
SHORT = [
    "callbacks", "compiled_functions", "convolutional_network", "dataset_pipeline", "mixed_float16", "random_generator",
    "save_keras_file", "session_gradient_descent",
]
MODES = {
    "default": {},
    "opaque": {"SP_CPU_MEMORY": "opaque"},
    "opaque-async": {"SP_CPU_MEMORY": "opaque", "SP_CPU_STREAMS": "async", "SP_CPU_JITTER": "50"},
}
SECONDS = 600

IS_TYPE_GPU = "type_gpu" in os.environ.get("SP_LIBRARY", "")
IS_COMPLETE = os.environ.get("SP_EVERY_PROGRAM") == "1"
FIRST = (2, 12) if IS_COMPLETE else (2, 21)

pytestmark = pytest.mark.skipif(RELEASE < FIRST, reason="SP_EVERY_PROGRAM=1 is not set, or Keras has other optimizers")


@dataclasses.dataclass
class Program:
    """What the comments of a program state."""

    path: pathlib.Path
    first: tuple
    last: tuple
    rtol: float
    is_host_only: bool
    packages: list
    last_keras_as_gpu: tuple

    @classmethod
    def read(cls, path):
        text = path.read_text()
        first, last = releases(field(text, "releases"))
        rtol = re.match(r"[\d.e-]+", field(text, "rtol") or "1e-3")
        packages = (field(text, "packages") or "").split(", ")
        last_keras = releases(field(text, "Keras as type GPU"))[1]
        return cls(path, first, last, float(rtol[0]), field(text, "host only") is not None, [it for it in packages if it], last_keras)

    def reason_to_skip(self):
        """Returns why the program cannot run here, or `None`."""
        absent = [it for it in self.packages if importlib.util.find_spec(it) is None]
        if absent:
            return f"{', '.join(absent)} is not installed"
        if not self.first <= RELEASE <= self.last:
            return "the program uses what other releases have"
        if IS_TYPE_GPU and releases(tf.keras.__version__)[0] > self.last_keras_as_gpu:
            return "on a device of type GPU this Keras computes something else than on the CPU"
        return None


def field(text, name):
    """Returns the text of a comment, or `None`."""
    found = re.search(f"^# {name}: (.+)$", text, re.M)
    return found and found[1]


def releases(text):
    """Returns the first and the last release of `2.16 and later` or `2.12 to 2.15`."""
    numbers = [tuple(map(int, it.split("."))) for it in re.findall(r"\d+\.\d+", text or "0.0")]
    return (*numbers, (99, 0))[:2]


def start(program, folder, **variables):
    """Starts a program in a new folder."""
    folder.mkdir()
    folders = [str(ROOT / "tests" / "startup"), str(FOLDER), os.environ.get("PYTHONPATH")]
    path = os.pathsep.join(filter(None, folders))
    variables = {"PYTHONPATH": path, "SP_REPORT": str(folder / "report.npz"), "SP_CALLS": str(folder / "calls"), **variables}
    # A file, since a pipe that nobody reads may fill up.
    with open(folder / "stderr", "w") as stderr:
        return subprocess.Popen(
            [sys.executable, program.path], cwd=folder, env={**os.environ, **variables}, stdout=subprocess.DEVNULL, stderr=stderr
        )


def finish(process, folder):
    """Returns the results of a program, or a text that tells how it failed."""
    try:
        status = process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return f"does not end in {SECONDS} s\n{(folder / 'stderr').read_text()[-3000:]}"
    if status or not (folder / "report.npz").exists():
        return f"ends with status {status}, and reports nothing\n{(folder / 'stderr').read_text()[-3000:]}"
    with np.load(folder / "report.npz") as found:
        return dict(found)


def differences(expected, found, rtol):
    """Yields a line for each result that is not the CPU's. Elements near zero differ as the largest element may."""
    for name in sorted(expected.keys() ^ found.keys()):
        yield f"{name}: only on the {'CPU' if name in expected else 'device'}"
    for name in expected.keys() & found.keys():
        a, b = expected[name], found[name]
        if a.shape != b.shape or a.dtype != b.dtype:
            yield f"{name}: {b.dtype}{list(b.shape)}, expected {a.dtype}{list(a.shape)}"
        elif a.dtype.kind not in "fc":
            if not np.array_equal(a, b):
                yield f"{name}: {b.tolist()}, expected {a.tolist()}"
        elif not np.allclose(b, a, rtol, rtol * largest(a), equal_nan=True):
            wide = np.abs(a.astype(complex) - b)
            yield f"{name}: differs by {np.nanmax(wide):.2g}, largest {largest(a):.2g}: {b.ravel()[:4]}, expected {a.ravel()[:4]}"


def largest(array):
    finite = np.abs(array[np.isfinite(array)])
    return float(finite.max()) if finite.size else 0.0


def kernel_calls(folder):
    """Returns the number of kernels that the plugin has computed in all processes of a program."""
    path = folder / "calls"
    return sum(map(int, path.read_text().split())) if path.exists() else 0


PROGRAMS = sorted(it.stem for it in FOLDER.glob("*.py") if it.stem != "report")
OF_LIBRARIES = sorted(it.stem for it in LIBRARIES.glob("*.py"))
IN_MODES = list(MODES) if os.environ.get("SP_EVERY_MODE") == "1" else ["default"]
ON_CPU = {}


@pytest.mark.parametrize("mode", IN_MODES)
@pytest.mark.parametrize("name", PROGRAMS if IS_COMPLETE else SHORT)
def test_program_has_results_of_cpu(name, mode, tmp_path):
    check(FOLDER / f"{name}.py", mode, tmp_path)


@pytest.mark.skipif(os.environ.get("SP_LIBRARIES") != "1", reason="SP_LIBRARIES=1 is not set")
@pytest.mark.parametrize("mode", IN_MODES)
@pytest.mark.parametrize("name", OF_LIBRARIES)
def test_program_of_library_has_results_of_cpu(name, mode, tmp_path):
    check(LIBRARIES / f"{name}.py", mode, tmp_path)


def check(path, mode, tmp_path):
    """Runs a program on the device and, once for all modes, on the CPU, and compares the results."""
    program, name = Program.read(path), path.stem
    if reason := program.reason_to_skip():
        pytest.skip(reason)
    device = start(program, tmp_path / "device", **MODES[mode])
    if name not in ON_CPU:
        ON_CPU[name] = finish(start(program, tmp_path / "cpu", SP_HIDE_PLUGIN="1"), tmp_path / "cpu")
    found = finish(device, tmp_path / "device")
    assert not isinstance(ON_CPU[name], str), f"on the CPU, without the plugin: {ON_CPU[name]}"
    assert not isinstance(found, str), found
    different = "\n".join(differences(ON_CPU[name], found, program.rtol))
    assert not different, different
    assert program.is_host_only or kernel_calls(tmp_path / "device") > 0, "the plugin has computed nothing"


def test_short_form_has_programs_of_folder():
    assert not set(SHORT) - set(PROGRAMS)


def test_other_results_are_differences():
    expected = {"loss": np.array([2.0, 1e-6]), "words": np.array([b"a", b"b"]), "count": np.array(3)}
    assert not list(differences(expected, {**expected, "loss": np.array([2.001, -1e-6])}, 1e-3))
    for changed in ({"loss": np.array([2.01, 0.0])}, {"loss": np.array([2.0, np.nan])}, {"words": np.array([b"a", b"c"])}):
        assert len(list(differences(expected, {**expected, **changed}, 1e-3))) == 1
    for changed in ({"count": np.array(4)}, {"loss": np.array([2.0])}, {"loss": np.array([2.0, 0.0], np.float32)}, {"more": np.array(1)}):
        assert len(list(differences(expected, {**expected, **changed}, 1e-3))) == 1


@pytest.mark.parametrize("text, found", [(None, ((0, 0), (99, 0))), ("2.16 and later", ((2, 16), (99, 0))), ("2.12 to 2.15", ((2, 12), (2, 15)))])
def test_releases_of_comment(text, found):
    assert releases(text) == found
