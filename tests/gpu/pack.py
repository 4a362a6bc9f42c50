"""Builds what `tests/gpu/run` needs on a machine with a GPU, in a folder: `pack.py [--native] [FOLDER]`.

The programs are linked by zig against an old glibc; with `--native` by this machine's linker against its glibc, which compiles fewer
crates a second time. The folder has sp-gen, a plugin over OpenCL with its test programs, the loader of
OpenCL, the API snapshots that the test host reads, and a program over bindings of the CUDA driver.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MADE = ROOT / "target" / "made" / "gpu"
TOOLS = MADE / "tools"
REQUIREMENTS = ["cargo-zigbuild>=0.24,<1", "ziglang>=0.15,<1"]
MACHINE = "x86_64"
GLIBC = "2.17"
TARGET = f"{MACHINE}-unknown-linux-gnu"
# The releases of the scaffold's tests and of tests/gpu/inputs.rs.
RELEASES = ["2.18", "2.21"]
LOADER = "ocl-icd-libopencl1"
CUDA_HEADERS = "nvidia-cuda-runtime-cu12"
# The checkout and the folder have 64 MiB at most.
LIMIT = 40 << 20

# The tests of this folder that are built in the scaffold.
TESTS = ["kernels", "bench"]
PROGRAMS = {"clplugin": "unit_tests", "conformance": "conformance", **{name: name for name in TESTS}}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, **options)


def output_of(*command, **options):
    return run(*command, stdout=subprocess.PIPE, text=True, **options).stdout.strip()


def install_tools():
    """Installs zig and cargo-zigbuild in an environment of their own; returns the path of zig."""
    stamp, text = TOOLS / "requirements.txt", "\n".join(REQUIREMENTS)
    python = TOOLS / "bin" / "python"
    if not stamp.is_file() or stamp.read_text() != text:
        shutil.rmtree(TOOLS, ignore_errors=True)
        venv.create(TOOLS, with_pip=True)
        if subprocess.run([python, "-m", "pip", "install", "--quiet", *REQUIREMENTS]).returncode != 0:
            skip("the package index has no cargo-zigbuild or ziglang")
        stamp.write_text(text)
    find = "import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).parent / 'zig')"
    return output_of(python, "-c", find)


def cargo(zig, folder, command, *options, **variables):
    """Builds in a folder, with zig as the linker unless it is `None`; returns the artifacts that cargo reports."""
    target = ROOT / "target" if folder == ROOT and not zig else MADE.with_name("gpu.target")
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target), "CARGO_PROFILE_RELEASE_STRIP": "symbols", **variables}
    program = ["cargo", command]
    if zig:
        environment["CARGO_ZIGBUILD_ZIG_PATH"] = zig
        program = [TOOLS / "bin" / "cargo-zigbuild", command.replace("build", "zigbuild"), "--target", f"{TARGET}.{GLIBC}"]
    program += ["--release", "--message-format", "json-render-diagnostics", *options]
    lines = output_of(*program, cwd=folder, env=environment).splitlines()
    messages = [json.loads(line) for line in lines if line.startswith("{")]
    return [it for it in messages if it["reason"] == "compiler-artifact"]


def executable(artifacts, name):
    (path,) = {it["executable"] for it in artifacts if it.get("executable") and it["target"]["name"] == name}
    return pathlib.Path(path)


def load_module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build_plugin(zig, sp_gen, programs):
    """Builds a plugin over OpenCL and its tests, among them those of this folder."""
    scaffold = MADE / "clplugin"
    shutil.rmtree(scaffold, ignore_errors=True)
    run(sp_gen, "--quiet", "new", "clplugin", "--path", scaffold, "--vcs", "none", "--backend", "opencl", stdout=subprocess.DEVNULL)
    for name in TESTS:
        shutil.copy(HERE / f"{name}.rs", scaffold / "tests")
    # A file in `tests` would be a test itself.
    (scaffold / "tests" / "inputs").mkdir()
    shutil.copy(HERE / "inputs.rs", scaffold / "tests" / "inputs" / "mod.rs")
    manifest = scaffold / "Cargo.toml"
    tests = "".join(f'\n[[test]]\nname = "{name}"\nharness = false\n' for name in TESTS)
    manifest.write_text(manifest.read_text() + tests)
    flags = os.environ.get("RUSTFLAGS", "")
    if zig:
        unwinder = load_module(scaffold / "tools" / "build_wheel.py").create_unwinder(zig, MACHINE, MADE)
        flags = f"{flags} -Clink-arg={unwinder}".strip()
    artifacts = cargo(zig, scaffold, "test", "--no-run", RUSTFLAGS=flags)
    for name, file in PROGRAMS.items():
        shutil.copy(executable(artifacts, name), programs / file)
    libraries = [file for it in artifacts for file in it["filenames"] if file.endswith("libclplugin.so")]
    shutil.copy(libraries[0], programs)


def build_cuda(zig, sp_gen, programs):
    """Builds the program over the CUDA driver. Returns the version of the headers, or `None` if the package index has none."""
    folder, crate = MADE / "headers", MADE / "cuda"
    if not list(folder.glob("*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, CUDA_HEADERS]
        if subprocess.run(command).returncode != 0:
            return None
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (member,) = [name for name in archive.namelist() if name.endswith("/include/cuda.h")]
        header = pathlib.Path(archive.extract(member, folder))
    for stale in (crate, MADE / "bindings"):
        shutil.rmtree(stale, ignore_errors=True)
    options = ["--driver", header, "--driver-library", "libcuda.so.1", "--driver-contract", HERE / "cuda" / "cuda.toml"]
    run(sp_gen, "--quiet", "new", "bindings", "--path", MADE / "bindings", "--vcs", "none", *options, stdout=subprocess.DEVNULL)
    shutil.copytree(HERE / "cuda", crate)
    shutil.copy(MADE / "bindings" / "src" / "driver.rs", crate / "src")
    artifacts = cargo(zig, crate, "build")
    shutil.copy(executable(artifacts, "cuda"), programs)
    return wheel.name.split("-")[1]


def unpack_loader(programs):
    """Copies the loader of OpenCL out of its Debian package."""
    folder = MADE / "loader"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if subprocess.run(["apt-get", "download", "-qq", LOADER], cwd=folder, stderr=subprocess.DEVNULL).returncode != 0:
        skip(f"apt-get cannot download {LOADER}")
    (package,) = folder.glob("*.deb")
    run("dpkg", "-x", package, folder)
    (library,) = folder.glob("usr/lib/*/libOpenCL.so.1")
    shutil.copy(library, programs)
    return package.name.split("_")[1]


def copy_snapshots(folder):
    for release in RELEASES:
        for file in (ROOT / "generated" / "ir").glob(f"*/{release}.json"):
            target = folder / "vendor" / "sp-abi" / "ir" / file.parent.name
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)


def newest_glibc(file):
    """Returns the newest version of glibc of which a file needs symbols."""
    text = output_of("readelf", "--wide", "--version-info", file)
    return max((tuple(map(int, it)) for it in re.findall(r"\bGLIBC_(\d+)\.(\d+)", text)), default=(0, 0))


def build(folder, is_native):
    """Builds everything; returns the facts about it."""
    zig = None if is_native else install_tools()
    programs = folder / "bin"
    programs.mkdir(parents=True)
    facts = {"commit": output_of("git", "-C", ROOT, "rev-parse", "HEAD"), "loader": unpack_loader(programs)}
    sp_gen = executable(cargo(zig, ROOT, "build", "--locked", "-p", "sp-gen"), "sp-gen")
    shutil.copy(sp_gen, programs)
    build_plugin(zig, sp_gen, programs)
    facts["cuda"] = build_cuda(zig, sp_gen, programs)
    copy_snapshots(folder)
    return facts


def report_files(folder):
    """Prints the size of each program and the newest glibc that it needs; returns the newest of all."""
    versions = {file: newest_glibc(file) for file in sorted((folder / "bin").iterdir())}
    for file, version in versions.items():
        print(f"{file.name:16} {file.stat().st_size / 1e6:6.1f} MB, glibc {'.'.join(map(str, version))}")
    return ".".join(map(str, max(versions.values())))


def write(folder, files, facts):
    """Replaces the folder by one with an archive of the files and the facts about them."""
    others = sorted(it.name for it in folder.iterdir() if it.name not in ("pack.json", "pack.tar.gz")) if folder.exists() else []
    if others:
        sys.exit(f"{folder} has files that tests/gpu/pack has not written, such as {others[0]}: name another folder")
    new = MADE / "pack.new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    with tarfile.open(new / "pack.tar.gz", "w:gz", compresslevel=6) as archive:
        archive.add(files, ".")
    size = (new / "pack.tar.gz").stat().st_size
    if size > LIMIT:
        sys.exit(f"{new}/pack.tar.gz has {size} bytes, more than {LIMIT}")
    (new / "pack.json").write_text(json.dumps(facts, indent=4) + "\n")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.move(new, folder)
    print(f"{folder}: {size / 1e6:.1f} MB, glibc {facts['glibc']}, commit {facts['commit'][:8]}, CUDA headers {facts['cuda']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=ROOT / ".gpu")
    parser.add_argument("--native", action="store_true", help="link against this machine's glibc")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    for program in ("cargo", "apt-get", "dpkg", "readelf"):
        shutil.which(program) or skip(f"{program} is not installed")
    pathlib.Path("/usr/include/CL/cl.h").exists() or skip("no headers of OpenCL: apt-get install opencl-headers")
    MADE.mkdir(parents=True, exist_ok=True)
    files = MADE / "files"
    shutil.rmtree(files, ignore_errors=True)
    facts = build(files, arguments.native)
    facts["glibc"] = report_files(files)
    write(folder, files, facts)


if __name__ == "__main__":
    main()
