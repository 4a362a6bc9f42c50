"""A scaffolded plugin: `sp-gen new`, then `cargo build`."""

import hashlib
import os
import pathlib
import re
import shutil

from .process import run_checked
from .releases import BUILD_DIR, ROOT, minor
from .since import cut

LIBRARY = "libmyaccel.so"
# The crates with markers, and their folders in the checkout.
MARKED = {"sp-plugin": "templates/sdk", "sp-cpu": "templates/cpu"}
# The releases of a kernel; core has its own kernel in the release after the last one.
KERNEL_RELEASES = re.compile(r'releases = "([0-9.]+)\.\.([0-9]+\.[0-9]+)"')


def sp_gen():
    """Returns the sp-gen that SP_GEN names, or builds it."""
    if path := os.environ.get("SP_GEN"):
        return pathlib.Path(path)
    run_checked(["cargo", "build", "--release", "--package", "sp-gen"], cwd=ROOT)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "sp-gen"


def scaffold(name):
    """Scaffolds a new plugin in a folder of this name; returns it and its target folder, which is kept."""
    folder, target = BUILD_DIR / name, BUILD_DIR / f"{name}.target"
    shutil.rmtree(folder, ignore_errors=True)
    run_checked([sp_gen(), "new", "myaccel", "--with", "ops", "--path", folder])
    return folder, target


def digest(folder):
    """Returns a digest of all files in the folder."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def build(folder, target, profile="release", **variables):
    """Returns the plugin's library; builds it if no build of the same files and profile exists."""
    library = target / f"{profile}-{digest(folder)}.so"
    if not library.exists():
        environment = {**os.environ, "CARGO_TARGET_DIR": str(target), **variables}
        run_checked(["cargo", "build", "--profile", profile], cwd=folder, env=environment)
        shutil.copy(target / ("debug" if profile == "dev" else profile) / LIBRARY, library)
    return library


def known_at(release, text):
    """Returns a source file without the code for releases after `release`.

    A kernel whose last release is not before `release` loses that end of its range."""
    is_past = lambda match: minor(match[2]) < minor(release)
    return KERNEL_RELEASES.sub(lambda match: match[0] if is_past(match) else f'releases = "{match[1]}.."', cut(text, release))


def make_older(tool, folder, release):
    """Changes a scaffold to one of `release`: sp-abi and the sources lose all code for later releases."""
    run_checked([tool, "generate", "--release", release, "--out", "vendor/sp-abi"], cwd=folder)
    for name, crate in MARKED.items():
        for source in [ROOT / crate / "Cargo.toml", *(ROOT / crate).glob("src/**/*.rs")]:
            target = folder / "vendor" / name / source.relative_to(ROOT / crate)
            text = known_at(release, source.read_text())
            if not target.exists() or target.read_text() != text:
                target.write_text(text)
