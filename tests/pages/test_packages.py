"""The crates for others have the metadata and files that a package needs: `python -m pytest tests/pages`."""

import json
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def cargo(*arguments):
    command = ["cargo", *arguments, "--manifest-path", str(ROOT / "Cargo.toml")]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def packages():
    return json.loads(cargo("metadata", "--format-version=1", "--no-deps", "--offline"))["packages"]


PACKAGES = packages()
PUBLISHED = [package for package in PACKAGES if package["publish"] != []]


def test_crates_of_plugins_are_published():
    table = (ROOT / "codegen/cli/build.rs").read_text().partition("const CRATES")[2].partition("];")[0]
    assert sorted(package["name"] for package in PUBLISHED) == sorted(re.findall(r'\("(sp-\w+)", ', table))


@pytest.mark.parametrize("package", PUBLISHED, ids=lambda package: package["name"])
def test_published_crate_has_metadata(package):
    assert len(package["description"]) > 20
    assert package["license"] == "MIT OR Apache-2.0"
    assert 1 <= len(package["keywords"]) <= 5
    assert package["rust_version"]
    assert package["readme"] == "README.md"


@pytest.mark.parametrize("package", PUBLISHED, ids=lambda package: package["name"])
def test_published_crate_depends_on_versions_of_published_crates(package):
    names = {package["name"] for package in PUBLISHED}
    for dependency in package["dependencies"]:
        if dependency.get("path"):
            # A scaffold has the published crates as a workspace, which cargo does not open without what their tests depend on.
            assert dependency["name"] in names, dependency["name"]
            # Cargo removes a path without a version from the dependencies of tests only.
            assert dependency["req"] != "*" or dependency["kind"] == "dev", dependency["name"]


@pytest.mark.parametrize("package", PUBLISHED, ids=lambda package: package["name"])
def test_package_has_licence_and_no_snapshots(package):
    files = cargo("package", "--list", "--allow-dirty", "--offline", "--package", package["name"]).split()
    assert {"Cargo.toml", "LICENSE", "README.md", "src/lib.rs"} <= set(files)
    assert "MIT License" in (pathlib.Path(package["manifest_path"]).parent / "LICENSE").read_text()
    assert not any(file.startswith(("ir/", "symbols/")) for file in files)
