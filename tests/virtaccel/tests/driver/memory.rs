//! Device memory.

use std::os::unix::process::ExitStatusExt;

use crate::bindings::*;
use crate::open_device::*;

#[test]
fn host_access_to_device_memory_is_a_segmentation_fault() {
    let name = "memory::host_access_to_device_memory_is_a_segmentation_fault";
    let status = in_child(name, &[], || {
        let device = OpenDevice::new(0);
        let array = device.upload(&[1.0f32; 4]);
        // SAFETY: none. The child is expected to end here.
        let value = unsafe { array.address.cast::<f32>().read_volatile() };
        panic!("read {value}");
    });
    if let Some(status) = status {
        assert_eq!(status.signal(), Some(11), "{status}");
    }
}

#[test]
fn copies_within_device_may_overlap() {
    let device = OpenDevice::new(0);
    let array = device.upload(&[1i32, 2, 3, 4]);
    // SAFETY: both addresses are in the allocation.
    unsafe {
        let target = array.address.byte_add(4);
        DRIVER
            .va_copy_within(device.queue, target, array.address, 12)
            .unwrap();
    }
    assert_eq!(device.read::<i32>(array).unwrap(), [1, 1, 2, 3]);
}

#[test]
fn peer_copy_reaches_another_device_and_plain_copy_does_not() {
    let (first, second) = (OpenDevice::new(0), OpenDevice::new(1));
    let source = first.upload(&[5i64, 6]);
    let target = second.allocate(16);
    // SAFETY: the addresses are those of allocations.
    let (plain, peer) = unsafe {
        (
            DRIVER.va_copy_within(first.queue, target.address, source.address, 16),
            DRIVER.va_copy_peer(first.queue, target.address, source.address, 16),
        )
    };
    assert_eq!(status(plain), va_status::VA_ERROR_INVALID_ADDRESS);
    peer.unwrap();
    first.synchronize().unwrap();
    assert_eq!(second.read::<i64>(target).unwrap(), [5, 6]);
}

#[test]
fn fill_repeats_pattern_of_each_size() {
    let device = OpenDevice::new(0);
    for (size, expected) in [(1, 0x44444444u32), (2, 0x33443344), (4, 0x11223344)] {
        let array = device.allocate(8);
        // SAFETY: the address is that of the allocation.
        unsafe { DRIVER.va_fill(device.queue, array.address, 0x11223344, size, 8) }.unwrap();
        assert_eq!(device.read::<u32>(array).unwrap(), [expected; 2], "{size}");
    }
}

#[test]
fn usage_follows_allocations_and_limit_is_out_of_memory() {
    let name = "memory::usage_follows_allocations_and_limit_is_out_of_memory";
    passes_in_child(name, &[("VIRTACCEL_MEMORY", "10000")], || {
        let device = OpenDevice::new(0);
        let info = || {
            let mut info = va_device_info {
                struct_size: size_of::<va_device_info>(),
                ..Default::default()
            };
            // SAFETY: `struct_size` is that of the struct.
            unsafe { DRIVER.va_device_get_info(device.device, &mut info) }.unwrap();
            (info.total_memory, info.free_memory, info.peak_memory)
        };
        let array = device.allocate(6000);
        assert_eq!(info(), (10000, 4000, 6000));
        let failed = device.try_allocate(6000);
        assert_eq!(status(failed), va_status::VA_ERROR_OUT_OF_MEMORY);
        device.free(array);
        assert_eq!(info(), (10000, 10000, 6000));
        device.allocate(6000);
    });
}

#[test]
fn interior_address_finds_its_allocation() {
    let device = OpenDevice::new(1);
    let array = device.allocate(100);
    let mut info = va_pointer_info {
        struct_size: size_of::<va_pointer_info>(),
        ..Default::default()
    };
    // SAFETY: `struct_size` is that of the struct; any address is allowed.
    unsafe { DRIVER.va_pointer_get_info(array.address.byte_add(99), &mut info) }.unwrap();
    assert_eq!((info.base, info.size), (array.address, 100));
    // SAFETY: as above.
    let outside = unsafe { DRIVER.va_pointer_get_info(array.address.byte_add(100), &mut info) };
    assert_eq!(status(outside), va_status::VA_ERROR_INVALID_ADDRESS);
}

#[test]
fn memory_that_is_freed_under_queued_work_is_an_address_fault() {
    let device = OpenDevice::new(0);
    let (array, target) = (device.allocate(4), device.allocate(4));
    let (release, blocked) = std::sync::mpsc::channel::<()>();
    device.host_function(move || blocked.recv().unwrap());
    // SAFETY: the addresses are those of allocations.
    unsafe { DRIVER.va_copy_within(device.queue, target.address, array.address, 4) }.unwrap();
    device.free(array);
    release.send(()).unwrap();
    assert_eq!(
        status(device.synchronize()),
        va_status::VA_ERROR_ADDRESS_FAULT
    );
}

#[test]
fn host_memory_is_aligned_and_freed_once() {
    let mut memory = std::ptr::null_mut();
    // SAFETY: the pointer is that of a local variable, and the memory has 10 bytes.
    unsafe {
        DRIVER.va_host_alloc(10, &mut memory).unwrap();
        assert!(memory.addr().is_multiple_of(4096));
        memory.cast::<u8>().write_bytes(1, 10);
        DRIVER.va_host_free(memory).unwrap();
        let again = DRIVER.va_host_free(memory);
        assert_eq!(status(again), va_status::VA_ERROR_INVALID_ADDRESS);
    }
}

fn copy_counts() -> va_copy_counts {
    let mut counts = va_copy_counts {
        struct_size: size_of::<va_copy_counts>(),
        ..Default::default()
    };
    // SAFETY: `struct_size` is that of the struct.
    unsafe { DRIVER.va_get_copy_counts(&mut counts) }.unwrap();
    counts
}

/// Allocates host memory of the driver.
fn host_memory(size: usize) -> *mut u8 {
    let mut memory = std::ptr::null_mut();
    // SAFETY: the pointer is that of a local variable.
    unsafe { DRIVER.va_host_alloc(size as u64, &mut memory) }.unwrap();
    memory.cast()
}

#[test]
fn copies_of_host_memory_are_direct_and_others_bounce() {
    let name = "memory::copies_of_host_memory_are_direct_and_others_bounce";
    passes_in_child(name, &[], || {
        // More than the driver's buffer, and not a multiple of it.
        const LEN: usize = 100_001;
        let device = OpenDevice::new(0);
        let bytes: Vec<u8> = (0..LEN).map(|it| (it % 251) as u8).collect();
        let array = device.upload(&bytes);
        assert_eq!(device.read::<u8>(array).unwrap(), bytes);
        let before = copy_counts();
        assert_eq!((before.direct, before.bounced), (0, 2));
        assert_eq!(before.bounced_bytes, 2 * LEN as u64);

        let host = host_memory(LEN + 1);
        // SAFETY: the host's memory has one byte more than the copy, which is inside of it. It is freed after the copies.
        unsafe {
            let inside = host.add(1).cast();
            DRIVER
                .va_copy_to_host(device.queue, inside, array.address, LEN as u64)
                .unwrap();
            device.synchronize().unwrap();
            assert_eq!(std::slice::from_raw_parts(host.add(1), LEN), bytes);
            host.add(1).write(7);
            DRIVER
                .va_copy_to_device(device.queue, array.address, inside, LEN as u64)
                .unwrap();
            device.synchronize().unwrap();
            DRIVER.va_host_free(host.cast()).unwrap();
        }
        let after = copy_counts();
        assert_eq!((after.direct, after.bounced), (2, 2));
        assert_eq!(after.direct_bytes, 2 * LEN as u64);
        let found = device.read::<u8>(array).unwrap();
        assert_eq!((found[0], &found[1..]), (7, &bytes[1..]));
    });
}

#[test]
fn host_memory_that_is_freed_under_a_copy_lives_until_the_copy_has_run() {
    let device = OpenDevice::new(0);
    let (array, host) = (device.allocate(4096), host_memory(4096));
    let (release, blocked) = std::sync::mpsc::channel::<()>();
    // SAFETY: the memory has as many bytes; the driver owns it until the copy has run.
    unsafe {
        host.write_bytes(9, 4096);
        device.host_function(move || blocked.recv().unwrap());
        DRIVER
            .va_copy_to_device(device.queue, array.address, host.cast(), 4096)
            .unwrap();
        DRIVER.va_host_free(host.cast()).unwrap();
    }
    release.send(()).unwrap();
    assert_eq!(device.read::<u8>(array).unwrap(), [9; 4096]);
}
