//! A forked child of a process with an open device, as Python's `multiprocessing` creates it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sp_abi::stream_executor::StreamExecutor;
use sp_cpu::CpuDevice;
use sp_host::{Host, Op, Tensor};
use sp_tests::{example, in_own_process, snapshots};

/// Runs `body` in a forked child; returns true if it returned true within ten seconds.
fn passes_in_child(body: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child calls only slots and kernels, which must work in a forked child, and exits.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let passes = body();
        // SAFETY: `_exit` runs no handlers of the parent.
        unsafe { libc::_exit(if passes { 0 } else { 1 }) }
    }
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(10) {
        let mut status = -1;
        // SAFETY: `pid` is a child of this process, and `status` is a live integer.
        if unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) } == pid {
            return status == 0;
        }
        thread::sleep(Duration::from_millis(1));
    }
    // SAFETY: the child was not waited for, so `pid` still names it.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    false
}

#[test]
fn kernels_return_error_in_forked_child() {
    in_own_process("kernels_return_error_in_forked_child", || {
        let host = Host::open(&snapshots("2.21"), &example("author_errors")).unwrap();
        let run = |x: &Tensor| host.run(&Op::new("AddV2"), &[x.clone(), x.clone()]);
        let two = Tensor::from([2], &[1_f32, 2.0]);
        let empty = Tensor::from([0], &[0_f32; 0]);
        assert!(run(&two).is_ok() && run(&empty).is_ok());
        // A tensor without elements needs no memory, so the error is the kernel's.
        let is_forked = |error: sp_host::Error| error.to_string().contains("forked");
        assert!(passes_in_child(
            || run(&empty).is_err_and(is_forked) && run(&two).is_err()
        ));
        assert!(run(&two).is_ok());
    });
}

#[test]
fn slots_return_errors_in_forked_child_while_parent_allocates() {
    let (device, is_done) = (CpuDevice::new(), AtomicBool::new(false));
    let stream = device.create_stream().unwrap();
    let slots_return_errors = || {
        let errors = [
            device.block_host_until_done(&stream),
            device.synchronize_all_activity(),
            device.get_stream_status(&stream),
            device.create_stream().map(drop),
            device.create_event().map(drop),
        ];
        let is_forked = |result: &Result<(), sp_plugin::Error>| {
            result
                .as_ref()
                .is_err_and(|error| error.message().contains("forked"))
        };
        device.host_memory_allocate(64).is_null() && errors.iter().all(is_forked)
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                let block = device.memory().allocate(64);
                // SAFETY: nobody accesses the block.
                unsafe { device.memory().release(block) };
            }
        });
        let failed = (0..200)
            .filter(|_| !passes_in_child(slots_return_errors))
            .take(1)
            .count();
        is_done.store(true, Ordering::Relaxed);
        assert_eq!(
            failed, 0,
            "a child did not end, or a slot returned no error"
        );
    });
    assert!(device.block_host_until_done(&stream).is_ok());
}

#[test]
fn forked_child_opens_its_own_device() {
    let _device_of_parent = CpuDevice::new();
    assert!(passes_in_child(|| {
        let device = CpuDevice::new();
        let stream = device.create_stream();
        stream.is_ok_and(|stream| device.block_host_until_done(&stream).is_ok())
            && !device.host_memory_allocate(64).is_null()
    }));
}
