"""TensorFlow's releases on this machine: a virtual environment for each, created on demand."""

import contextlib
import glob
import os
import pathlib
import shutil

from .process import run_checked, run

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD_DIR = ROOT / "target" / "made"
DOCS = ROOT / "generated" / "docs"
SUITE = ROOT / "tests" / "tensorflow"
REQUIREMENTS = SUITE / "requirements"


def minor(release):
    """Returns a release as a tuple of numbers: (2, 21) for 2.21."""
    return tuple(map(int, release.split(".")))


def releases():
    """Returns all releases with requirements, oldest first."""
    return sorted((path.stem for path in REQUIREMENTS.glob("*.txt")), key=minor)


# The Pythons that a release is tried with, beside the one that its requirements name.
PYTHONS = [f"python3.{minor}" for minor in range(8, 14)]


def python_of(release):
    """Returns the name of the Python that the release's requirements name."""
    first = (REQUIREMENTS / f"{release}.txt").read_text().splitlines()[0]
    return first.lstrip("# ").strip()


def interpreter(name):
    """Returns the path of the Python of this name, or None. It is searched for on the PATH and in pyenv."""
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    version = name.removeprefix("python")
    candidates = [shutil.which(name), *sorted(glob.glob(f"{pyenv}/versions/{version}.*/bin/python"))]
    for candidate in filter(None, candidates):
        # pyenv puts a shim on the PATH even if its version is not selected; the shim fails then.
        if run([candidate, "-c", "import sys"]).returncode == 0:
            return candidate
    return None


class Withdrawn(RuntimeError):
    """The package index no longer has a pre-release."""


def pinned(release):
    """Returns the TensorFlow requirement of the release, such as tensorflow-cpu==2.22.0rc0."""
    lines = (REQUIREMENTS / f"{release}.txt").read_text().splitlines()
    return next(line for line in lines if line.startswith("tensorflow"))


def is_preview(release):
    return "rc" in pinned(release)


class NoWheel(RuntimeError):
    """The package index has no wheel of the release for a Python."""


class Environment:
    """A virtual environment with one release's TensorFlow.

    `python` names another Python than the release's requirements. `with_cuda` installs the package `tensorflow`, the build with
    CUDA, instead of `tensorflow-cpu`."""

    def __init__(self, release, python=None, with_cuda=False):
        self.release = release
        suffix = f"-{python}" if python else ""
        self.folder = BUILD_DIR / f"tensorflow-{'cuda-' * with_cuda}{release}{suffix}"
        self.name = python or python_of(release)
        self.base_python = interpreter(self.name)
        self.python = self.folder / "bin" / "python"
        text = (REQUIREMENTS / f"{release}.txt").read_text()
        self.requirements = text.replace("tensorflow-cpu", "tensorflow") if with_cuda else text

    def create(self):
        """Creates the environment, or recreates it if its requirements have changed.

        Returns False if this machine lacks the Python; raises Withdrawn if the index lacks the release, NoWheel if it has no
        wheel for the Python."""
        if self.base_python is None:
            return False
        installed = self.folder / "made-from.txt"
        if installed.exists() and installed.read_text() == self.requirements:
            return True
        shutil.rmtree(self.folder, ignore_errors=True)
        run_checked([self.base_python, "-m", "venv", self.folder])
        self.install()
        installed.write_text(self.requirements)
        return True

    def install(self):
        wanted = self.folder / "requirements.txt"
        wanted.write_text(self.requirements)
        try:
            run_checked([self.python, "-m", "pip", "install", "--quiet", "--no-cache-dir", "--no-compile", "--requirement", wanted])
        except RuntimeError as error:
            if "No matching distribution found for tensorflow" not in str(error):
                raise
            if self.name != python_of(self.release):
                raise NoWheel(f"{self.release} has no wheel for {self.name}") from error
            if is_preview(self.release):
                raise Withdrawn(f"skipped: the package index no longer has {pinned(self.release)}") from error
            raise

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextlib.contextmanager
    def without_plugins(self):
        """Hides the installed plugins: TensorFlow aborts if two plugins register the same device type."""
        (packages,) = self.folder.glob("lib/python3*/site-packages")
        folder, hidden = packages / "tensorflow-plugins", packages / "tensorflow-plugins.hidden"
        if folder.exists():
            shutil.rmtree(hidden, ignore_errors=True)
            folder.rename(hidden)
        try:
            yield
        finally:
            if hidden.exists():
                hidden.rename(folder)

    @contextlib.contextmanager
    def plugin(self, library, name):
        """Installs the library in the folder that every release loads plugins from.

        The environment variable TF_PLUGGABLE_DEVICE_LIBRARY_PATH came with a later release than 2.5."""
        (packages,) = self.folder.glob("lib/python3*/site-packages")
        folder = packages / "tensorflow-plugins"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        shutil.copy(library, folder / name)
        try:
            yield
        finally:
            shutil.rmtree(folder)
