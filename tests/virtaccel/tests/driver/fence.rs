//! Fences.

use std::sync::mpsc::channel;
use std::time::Duration;

use crate::bindings::*;
use crate::open_device::*;

fn fence(device: &OpenDevice) -> va_fence {
    let mut fence = va_fence::NULL;
    // SAFETY: the pointer is that of a local variable.
    unsafe { DRIVER.va_fence_create(device.device, &mut fence) }.unwrap();
    fence
}

#[test]
fn queue_waits_for_fence_of_another_device() {
    let (first, second) = (OpenDevice::new(0), OpenDevice::new(1));
    let (source, target) = (first.allocate(4), second.upload(&[0i32]));
    let fence = fence(&first);
    let (release, blocked) = channel::<()>();
    first.host_function(move || blocked.recv().unwrap());
    // SAFETY: the addresses are those of allocations, and the handles are open.
    unsafe {
        DRIVER
            .va_fill(first.queue, source.address, 7, 4, 4)
            .unwrap();
        DRIVER.va_fence_record(fence, first.queue).unwrap();
        DRIVER.va_fence_wait(second.queue, fence).unwrap();
        DRIVER
            .va_copy_peer(second.queue, target.address, source.address, 4)
            .unwrap();
        let pending = DRIVER.va_fence_query(fence);
        assert_eq!(status(pending), va_status::VA_NOT_READY);
        std::thread::sleep(Duration::from_millis(20));
        let waiting = DRIVER.va_queue_query(second.queue);
        assert_eq!(status(waiting), va_status::VA_NOT_READY);
        release.send(()).unwrap();
        DRIVER.va_fence_synchronize(fence).unwrap();
        DRIVER.va_fence_query(fence).unwrap();
    }
    assert_eq!(second.read::<i32>(target).unwrap(), [7]);
}

#[test]
fn wait_refers_to_the_last_record_before_it() {
    let (first, second) = (OpenDevice::new(0), OpenDevice::new(0));
    let fence = fence(&first);
    // SAFETY: the handles are open.
    unsafe {
        DRIVER.va_fence_record(fence, first.queue).unwrap();
        DRIVER.va_fence_wait(second.queue, fence).unwrap();
    }
    let (release, blocked) = channel::<()>();
    first.host_function(move || blocked.recv().unwrap());
    // SAFETY: the handles are open.
    unsafe { DRIVER.va_fence_record(fence, first.queue) }.unwrap();
    second
        .synchronize()
        .expect("the second record is not waited for");
    release.send(()).unwrap();
}

#[test]
fn fence_without_record_is_complete() {
    let device = OpenDevice::new(0);
    let fence = fence(&device);
    // SAFETY: the handles are open.
    unsafe {
        DRIVER.va_fence_query(fence).unwrap();
        DRIVER.va_fence_wait(device.queue, fence).unwrap();
        DRIVER.va_fence_destroy(fence).unwrap();
    }
    device.synchronize().unwrap();
}

#[test]
fn elapsed_time_is_that_of_the_work_between() {
    let device = OpenDevice::new(0);
    let (start, end) = (fence(&device), fence(&device));
    let mut elapsed = 0;
    // SAFETY: the handles are open, and the pointer is that of a local variable.
    unsafe {
        let early = DRIVER.va_fence_elapsed(start, end, &mut elapsed);
        assert_eq!(status(early), va_status::VA_ERROR_INVALID_VALUE);
        DRIVER.va_fence_record(start, device.queue).unwrap();
        device.host_function(|| std::thread::sleep(Duration::from_millis(10)));
        DRIVER.va_fence_record(end, device.queue).unwrap();
        device.synchronize().unwrap();
        DRIVER.va_fence_elapsed(start, end, &mut elapsed).unwrap();
    }
    assert!(elapsed >= 10_000_000, "{elapsed}");
}

#[test]
fn time_of_fence_is_on_clock_of_device() {
    let device = OpenDevice::new(0);
    let fence = fence(&device);
    let [mut before, mut time, mut after] = [0; 3];
    // SAFETY: the handles are open, and the pointers are those of local variables.
    unsafe {
        let early = DRIVER.va_fence_time(fence, &mut time);
        assert_eq!(status(early), va_status::VA_ERROR_INVALID_VALUE);
        DRIVER.va_device_clock(device.device, &mut before).unwrap();
        DRIVER.va_fence_record(fence, device.queue).unwrap();
        device.synchronize().unwrap();
        DRIVER.va_device_clock(device.device, &mut after).unwrap();
        DRIVER.va_fence_time(fence, &mut time).unwrap();
    }
    assert!((before..=after).contains(&time), "{before} {time} {after}");
}

#[test]
fn fence_completes_after_an_error() {
    let device = OpenDevice::new(0);
    let array = device.allocate(8);
    device
        .launch("relu", &[f32s(array, &[2]), f32s(array, &[1])])
        .unwrap();
    let fence = fence(&device);
    // SAFETY: the handles are open.
    unsafe {
        DRIVER.va_fence_record(fence, device.queue).unwrap();
        DRIVER.va_fence_synchronize(fence).unwrap();
    }
    assert_eq!(
        status(device.synchronize()),
        va_status::VA_ERROR_INVALID_VALUE
    );
}

#[test]
fn queue_that_waits_for_a_failed_one_gets_its_error() {
    let (first, second) = (OpenDevice::new(0), OpenDevice::new(1));
    let (array, target) = (first.allocate(8), second.upload(&[1i32]));
    let x = f32s(array, &[2]);
    first.launch("relu", &[x, f32s(array, &[1])]).unwrap();
    let fence = fence(&first);
    // SAFETY: the handles are open.
    unsafe {
        DRIVER.va_fence_record(fence, first.queue).unwrap();
        DRIVER.va_fence_wait(second.queue, fence).unwrap();
        let waited = DRIVER.va_queue_synchronize(second.queue);
        assert_eq!(status(waited), va_status::VA_ERROR_INVALID_VALUE);
    }
    let read = second.read::<i32>(target);
    let status = read.unwrap_err().status();
    assert_eq!(status, Some(va_status::VA_ERROR_INVALID_VALUE));
}
