"""Finds TensorFlow and its plugins as `import tensorflow` does, without importing it.

Arguments: the file for the answer, which is JSON.
"""

import importlib.util
import json
import os
import platform
import re
import site
import sys
import sysconfig

PACKAGES = ["tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-rocm", "intel-tensorflow", "tf-nightly", "tf-nightly-cpu"]


def site_folders():
    """The folders that TensorFlow takes for site-packages: those of 2.21, a superset of earlier releases'."""
    folders = []
    if site.ENABLE_USER_SITE and site.USER_SITE:
        folders.append(site.USER_SITE)
    folders += [folder for folder in sys.path if "site-packages" in folder]
    folders += getattr(site, "getsitepackages", list)()
    for scheme in sysconfig.get_scheme_names():
        folders += [sysconfig.get_path(name, scheme) for name in ("purelib", "platlib")]
    return list(dict.fromkeys(folder for folder in folders if folder))


def tensorflow():
    """The folder of the package, or None."""
    spec = importlib.util.find_spec("tensorflow")
    return os.path.dirname(spec.origin) if spec and spec.origin else None


def installed():
    """The version in the metadata of the installed package, or None."""
    try:
        from importlib import metadata
    except ImportError:  # Python 3.7
        return None
    for package in PACKAGES:
        try:
            return "%s %s" % (package, metadata.version(package))
        except metadata.PackageNotFoundError:
            pass
    return None


def is_library(name):
    """TensorFlow's own rule for the files that it loads."""
    head, dot, version = name.rpartition(".so.")
    return name.endswith(".so") or bool(dot and version[:1].isdecimal())


def entries(folder):
    """The files of a plugins folder, or the reason why it cannot be listed."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        return {"folder": folder, "files": [], "error": str(error)}
    files = [{"path": os.path.join(folder, name), "is_library": is_library(name)} for name in names]
    return {"folder": folder, "files": files, "error": None}


VARIABLE = "TF_PLUGGABLE_DEVICE_LIBRARY_PATH"


def named():
    """The plugins that the variable names, or None. TensorFlow loads a file of any name, and the libraries of a folder."""
    path = os.environ.get(VARIABLE)
    if not path:
        return None
    if os.path.isdir(path):
        return entries(path)
    error = None if os.path.exists(path) else "%s names %s, which does not exist" % (VARIABLE, path)
    return {"folder": path, "files": [] if error else [{"path": path, "is_library": True}], "error": error}


def similar(folders, package):
    """The folders beside TensorFlow, or in it, that look like one for plugins, and that TensorFlow does not read."""
    patterns = [(folder, r"tensorflow(_|-)?plugins?") for folder in folders]
    # TensorFlow's tutorial names a folder in `python`.
    inside = [package, os.path.join(package, "python")] if package else []
    patterns += [(folder, r"(tensorflow(_|-)?)?plugins?") for folder in inside]
    found = set()
    for folder, pattern in patterns:
        for name in readable_names(folder):
            is_read = name == "tensorflow-plugins" and folder in folders
            path = os.path.join(folder, name)
            if re.fullmatch(pattern, name) and not is_read and any(map(is_library, readable_names(path))):
                found.add(path)
    return sorted(found)


def readable_names(folder):
    """The names in a folder; none if it cannot be listed."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def main():
    package, folders = tensorflow(), site_folders()
    plugins = [os.path.join(folder, "tensorflow-plugins") for folder in folders]
    distinct = {os.path.realpath(folder): folder for folder in reversed(plugins) if os.path.exists(folder)}
    answer = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "tensorflow": package,
        "installed": installed(),
        "searched": folders,
        "is_searched": bool(package) and any(package.startswith(folder) for folder in folders),
        "plugins": [entries(folder) for folder in sorted(distinct.values())],
        "named": named(),
        "similar": similar(folders, package),
    }
    with open(sys.argv[1], "w") as file:
        json.dump(answer, file)


main()
