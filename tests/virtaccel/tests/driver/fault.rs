//! Planned failures.

use std::time::{Duration, Instant};

use crate::bindings::*;
use crate::open_device::*;

fn inject(fault: va_fault, n: u64) {
    // SAFETY: any numbers are allowed.
    unsafe { DRIVER.va_inject(fault, n) }.unwrap();
}

#[test]
fn third_allocation_fails_and_the_fourth_does_not() {
    let name = "fault::third_allocation_fails_and_the_fourth_does_not";
    passes_in_child(name, &[("VIRTACCEL_FAIL_ALLOC", "3")], || {
        let device = OpenDevice::new(0);
        let results: Vec<_> = (0..4).map(|_| status(device.try_allocate(64))).collect();
        let mut expected = [va_status::VA_OK; 4];
        expected[2] = va_status::VA_ERROR_OUT_OF_MEMORY;
        assert_eq!(results, expected);
    });
}

#[test]
fn planned_launch_fails_when_it_runs() {
    let name = "fault::planned_launch_fails_when_it_runs";
    passes_in_child(name, &[], || {
        let device = OpenDevice::new(0);
        let array = device.upload(&[-1.0f32]);
        let x = f32s(array, &[1]);
        inject(va_fault::VA_FAULT_LAUNCH, 2);
        device.launch("relu", &[x, x]).unwrap();
        device.launch("relu", &[x, x]).unwrap();
        assert_eq!(
            status(device.synchronize()),
            va_status::VA_ERROR_LAUNCH_FAILED
        );
        let other = OpenDevice::new(0);
        assert_eq!(
            other.read::<f32>(array).unwrap(),
            [0.0],
            "other queues continue"
        );
    });
}

#[test]
fn hanging_launch_ends_when_the_queue_is_cancelled() {
    let name = "fault::hanging_launch_ends_when_the_queue_is_cancelled";
    passes_in_child(name, &[], || {
        let device = OpenDevice::new(0);
        let array = device.upload(&[1.0f32]);
        let x = f32s(array, &[1]);
        inject(va_fault::VA_FAULT_HANG, 1);
        device.launch("relu", &[x, x]).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        // SAFETY: any handle is allowed.
        unsafe {
            let running = DRIVER.va_queue_query(device.queue);
            assert_eq!(status(running), va_status::VA_NOT_READY);
            DRIVER.va_queue_cancel(device.queue).unwrap();
        }
        assert_eq!(status(device.synchronize()), va_status::VA_ERROR_CANCELLED);
    });
}

#[test]
fn destroying_a_queue_ends_its_hanging_launch() {
    let name = "fault::destroying_a_queue_ends_its_hanging_launch";
    passes_in_child(name, &[("VIRTACCEL_HANG_LAUNCH", "1")], || {
        let device = OpenDevice::new(0);
        let array = device.allocate(4);
        let x = f32s(array, &[1]);
        device.launch("relu", &[x, x]).unwrap();
        // SAFETY: any handle is allowed.
        unsafe { DRIVER.va_queue_destroy(device.queue) }.unwrap();
    });
}

#[test]
fn slow_copies_take_the_planned_time() {
    let name = "fault::slow_copies_take_the_planned_time";
    passes_in_child(name, &[("VIRTACCEL_SLOW_COPY", "30000")], || {
        let device = OpenDevice::new(0);
        let start = Instant::now();
        device.upload(&[1.0f32]);
        assert!(start.elapsed() >= Duration::from_millis(30));
    });
}

#[test]
fn machine_without_device_counts_zero() {
    let name = "fault::machine_without_device_counts_zero";
    passes_in_child(name, &[("VIRTACCEL_DEVICES", "0")], || {
        let (mut count, mut device) = (7, va_device::NULL);
        // SAFETY: the pointers are those of local variables.
        unsafe {
            DRIVER.va_device_count(&mut count).unwrap();
            let opened = DRIVER.va_device_open(0, &mut device);
            assert_eq!(status(opened), va_status::VA_ERROR_NO_DEVICE);
        }
        assert_eq!((count, device), (0, va_device::NULL));
    });
}

#[test]
fn older_driver_reports_its_version_and_lacks_later_functions() {
    let name = "fault::older_driver_reports_its_version_and_lacks_later_functions";
    passes_in_child(name, &[("VIRTACCEL_VERSION", "1.0")], || {
        let device = OpenDevice::new(0);
        let mut version = 0;
        // SAFETY: the pointer is that of a local variable.
        unsafe { DRIVER.va_driver_version(&mut version) }.unwrap();
        assert_eq!(version, 0x1_0000);
        // SAFETY: any handle is allowed.
        let cancelled = unsafe { DRIVER.va_queue_cancel(device.queue) };
        assert_eq!(status(cancelled), va_status::VA_ERROR_NOT_SUPPORTED);
    });
}

#[test]
fn missing_library_and_missing_function_are_named() {
    // SAFETY: there is no such library.
    let error = unsafe { Driver::load_from("libno_such_driver.so") };
    let error = error.err().unwrap();
    let message = error.to_string();
    assert!(message.contains("libno_such_driver.so"), "{message}");
    // SAFETY: the C library is loaded already, and has none of the functions.
    let other = unsafe { Driver::load_from("libc.so.6") }.unwrap();
    assert_eq!(other.missing().len(), FUNCTIONS.len());
    let message = other.require(&["va_launch", "va_alloc"]).unwrap_err();
    let message = message.to_string();
    assert!(
        message.contains("va_alloc and 1 more functions"),
        "{message}"
    );
    let mut count = 0;
    // SAFETY: the pointer is that of a local variable.
    let called = unsafe { other.va_device_count(&mut count) };
    let expected = Error::Missing {
        function: "va_device_count",
    };
    assert_eq!(called, Err(expected));
}
