"""What the pages of measured results were made of: each states the commit, the version of sp-gen and a digest of its sources.

`tests/evidence` names the pages whose sources have changed since, and exits with 1 if there is one.
"""

import hashlib
import re
import sys

from .process import run_checked
from .releases import DOCS, ROOT

PLUGIN = ["generated/src", "macros", "templates"]
# The sources of each page: what runs in TensorFlow, and the programs that run it.
SOURCES = {
    "accuracy.md": [*PLUGIN, "tests/kernel_sweep", "tests/tensorflow/sweep_kernels.py"],
    "coverage.md": [*PLUGIN, "codegen/cli/src/coverage", "tests/coverage_page", "tests/traced_ops"],
    "default-kernels.md": [*PLUGIN, "tests/default_kernels"],
    "hindcast.md": [*PLUGIN, "generated/ir", "tests/pages/hindcast.py", "tests/pages/since.py", "tests/tensorflow/forked_steps.py"],
    "matrix.md": [*PLUGIN, "tests/pages/matrix.py", "tests/tensorflow"],
    "traced-ops.md": [*PLUGIN, "tests/traced_ops"],
}
STAMP = re.compile(r"^Made by sp-gen (?P<version>\S+) of commit `(?P<commit>[0-9a-f]+)`; sources `(?P<digest>[0-9a-f]+)`\.$", re.MULTILINE)


def git(root, *arguments):
    return run_checked(["git", "-C", root, *arguments]).stdout


def digest(root, sources):
    """Returns a digest of the tracked files in these folders, as they are on disk."""
    found, names = hashlib.sha256(), git(root, "ls-files", "-z", "--", *sources).split("\0")
    for source in sources:
        if not any(name == source or name.startswith(f"{source}/") for name in names):
            raise RuntimeError(f"{source} has no tracked file, and a page names it as a source")
    for name in sorted(names):
        path = root / name
        if name and path.is_file():
            found.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:16]


def version(root):
    return re.search(r'^version = "(.*)"', (root / "Cargo.toml").read_text(), re.MULTILINE)[1]


def stamp(page, root=ROOT):
    """Returns the line of a page that is written now."""
    commit = git(root, "rev-parse", "--short=12", "HEAD").strip()
    return f"Made by sp-gen {version(root)} of commit `{commit}`; sources `{digest(root, SOURCES[page])}`."


def write(path, text):
    """Writes a page, with what it was made of as its last line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n{stamp(path.name)}\n")


def problem(page, text, root=ROOT):
    """Returns why a page is no evidence of the present sources, or None."""
    found = STAMP.search(text)
    if found is None:
        return "it does not state what it was made of"
    if found["digest"] == digest(root, SOURCES[page]):
        return None
    return f"its sources have changed since commit {found['commit']}"


def main():
    problems = {page: problem(page, (DOCS / page).read_text()) for page in SOURCES}
    for page, found in problems.items():
        print(f"{page}: {found or 'of the present sources'}")
    return 1 if any(problems.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
