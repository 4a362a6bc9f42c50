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


def interpreter(release):
    """Returns the name and path of the Python that the release's requirements name; the path is None if there is none.

    It is searched for on the PATH and in pyenv."""
    first = (REQUIREMENTS / f"{release}.txt").read_text().splitlines()[0]
    name = first.lstrip("# ").strip()
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    version = name.removeprefix("python")
    candidates = [shutil.which(name), *sorted(glob.glob(f"{pyenv}/versions/{version}.*/bin/python"))]
    for candidate in filter(None, candidates):
        # pyenv puts a shim on the PATH even if its version is not selected; the shim fails then.
        if run([candidate, "-c", "import sys"]).returncode == 0:
            return name, candidate
    return name, None


class Withdrawn(RuntimeError):
    """The package index no longer has a pre-release."""


def pinned(release):
    """Returns the TensorFlow requirement of the release, such as tensorflow-cpu==2.22.0rc0."""
    lines = (REQUIREMENTS / f"{release}.txt").read_text().splitlines()
    return next(line for line in lines if line.startswith("tensorflow"))


def is_preview(release):
    return "rc" in pinned(release)


class Environment:
    """A virtual environment with one release's TensorFlow."""

    def __init__(self, release):
        self.release = release
        self.folder = BUILD_DIR / f"tensorflow-{release}"
        self.name, self.base_python = interpreter(release)
        self.python = self.folder / "bin" / "python"

    def create(self):
        """Creates the environment, or recreates it if its requirements have changed.

        Returns False if this machine lacks the release's Python; raises Withdrawn if the index lacks the release."""
        if self.base_python is None:
            return False
        requirements, installed = REQUIREMENTS / f"{self.release}.txt", self.folder / "made-from.txt"
        if installed.exists() and installed.read_bytes() == requirements.read_bytes():
            return True
        shutil.rmtree(self.folder, ignore_errors=True)
        run_checked([self.base_python, "-m", "venv", self.folder])
        pip = [self.python, "-m", "pip", "install", "--quiet", "--no-cache-dir", "--no-compile"]
        try:
            run_checked([*pip, "--requirement", requirements])
        except RuntimeError as error:
            if is_preview(self.release) and f"No matching distribution found for {pinned(self.release)}" in str(error):
                raise Withdrawn(f"skipped: the package index no longer has {pinned(self.release)}") from error
            raise
        shutil.copy(requirements, installed)
        return True

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
