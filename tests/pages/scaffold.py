"""A plugin as a user makes it: `sp-gen new`, then cargo."""

import hashlib
import os
import pathlib
import re
import shutil

from .process import must
from .releases import MADE, ROOT, minor
from .since import cut

LIBRARY = "libmyaccel.so"
# The crates with markers, and where they lie in the checkout.
MARKED = {"sp-plugin": "macros/plugin", "sp-cpu": "templates/cpu"}
# A kernel's last release: core has a kernel of its own in the release after it.
RELEASES = re.compile(r'releases = "([0-9.]+)\.\.([0-9]+\.[0-9]+)"')


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


def known_at(release, text):
    """A source file without what came after `release`."""
    ended = lambda found: minor(found[2]) < minor(release)
    return RELEASES.sub(lambda it: it[0] if ended(it) else f'releases = "{it[1]}.."', cut(text, release))


def make_older(tool, folder, release):
    """Makes a scaffold one of `release`: sp-abi generated, and the sources cut, without what came after it."""
    must([tool, "generate", "--release", release, "--out", "vendor/sp-abi"], cwd=folder)
    for name, place in MARKED.items():
        for source in [ROOT / place / "Cargo.toml", *(ROOT / place).glob("src/**/*.rs")]:
            target = folder / "vendor" / name / source.relative_to(ROOT / place)
            text = known_at(release, source.read_text())
            if not target.exists() or target.read_text() != text:
                target.write_text(text)
