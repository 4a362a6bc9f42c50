//! A forked child of a process that has a device open, as Python's `multiprocessing` makes it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sp_abi::stream_executor::StreamExecutor;
use sp_cpu::CpuDevice;
use sp_host::{Host, Op, Tensor};
use sp_tests::{alone, example, snapshots};

/// Runs `body` in a forked child; returns whether it returned true within ten seconds.
fn child(body: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child calls what a plugin's slots and kernels may call in one, and exits.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let is_right = body();
        // SAFETY: ends the child without running what the parent registered.
        unsafe { libc::_exit(if is_right { 0 } else { 1 }) }
    }
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(10) {
        let mut status = -1;
        // SAFETY: asks for a child of this process.
        if unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == child {
            return status == 0;
        }
        thread::sleep(Duration::from_millis(1));
    }
    // SAFETY: ends a child of this process that was not waited for yet.
    unsafe { libc::kill(child, libc::SIGKILL) };
    false
}

#[test]
fn kernels_of_a_device_from_before_a_fork_return_an_error() {
    alone(
        "kernels_of_a_device_from_before_a_fork_return_an_error",
        || {
            let host = Host::open(&snapshots("2.21"), &example("rough")).unwrap();
            let run = |x: &Tensor| host.run(&Op::new("AddV2"), &[x.clone(), x.clone()]);
            let (two, empty) = (
                Tensor::from([2], &[1_f32, 2.0]),
                Tensor::from([0], &[0_f32; 0]),
            );
            assert!(run(&two).is_ok() && run(&empty).is_ok());
            // Without elements no memory is asked for, and the kernel itself answers.
            let is_forked = |it: sp_host::Error| it.to_string().contains("forked");
            assert!(child(
                || run(&empty).is_err_and(is_forked) && run(&two).is_err()
            ));
            assert!(run(&two).is_ok());
        },
    );
}

#[test]
fn slots_of_a_device_from_before_a_fork_return_errors_while_its_lock_is_in_use() {
    let (device, is_done) = (CpuDevice::new(), AtomicBool::new(false));
    let stream = device.create_stream().unwrap();
    let is_rejected = || {
        let errors = [
            device.block_host_until_done(&stream),
            device.synchronize_all_activity(),
            device.get_stream_status(&stream),
            device.create_stream().map(drop),
            device.create_event().map(drop),
        ];
        let is_forked = |it: &Result<(), sp_plugin::Error>| {
            it.as_ref().is_err_and(|it| it.message().contains("forked"))
        };
        device.host_memory_allocate(64).is_null() && errors.iter().all(is_forked)
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                device.memory().release(device.memory().allocate(64));
            }
        });
        let failed = (0..200).filter(|_| !child(is_rejected)).take(1).count();
        is_done.store(true, Ordering::Relaxed);
        assert_eq!(failed, 0, "a child hung, or a slot served it");
    });
    assert!(device.block_host_until_done(&stream).is_ok());
}

#[test]
fn child_opens_a_device_of_its_own() {
    let _parents = CpuDevice::new();
    assert!(child(|| {
        let device = CpuDevice::new();
        let stream = device.create_stream();
        stream.is_ok_and(|it| device.block_host_until_done(&it).is_ok())
            && !device.host_memory_allocate(64).is_null()
    }));
}
