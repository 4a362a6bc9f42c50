"""The programs for a machine with a GPU, of tests/gpu: `python -m pytest tests/pages`."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "gpu"))

import opencl_library  # noqa: E402
import results_page  # noqa: E402
import run  # noqa: E402
import torch_bench  # noqa: E402

NVIDIA = "libnvidia-opencl.so.1"


def find(tmp_path, environment=(), cache=(), folders=()):
    vendors = str(tmp_path / "vendors")
    return opencl_library.find(dict(environment), dict(cache), [str(it) for it in folders], vendors)


def test_library_of_the_linkers_cache_comes_first(tmp_path):
    (tmp_path / NVIDIA).touch()
    library, _ = find(tmp_path, cache={NVIDIA: "/usr/lib/x"}, folders=[tmp_path])
    assert library == "/usr/lib/x"


def test_library_is_found_beside_that_of_cuda_under_any_version(tmp_path):
    (tmp_path / "libnvidia-opencl.so.580.95").touch()
    library, _ = find(tmp_path, cache={"libcuda.so.1": str(tmp_path / "libcuda.so.1")})
    assert library == str(tmp_path / "libnvidia-opencl.so.580.95")


def test_library_of_an_installed_driver_is_found_by_its_name(tmp_path):
    (tmp_path / "vendors").mkdir()
    (tmp_path / "vendors" / "a.icd").write_text("liba.so\n")
    (tmp_path / "liba.so").touch()
    library, _ = find(tmp_path, environment={"LD_LIBRARY_PATH": str(tmp_path)})
    assert library == str(tmp_path / "liba.so")


def test_library_that_the_variable_names_is_the_only_one(tmp_path):
    (tmp_path / NVIDIA).touch()
    cache = {NVIDIA: "/usr/lib/x"}
    library, looked = find(tmp_path, environment={"SP_OPENCL_LIBRARY": "/no/such/file.so"}, cache=cache, folders=[tmp_path])
    assert library is None and looked == ["/no/such/file.so"]
    library, _ = find(tmp_path, environment={"SP_OPENCL_LIBRARY": NVIDIA}, folders=[tmp_path])
    assert library == str(tmp_path / NVIDIA)


def test_places_are_named_if_there_is_no_library(tmp_path):
    library, looked = find(tmp_path, folders=["/no/driver"])
    assert library is None
    assert looked[0].endswith("ldconfig -p") and "/no/driver/libnvidia-opencl.so.*" in looked and looked[-1].endswith("/*.icd")


def test_rows_of_the_test_host_are_read():
    row = run.parse_row("FAIL  kernel:AddV2_int64       expected 1, got 2")
    assert row == {"status": "FAIL", "name": "kernel:AddV2_int64", "detail": "expected 1, got 2"}
    assert run.parse_row("pass  platform                ") == {"status": "pass", "name": "platform", "detail": ""}


def test_exit_status_is_that_of_the_checks():
    def results(**statuses):
        return [{"name": name, "status": status} for name, status in statuses.items()]

    assert run.exit_status(results(verify="skipped", verify_kernels="passed", bench="passed")) == 77
    assert run.exit_status(results(verify="skipped", cuda="passed")) == 0
    assert run.exit_status(results(verify="passed", bench="failed")) == 1


def test_page_has_rates_beside_their_limits():
    part = {"description": "", "status": "passed", "reason": "", "seconds": 1.0, "facts": {}}
    parts = {part_function.__name__: {"name": part_function.__name__, **part} for part_function, _ in run.PARTS}
    copy = {"name": "copy to device", "seconds": 0.5, "bytes": 10e9, "operations": 0}
    relu = {"name": "Relu", "seconds": 1.0, "bytes": 3e12, "operations": 0}
    parts["bench"]["facts"] = {"measurements": [copy, relu]}
    parts["cuda"]["facts"] = {"device": "A | B", "memory_rate": 4e12}
    gpu = {"name": "X", "driver_version": "580", "memory.total": "1", "pcie.link.gen.max": "5", "pcie.link.width.max": "16"}
    machine = {"gpu": gpu, "opencl_library": "x", "glibc": "2.36", "cores": 2}
    text = results_page.write({"parts": list(parts.values()), "machine": machine, "pack": {"commit": "0" * 40, "cuda": None}})
    assert "| copy to device | 20.0 GB/s |  | 63.0 GB/s |" in text
    assert "| Relu | 3000.0 GB/s |  | 4000.0 GB/s |" in text


def test_both_benches_measure_the_same():
    rust = (ROOT / "tests/gpu/bench.rs").read_text()
    python = (ROOT / "tests/gpu/torch_bench.py").read_text()
    names = set(re.findall(r'"(copy to \w+|[A-Z][a-z]\w+(?: of \w+)?)"', rust)) - {"Neg"}
    assert {"Relu", "Sum of rows", "MatMul", "Conv2D", "copy to device"} <= names
    missing = [name for name in names if f'"{name}' not in python]
    assert not missing
    for key, value in torch_bench.SIZES["large"].items():
        shift = value.bit_length() - 1
        assert f"{key}: 1 << {shift}," in rust or f"{key}: {value}," in rust


def test_each_kernel_of_the_opencl_backend_has_a_case():
    cases = (ROOT / "tests/gpu/kernels.rs").read_text()
    sources = (ROOT / "templates/opencl/src/kernels").glob("*.rs.jinja")
    ops = set()
    for source in sources:
        text = source.read_text()
        ops |= set(re.findall(r"#\[kernel\((\w+),", text))
        ops |= set(re.findall(r"^    \w+: ([A-Z]\w+)(?:\(| =>| ->)", text, re.MULTILINE))
    assert len(ops) > 60
    assert [op for op in sorted(ops) if f'"{op}"' not in cases] == []


def run_cuda(tmp_path, library):
    program = ROOT / "target/made/gpu/files/bin/cuda"
    if not program.exists():
        pytest.skip("tests/gpu/pack has not built the program")
    environment = {**os.environ, "BINDINGS_DRIVER": str(library), "TMPDIR": str(tmp_path)}
    return subprocess.run([program], capture_output=True, text=True, env=environment, timeout=120)


def test_cuda_program_computes_with_a_stub_of_the_driver(tmp_path):
    library = tmp_path / "libstub.so"
    subprocess.run(["cc", "-shared", "-fPIC", ROOT / "tests/gpu/cuda/stub_cuda.c", "-o", library], check=True)
    finished = run_cuda(tmp_path, library)
    assert finished.returncode == 0, finished.stderr
    assert json.loads(finished.stdout)["device"] == "stub 0"


def test_cuda_program_is_skipped_without_a_driver(tmp_path):
    finished = run_cuda(tmp_path, "/no/such/libcuda.so.1")
    assert finished.returncode == 77
    assert finished.stdout.startswith("skipped: the driver cannot be loaded: ")
