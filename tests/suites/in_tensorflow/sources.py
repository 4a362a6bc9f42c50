"""What TensorFlow's tests import from its sources, and what its test runner does before them."""

import importlib.machinery
import pathlib
import sys

from absl import flags

PACKAGE = "tensorflow."
# Modules whose presence turns on a mode of the tests, as that of XLA.
MODES = "_test_true"


class Sources:
    """Finds the modules that the installed TensorFlow lacks in the folder of its sources."""

    def __init__(self, root):
        self.root = pathlib.Path(root)

    def find_spec(self, name, path=None, target=None):
        if not name.startswith(PACKAGE) or name.endswith(MODES):
            return None
        folder = self.root.joinpath(*name.split(".")[:-1])
        return importlib.machinery.PathFinder.find_spec(name, [str(folder)], target)


def pytest_configure(config):
    sys.meta_path.append(Sources(config.rootpath))
    flags.FLAGS.mark_as_parsed()
