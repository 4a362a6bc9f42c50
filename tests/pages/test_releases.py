"""Tests of the environments: `python -m pytest tests/pages`."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from pages.releases import Environment


@pytest.fixture
def environment(tmp_path):
    (tmp_path / "lib/python3.11/site-packages").mkdir(parents=True)
    environment = Environment("2.21")
    environment.folder = tmp_path
    return environment


def test_hides_installed_plugin_and_restores_it_after_failure(environment):
    folder = environment.folder / "lib/python3.11/site-packages/tensorflow-plugins"
    folder.mkdir()
    (folder / "libother.so").touch()
    with pytest.raises(RuntimeError), environment.without_plugins():
        assert not folder.exists()
        raise RuntimeError
    assert [path.name for path in folder.iterdir()] == ["libother.so"]


def test_hiding_changes_no_environment_without_plugins(environment):
    with environment.without_plugins():
        pass
    assert not list(environment.folder.rglob("tensorflow-plugins*"))
