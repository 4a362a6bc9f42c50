"""Finds JAX and the modules of its plugins, without importing them.

Arguments: the file for the answer, which is JSON.
"""

import importlib.util
import json
import os
import pkgutil
import platform
import sys
from importlib import metadata

GROUP = "jax_plugins"


def version(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def namespace():
    """The folders of the namespace package, and the modules in them."""
    spec = importlib.util.find_spec(GROUP)
    folders = list(spec.submodule_search_locations or []) if spec else []
    return folders, ["%s.%s" % (GROUP, module.name) for module in pkgutil.iter_modules(folders)]


def entry_points():
    """The modules that installed packages name. Python 3.9 returns a dictionary of groups."""
    points = metadata.entry_points()
    selected = points.select(group=GROUP) if hasattr(points, "select") else points.get(GROUP, [])
    return [point.value for point in selected]


def main():
    folders, modules = namespace()
    answer = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "jax": version("jax"),
        "jaxlib": version("jaxlib"),
        "folders": folders,
        "modules": sorted(set(modules) | set(entry_points())),
        "platforms": os.environ.get("JAX_PLATFORMS"),
    }
    with open(sys.argv[1], "w") as file:
        json.dump(answer, file)


main()
