//! The slots of the reference device in each mode.

use std::ffi::c_void;
use std::ptr;
use std::time::{Duration, Instant};

use sp_abi::stream_executor::{SP_DeviceMemoryBase, StreamExecutor};
use sp_plugin::accelerator::{Accelerator, Queue};
use sp_plugin::{Device, HostAddressable, MemoryAccess};
use sp_runtime::{Prefix, PrefixMut};

use super::{CpuDevice, Settings, memory_base};

fn modes() -> [Settings; 4] {
    [(false, false), (false, true), (true, false), (true, true)].map(|(is_opaque, is_async)| {
        Settings {
            is_opaque,
            is_async,
            jitter: Duration::from_micros(if is_async { 200 } else { 0 }),
            ..Settings::default()
        }
    })
}

fn allocate(device: &CpuDevice, size: u64) -> SP_DeviceMemoryBase {
    let mut memory = memory_base(ptr::null_mut());
    // SAFETY: the struct is live.
    unsafe { device.allocate(size, 0, PrefixMut::from_mut(&mut memory)) };
    assert!(!memory.opaque.is_null());
    memory
}

#[test]
fn access_follows_memory_and_streams() {
    let found = modes().map(|it| CpuDevice::from_settings(it).memory_access());
    let (in_place, after_wait, staged) = (
        MemoryAccess::InPlace,
        MemoryAccess::InPlaceAfterWait,
        MemoryAccess::Staged,
    );
    assert_eq!(found, [in_place, after_wait, staged, staged]);
    assert_eq!(CpuDevice::new().memory_access(), in_place);
}

#[test]
fn chains_of_commands_over_two_streams_give_same_bytes_in_each_mode() {
    for settings in modes() {
        let device = CpuDevice::from_settings(settings);
        let [first, second] = [(); 2].map(|()| device.create_stream().unwrap());
        let (a, b) = (allocate(&device, 4096), allocate(&device, 4096));
        let (a, b) = (Prefix::from_ref(&a), Prefix::from_ref(&b));
        let mut bytes = [0_u8; 4096];
        let target: *mut c_void = bytes.as_mut_ptr().cast();
        for round in 1..20_u8 {
            // SAFETY: memory and array are live until the synchronization.
            unsafe {
                device.memset(&first, a, round, 4096).unwrap();
                device
                    .memset32(&first, a, u32::from_ne_bytes([round + 1; 4]), 8)
                    .unwrap();
                device.create_stream_dependency(&second, &first).unwrap();
                device.memcpy_dtod(&second, b, a, 4096).unwrap();
                device.memcpy_dtoh(&second, target, b, 4096).unwrap();
                device.create_stream_dependency(&first, &second).unwrap();
            }
            device.block_host_until_done(&second).unwrap();
            assert_eq!(
                (bytes[7], bytes[8], bytes[4095]),
                (round + 1, round, round),
                "{settings:?}"
            );
        }
        device.synchronize_all_activity().unwrap();
    }
}

#[test]
fn copy_between_devices_is_direct() {
    for settings in modes() {
        let devices = [(); 2].map(|()| CpuDevice::from_settings(settings));
        let [from, to] = devices.each_ref().map(|it| allocate(it, 16));
        let stream = devices[0].create_stream().unwrap();
        let mut bytes = [0_u8; 16];
        // SAFETY: memory and array are live until the synchronization.
        unsafe {
            devices[0]
                .memset(&stream, Prefix::from_ref(&from), 7, 16)
                .unwrap();
            let (to, from) = (Prefix::from_ref(&to), Prefix::from_ref(&from));
            devices[0].memcpy_dtod(&stream, to, from, 16).unwrap();
            devices[0].block_host_until_done(&stream).unwrap();
            devices[1]
                .sync_memcpy_dtoh(bytes.as_mut_ptr().cast(), to, 16)
                .unwrap();
        }
        assert_eq!(bytes, [7; 16]);
    }
}

#[test]
fn rejects_copy_between_regions_of_different_length() {
    let device = CpuDevice::from_settings(modes()[1]);
    let memory = allocate(&device, 16);
    let layer = &device.0;
    // SAFETY: the test has allocated the memory, and no kernel uses it.
    let region = unsafe { layer.region(memory.opaque.addr(), 16) }.unwrap();
    let half = region.slice(0, 8).unwrap();
    let queue = layer.accelerator().create_queue(None).unwrap();
    for result in [
        queue.copy(&half, &region),
        queue
            .copy_to_peer(layer.accelerator(), &half, &region)
            .map(drop),
    ] {
        let error = result.unwrap_err();
        assert_eq!(error.message(), "a copy of 16 bytes to 8 bytes");
    }
}

#[test]
fn opaque_memory_is_not_accessible_at_its_address() {
    let device = CpuDevice::from_settings(modes()[2]);
    let memory = allocate(&device, 100);
    // The kernel reads the byte for `write`, and returns an error instead of a signal.
    let mut pipe = [0; 2];
    // SAFETY: `pipe` has room for two descriptors; the system checks the address.
    let written = unsafe {
        assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
        libc::write(pipe[1], memory.opaque, 1)
    };
    assert_eq!(written, -1);
}

#[test]
fn asynchronous_commands_return_before_they_run_and_run_before_the_device_ends() {
    let settings = Settings {
        is_async: true,
        jitter: Duration::from_millis(20),
        ..Settings::default()
    };
    let device = CpuDevice::from_settings(settings);
    let stream = device.create_stream().unwrap();
    let memory = allocate(&device, 64);
    let start = Instant::now();
    for _ in 0..20 {
        // SAFETY: the memory is live until the synchronization.
        unsafe {
            device
                .memset(&stream, Prefix::from_ref(&memory), 1, 64)
                .unwrap()
        };
    }
    let enqueued = start.elapsed();
    device.block_host_until_done(&stream).unwrap();
    assert!(
        enqueued * 3 < start.elapsed(),
        "{enqueued:?} of {:?}",
        start.elapsed()
    );
}

#[test]
fn chosen_command_fails() {
    let settings = Settings {
        failing_command: Some(2),
        ..Settings::default()
    };
    let device = CpuDevice::from_settings(settings);
    let stream = device.create_stream().unwrap();
    let memory = allocate(&device, 8);
    // SAFETY: the memory is live.
    let zero = || unsafe { device.mem_zero(&stream, Prefix::from_ref(&memory), 8) };
    assert_eq!(zero(), Ok(()));
    let error = zero().unwrap_err();
    assert!(
        error
            .message()
            .contains("command 2 has failed (SP_CPU_FAIL)"),
        "{error}"
    );
    assert_eq!(zero(), Err(error));
    assert_eq!(CpuDevice::count(), Ok(1));
}
