"""TensorFlow's releases on this machine: for each an environment of its own, made when it is asked for."""

import contextlib
import glob
import os
import pathlib
import shutil

from .process import must, run

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MADE = ROOT / "target" / "made"
DOCS = ROOT / "generated" / "docs"
SUITE = ROOT / "tests" / "tensorflow"
REQUIREMENTS = SUITE / "requirements"


def minor(release):
    return tuple(map(int, release.split(".")))


def releases():
    return sorted((path.stem for path in REQUIREMENTS.glob("*.txt")), key=minor)


def interpreter(release):
    """The Python that the release's requirements name, on the PATH or from pyenv."""
    first = (REQUIREMENTS / f"{release}.txt").read_text().splitlines()[0]
    name = first.lstrip("# ").strip()
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    wanted = name.removeprefix("python")
    candidates = [shutil.which(name), *sorted(glob.glob(f"{pyenv}/versions/{wanted}.*/bin/python"))]
    for candidate in filter(None, candidates):
        # A shim of pyenv is on the PATH also where its version is not chosen.
        if run([candidate, "-c", "import sys"]).returncode == 0:
            return name, candidate
    return name, None


class Withdrawn(RuntimeError):
    """The index no longer has a pre-release: what needs it is skipped."""


def pinned(release):
    """The TensorFlow that the release's requirements name, such as tensorflow-cpu==2.22.0rc0."""
    lines = (REQUIREMENTS / f"{release}.txt").read_text().splitlines()
    return next(line for line in lines if line.startswith("tensorflow"))


def is_preview(release):
    return "rc" in pinned(release)


class Environment:
    """A venv with one release's TensorFlow."""

    def __init__(self, release):
        self.release = release
        self.place = MADE / f"tensorflow-{release}"
        self.name, self.made_by = interpreter(release)
        self.python = self.place / "bin" / "python"

    def make(self):
        """Makes it, anew where its requirements have changed; `False` without a Python for it."""
        if self.made_by is None:
            return False
        wants, made_from = REQUIREMENTS / f"{self.release}.txt", self.place / "made-from.txt"
        if made_from.exists() and made_from.read_bytes() == wants.read_bytes():
            return True
        shutil.rmtree(self.place, ignore_errors=True)
        must([self.made_by, "-m", "venv", self.place])
        pip = [self.python, "-m", "pip", "install", "--quiet", "--no-cache-dir", "--no-compile"]
        try:
            must([*pip, "--requirement", wants])
        except RuntimeError as error:
            if is_preview(self.release) and f"No matching distribution found for {pinned(self.release)}" in str(error):
                raise Withdrawn(f"skipped: the index no longer has {pinned(self.release)}") from error
            raise
        shutil.copy(wants, made_from)
        return True

    def remove(self):
        shutil.rmtree(self.place, ignore_errors=True)

    @contextlib.contextmanager
    def without_plugins(self):
        """No plugin is installed: TensorFlow aborts if two register the same device type."""
        (packages,) = self.place.glob("lib/python3*/site-packages")
        folder, aside = packages / "tensorflow-plugins", packages / "tensorflow-plugins.aside"
        if folder.exists():
            shutil.rmtree(aside, ignore_errors=True)
            folder.rename(aside)
        try:
            yield
        finally:
            if aside.exists():
                aside.rename(folder)

    @contextlib.contextmanager
    def plugin(self, library, name):
        """The library where every release looks, also those from before TF_PLUGGABLE_DEVICE_LIBRARY_PATH."""
        (packages,) = self.place.glob("lib/python3*/site-packages")
        folder = packages / "tensorflow-plugins"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        shutil.copy(library, folder / name)
        try:
            yield
        finally:
            shutil.rmtree(folder)
