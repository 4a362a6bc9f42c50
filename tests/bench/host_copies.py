"""Rates of copies of 64 MiB between the host and virtaccel's device: from and to memory of the driver, and of the process.

`python tests/bench/host_copies.py target/debug/libvirtaccel.so`. The rates of an OpenCL driver: in a plugin of
`sp-gen new --backend opencl`, `cargo test --release rates -- --ignored --nocapture`.
"""

import ctypes
import sys
import time

SIZE, ROUNDS = 64 << 20, 20


def main(library):
    driver = ctypes.CDLL(library)

    def call(name, *arguments):
        status = getattr(driver, name)(*arguments)
        assert status == 0, f"{name}: status {status}"

    device, queue, address, pinned = (ctypes.c_void_p() for _ in range(4))
    size = ctypes.c_uint64(SIZE)
    call("va_device_open", 0, ctypes.byref(device))
    call("va_queue_create", device, None, ctypes.byref(queue))
    call("va_alloc", device, size, ctypes.byref(address))
    call("va_host_alloc", size, ctypes.byref(pinned))
    own = ctypes.create_string_buffer(SIZE)
    ctypes.memset(pinned, 1, SIZE)

    def fastest(name, *arguments):
        times = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            call(name, queue, *arguments, size)
            call("va_queue_synchronize", queue)
            times.append(time.perf_counter() - start)
        return SIZE / min(times) / 1e9

    for text, host in [("memory of the process", own), ("memory of the driver", pinned)]:
        to_device = fastest("va_copy_to_device", address, host)
        to_host = fastest("va_copy_to_host", host, address)
        print(f"{text}: {to_device:.1f} GB/s to the device, {to_host:.1f} GB/s to the host")


if __name__ == "__main__":
    main(sys.argv[1])
