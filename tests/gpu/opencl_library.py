"""Finds the OpenCL library of the GPU's driver, which is not always where OpenCL's loader looks for it."""

import os
import pathlib
import subprocess

NAME = "libnvidia-opencl.so"
CUDA = "libcuda.so.1"
FOLDERS = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu/nvidia/current",
    "/usr/lib64",
    "/usr/lib64/nvidia",
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",
]
VENDORS = "/etc/OpenCL/vendors"


def cached_libraries():
    """Returns the paths of the libraries that the system's linker knows, by name."""
    for program in ("ldconfig", "/sbin/ldconfig"):
        try:
            text = subprocess.run([program, "-p"], capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            continue
        entries = (line.split(" => ") for line in text.splitlines() if " => " in line)
        return {name.split()[0]: path.strip() for name, path in entries}
    return {}


def search_path(cache, environment, folders=FOLDERS):
    """Returns the folders in which drivers have their libraries, each once."""
    listed = environment.get("LD_LIBRARY_PATH", "").split(":")
    beside_cuda = [str(pathlib.Path(cache[CUDA]).parent)] if CUDA in cache else []
    return list(dict.fromkeys(it for it in [*listed, *beside_cuda, *folders] if it))


def find(environment=os.environ, cache=None, folders=FOLDERS, vendors=VENDORS):
    """Returns the library, or `None`, and the places where it was looked for.

    A library that SP_OPENCL_LIBRARY names is the only one. Then follow that of the GPU's driver and those of installed drivers.
    """
    cache = cached_libraries() if cache is None else cache
    path = search_path(cache, environment, folders)
    named = environment.get("SP_OPENCL_LIBRARY")
    if named:
        return find_by_name(named, cache, path)
    looked = [f"{NAME}.1 in ldconfig -p", *(f"{folder}/{NAME}.*" for folder in path), f"{vendors}/*.icd"]
    if f"{NAME}.1" in cache:
        return cache[f"{NAME}.1"], looked
    for folder in path:
        files = sorted(pathlib.Path(folder).glob(f"{NAME}.*"))
        if files:
            return str(files[0]), looked
    for file in sorted(pathlib.Path(vendors).glob("*.icd")):
        library, _ = find_by_name(file.read_text().split("\n")[0].strip(), cache, path)
        if library:
            return library, looked
    return None, looked


def find_cuda(environment=os.environ):
    """Returns the library of the CUDA driver, or `None`."""
    cache = cached_libraries()
    return find_by_name(CUDA, cache, search_path(cache, environment))[0]


def find_by_name(name, cache, path):
    """Returns a library by its path, or by its name in the linker's cache and the folders."""
    if "/" in name:
        return (name if pathlib.Path(name).is_file() else None), [name]
    looked = [f"{name} in ldconfig -p", *(f"{folder}/{name}" for folder in path)]
    if name in cache:
        return cache[name], looked
    files = (pathlib.Path(folder) / name for folder in path)
    return next((str(file) for file in files if file.is_file()), None), looked
