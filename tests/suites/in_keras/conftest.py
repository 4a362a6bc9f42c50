"""What Keras's tests import from the conftest.py of its repository, which no wheel has."""

import os

import absent
import pytest


def skip_if_backend(backend, reason):
    """Returns the mark with which tests leave out a backend."""
    return pytest.mark.skipif(backend == os.environ["KERAS_BACKEND"], reason=reason)


def pytest_configure(config):
    for mark in ["requires_trainable_backend", "multi_device"]:
        config.addinivalue_line("markers", f"{mark}: of Keras's tests")


absent.install()
