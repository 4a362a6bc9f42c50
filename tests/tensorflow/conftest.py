"""Shared fixtures of the tests in a real TensorFlow."""

import contextlib
import ctypes
import os
import pathlib
import subprocess
import sys

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf  # noqa: E402  (the log level must be set before)

DEVICE = "MYACCEL"
RELEASE = tuple(map(int, tf.__version__.split(".")[:2]))
ROOT = pathlib.Path(__file__).resolve().parents[2]


def example(name):
    """Returns the library of a plugin of tests/examples, which cargo builds for the Rust tests."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    path = target / "debug" / "examples" / f"lib{name}.so"
    if not path.exists():
        pytest.skip(f"`cargo build -p sp-tests --examples` has not built {path.name}")
    return path


def run_program(program, environment=(), **constants):
    """Runs a Python program with these constants in a process of its own; returns the finished process."""
    definitions = "".join(f"{name} = {str(value)!r}\n" for name, value in constants.items())
    command = [sys.executable, "-c", definitions + program]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **dict(environment)})


@pytest.fixture
def hard_placement():
    """Makes an op without a kernel on its device an error."""
    before = tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(False)
    yield
    tf.config.set_soft_device_placement(before)


@pytest.fixture(scope="session")
def plugin():
    """Returns the path of the installed plugin's shared library."""
    folder = pathlib.Path(tf.__file__).parent.parent / "tensorflow-plugins"
    (path,) = folder.glob("*myaccel*.so")
    return path


@pytest.fixture(scope="session")
def calls(plugin):
    """Returns a function that returns the number of calls of each op, as the plugin counts them."""
    count = ctypes.CDLL(str(plugin)).sp_kernel_calls
    count.argtypes, count.restype = [ctypes.c_char_p, ctypes.c_size_t], ctypes.c_size_t

    def read():
        text = ctypes.create_string_buffer(count(None, 0) + 1024)
        count(text, len(text))
        by_op = {}
        for line in text.value.decode().splitlines():
            op, *fields = line.split()
            count_of_kernel = next(int(field[6:]) for field in fields if field.startswith("calls="))
            by_op[op] = by_op.get(op, 0) + count_of_kernel
        return by_op

    return read


@pytest.fixture
def in_plugin(calls):
    """Returns a context manager that places ops on the device, and checks that the plugin ran `op` in it.

    An op that no kernel of the plugin accepts runs on the CPU instead, and can give the same result or error.
    """

    @contextlib.contextmanager
    def place(op, times=1):
        before = calls()[op]
        with tf.device(f"/device:{DEVICE}:0"):
            yield
        assert calls()[op] == before + times, f"{op} did not run in the plugin"

    return place


@pytest.fixture
def on_both(calls):
    """Returns a function that runs another on the CPU and on the device, and checks that the plugin ran the op."""

    def run(op, function, *arguments):
        with tf.device("/CPU:0"):
            expected = function(*[tf.constant(argument) for argument in arguments])
        before = calls()[op]
        with tf.device(f"/device:{DEVICE}:0"):
            found = function(*[tf.constant(argument) for argument in arguments])
        assert calls()[op] == before + 1, f"{op} did not run in the plugin"
        return expected, found

    return run


@pytest.fixture(scope="session")
def scaffold():
    """Returns the scaffolded plugin's folder."""
    return pathlib.Path(os.environ["SP_SCAFFOLD"])
