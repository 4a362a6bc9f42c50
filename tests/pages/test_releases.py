"""`python -m pytest tests/pages`: environments."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from pages.releases import Environment


@pytest.fixture
def environment(tmp_path):
    (tmp_path / "lib/python3.11/site-packages").mkdir(parents=True)
    made = Environment("2.21")
    made.place = tmp_path
    return made


def test_sets_an_installed_plugin_aside_and_puts_it_back_after_a_failure(environment):
    folder = environment.place / "lib/python3.11/site-packages/tensorflow-plugins"
    folder.mkdir()
    (folder / "libother.so").touch()
    with pytest.raises(RuntimeError), environment.without_plugins():
        assert not folder.exists()
        raise RuntimeError
    assert [it.name for it in folder.iterdir()] == ["libother.so"]


def test_leaves_an_environment_without_plugins_alone(environment):
    with environment.without_plugins():
        pass
    assert not list(environment.place.rglob("tensorflow-plugins*"))
