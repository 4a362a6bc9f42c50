"""Measures with PyTorch what bench.rs measures over OpenCL: `torch_bench.py large|small`. Prints a line of JSON for each measurement.

Exits with 77 without PyTorch or without a GPU that it can use. Floats are computed as floats: TF32 is off, unless a name says otherwise.
"""

import json
import sys
import time

RUNS = 5
SECONDS = 0.1
SIZES = {"large": {"bytes": 1 << 28, "rows": 1 << 13, "product": 1 << 12, "images": 64}}
SIZES["small"] = {"bytes": 1 << 24, "rows": 1 << 10, "product": 1 << 8, "images": 1}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def import_torch():
    try:
        import torch
    except ImportError as error:
        skip(f"PyTorch cannot be imported: {error}")
    if not torch.cuda.is_available():
        skip("PyTorch has no GPU")
    return torch


def report(name, seconds, byte_count=0, operations=0):
    print(json.dumps({"name": name, "seconds": seconds, "bytes": byte_count, "operations": operations}), flush=True)


def seconds_of(torch, call, count):
    """Returns the time of so many calls until all are complete."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        call()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def measure(torch, name, call, byte_count=0, operations=0):
    """Reports the time of a call among many, as bench.rs does."""
    seconds_of(torch, call, 1)
    count = 1
    while count < 1 << 12 and seconds_of(torch, call, count) < SECONDS:
        count *= 2
    few, many = (min(seconds_of(torch, call, it) for _ in range(RUNS)) for it in (count, 3 * count))
    report(name, (many - few) / (2 * count), byte_count, operations)


def measure_copies(torch, byte_count):
    device = torch.empty(byte_count // 4, device="cuda")
    for suffix, is_pinned in (("", False), (", page-locked", True)):
        host = torch.ones(byte_count // 4, pin_memory=is_pinned)
        to_device = min(seconds_of(torch, lambda: device.copy_(host), 1) for _ in range(RUNS))
        report(f"copy to device{suffix}", to_device, byte_count)
        to_host = min(seconds_of(torch, lambda: host.copy_(device), 1) for _ in range(RUNS))
        report(f"copy to host{suffix}", to_host, byte_count)
    other = torch.empty_like(device)
    # Half of the bytes are read, half are written: the memory's practical limit.
    measure(torch, "copy within the device", lambda: other.copy_(device), 2 * byte_count)


def measure_kernels(torch, sizes):
    rows, n, images = sizes["rows"], sizes["product"], sizes["images"]
    x, y = torch.randn(rows, rows, device="cuda"), torch.randn(rows, rows, device="cuda")
    size = 4 * rows * rows
    measure(torch, "Relu", lambda: torch.relu(x), 2 * size)
    measure(torch, "AddV2", lambda: torch.add(x, y), 3 * size)
    measure(torch, "Tanh", lambda: torch.tanh(x), 2 * size)
    for name, axes in (("Sum of rows", 1), ("Sum of columns", 0), ("Sum", (0, 1))):
        measure(torch, name, lambda axes=axes: torch.sum(x, axes), size)
    measure(torch, "Softmax", lambda: torch.softmax(x, 1), 2 * size)
    a, b = torch.randn(n, n, device="cuda"), torch.randn(n, n, device="cuda")
    image = torch.randn(images, 64, 56, 56, device="cuda").to(memory_format=torch.channels_last)
    filters = torch.randn(64, 64, 3, 3, device="cuda").to(memory_format=torch.channels_last)
    for suffix, is_tf32 in (("", False), (", TF32", True)):
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = is_tf32
        measure(torch, f"MatMul{suffix}", lambda: a @ b, 0, 2 * n**3)
        convolve = torch.nn.functional.conv2d
        measure(torch, f"Conv2D{suffix}", lambda: convolve(image, filters, padding=1), 0, 2 * images * 56 * 56 * 64 * 64 * 9)


def main():
    sizes = SIZES[sys.argv[1] if len(sys.argv) > 1 else "large"]
    torch = import_torch()
    with torch.no_grad():
        measure_copies(torch, sizes["bytes"])
        measure_kernels(torch, sizes)


if __name__ == "__main__":
    main()
