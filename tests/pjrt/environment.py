"""Installs releases of JAX, each in a folder of its own beside an environment with the packages that they depend on."""

import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

DEPENDENCIES = ["numpy==2.2.*", "scipy==1.15.*", "ml_dtypes==0.5.*", "opt_einsum"]
# Up to 0.4.29 jaxlib is built for NumPy 1.
OLD_DEPENDENCIES = ["numpy==1.26.*", "scipy==1.12.*", "ml_dtypes==0.5.*", "opt_einsum"]
# Two releases are installed at a time, and share the environment of what they depend on.
CREATION = threading.Lock()
# Python 3.12 has wheels of every jaxlib from 0.4.30 on; the others are for later ones, and for machines without it.
PYTHONS = ["3.12", "3.11", "3.13", "3.10"]


class NotInstalled(Exception):
    """A package cannot be installed, or an environment does not have it."""


def pythons():
    """Yields the version and the path of each Python that is installed, the preferred one first."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in PYTHONS:
        found = [*versions.glob(f"{version}.*/bin/python"), *filter(None, [shutil.which(f"python{version}")])]
        yield from ((version, str(path)) for path in found[:1])
    yield f"{sys.version_info.major}.{sys.version_info.minor}", sys.executable


def pip(python, *arguments):
    """Runs pip, and returns its last line if it fails."""
    command = [python, "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", *arguments]
    result = subprocess.run(command, capture_output=True, text=True)
    return "" if result.returncode == 0 else (result.stderr.strip().splitlines() or ["pip failed"])[-1]


def numbers(release):
    return tuple(map(int, release.split(".")))


def dependencies(folder, version, python, release):
    """Returns the Python of an environment with what JAX depends on, which is created if it does not exist."""
    is_old = numbers(release) < (0, 4, 30)
    environment = folder / (f"python{version}-numpy1" if is_old else f"python{version}")
    interpreter = str(environment / "bin" / "python")
    if not (environment / "complete").exists():
        shutil.rmtree(environment, ignore_errors=True)
        subprocess.run([python, "-m", "venv", environment], check=True)
        if problem := pip(interpreter, *(OLD_DEPENDENCIES if is_old else DEPENDENCIES)):
            raise NotInstalled(problem)
        (environment / "complete").touch()
    return interpreter


def install(folder, release):
    """Installs a release of JAX; returns the interpreter, and the folder to add to its path."""
    target, problem = folder / f"jax-{release}", "no Python is installed"
    for version, python in pythons():
        try:
            with CREATION:
                interpreter = dependencies(folder, version, python, release)
        except (NotInstalled, subprocess.CalledProcessError) as error:
            problem = str(error)
            continue
        marker = target / "python.txt"
        if marker.exists() and marker.read_text() == version:
            return interpreter, target
        shutil.rmtree(target, ignore_errors=True)
        problem = pip(interpreter, "--no-deps", "--target", target, f"jax=={release}", f"jaxlib=={release}")
        if not problem:
            marker.write_text(version)
            return interpreter, target
    raise NotInstalled(problem)


def without_plugins(folder, python):
    """Returns the Python of an environment with the packages of another one, except its plugins of TensorFlow."""
    query = "import sysconfig, tensorflow as tf; print(sysconfig.get_path('purelib')); print(tf.__version__)"
    result = subprocess.run([python, "-c", query], capture_output=True, text=True)
    if result.returncode:
        raise NotInstalled(f"{python} cannot import tensorflow")
    packages, release = result.stdout.split()[-2:]
    environment = folder / f"tensorflow-{release}"
    shutil.rmtree(environment, ignore_errors=True)
    subprocess.run([python, "-m", "venv", "--without-pip", environment], check=True)
    target = next(environment.glob("lib/python*/site-packages"))
    for path in Path(packages).iterdir():
        # A plugin of the scaffold adds a file that is run at the start of each Python.
        if path.name != "tensorflow-plugins" and path.suffix != ".pth":
            (target / path.name).symlink_to(path)
    return str(environment / "bin" / "python"), release


def newest_patches(listing):
    """Returns the newest patch release of each minor from 0.4.30 on; up to 0.4.38 each patch release changed the API."""
    chosen = {}
    for text in re.findall(r"\b\d+\.\d+(?:\.\d+)+\b", listing):
        release = numbers(text)
        key = release[:3] if release[:2] == (0, 4) else release[:2]
        if release >= (0, 4, 30):
            chosen[key] = max(chosen.get(key, release), release)
    return [".".join(map(str, release)) for release in sorted(chosen.values())]


def available():
    """Returns the releases to measure that the package index lists for any installed Python."""
    listings = []
    for _, python in pythons():
        result = subprocess.run([python, "-m", "pip", "index", "versions", "jaxlib"], capture_output=True, text=True)
        listings.append(result.stdout)
    return newest_patches(" ".join(listings))
