"""Stubs for packages of other backends, which some files of Keras's tests import and few of their tests use.

A test that needs more of a package than its name fails without the plugin too, and is not compared.
"""

import importlib.machinery
import importlib.util
import sys
import types

NAMES = ["grain", "jax", "pandas", "torch"]


class Stub(type):
    """A class whose attributes are classes of its kind: a base, a type of `isinstance`, or a namespace."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub(name, (), {})


class Module(types.ModuleType):
    __path__ = []
    __version__ = "0"

    def __getattr__(self, name):
        return getattr(Stub(self.__name__, (), {}), name)


class Finder:
    """Finds each module of the absent packages, after Python has not found it."""

    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        is_stub = name.partition(".")[0] in self.names
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if is_stub else None

    def create_module(self, spec):
        return Module(spec.name)

    def exec_module(self, module):
        """A stub has no code."""


def install():
    """Makes the packages that are not installed importable."""
    sys.meta_path.append(Finder([name for name in NAMES if importlib.util.find_spec(name) is None]))
