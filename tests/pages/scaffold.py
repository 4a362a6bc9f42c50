"""A plugin as a user makes it: `sp-gen new`, then cargo."""

import hashlib
import os
import pathlib
import shutil

from .process import must
from .releases import MADE, ROOT

LIBRARY = "libmyaccel.so"


def sp_gen():
    """The tool: what SP_GEN names, or built."""
    if named := os.environ.get("SP_GEN"):
        return pathlib.Path(named)
    must(["cargo", "build", "--release", "--package", "sp-gen"], cwd=ROOT)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "sp-gen"


def scaffold(name):
    """A fresh plugin in a folder of this name; what cargo has built there stays."""
    folder, built = MADE / name, MADE / f"{name}.target"
    shutil.rmtree(folder, ignore_errors=True)
    must([sp_gen(), "new", "myaccel", "--path", folder])
    return folder, built


def contents(folder):
    """A digest of all that is in the folder."""
    whole = hashlib.sha256()
    for path in sorted(it for it in folder.rglob("*") if it.is_file()):
        whole.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return whole.hexdigest()[:16]


def build(folder, target, profile="release", **more):
    """The plugin's library: one build of what is in the folder, whatever it will be loaded into."""
    kept = target / f"{profile}-{contents(folder)}.so"
    if not kept.exists():
        environment = {**os.environ, "CARGO_TARGET_DIR": str(target), **more}
        must(["cargo", "build", "--profile", profile], cwd=folder, env=environment)
        shutil.copy(target / ("debug" if profile == "dev" else profile) / LIBRARY, kept)
    return kept
