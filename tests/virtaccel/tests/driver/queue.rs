//! Queues.

use std::ffi::CStr;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use crate::bindings::*;
use crate::open_device::*;

#[test]
fn work_runs_in_order_with_random_delays() {
    let name = "queue::work_runs_in_order_with_random_delays";
    passes_in_child(name, &[("VIRTACCEL_JITTER", "300")], || {
        let device = OpenDevice::new(0);
        let order = Arc::new(Mutex::new(Vec::new()));
        let array = device.upload(&[0.0f32]);
        for step in 0..50 {
            let order = order.clone();
            device.host_function(move || order.lock().unwrap().push(step));
            let x = f32s(array, &[1]);
            device.launch("add", &[x, x, x]).unwrap();
        }
        device.synchronize().unwrap();
        assert_eq!(*order.lock().unwrap(), (0..50).collect::<Vec<_>>());
    });
}

#[test]
fn calls_return_before_their_work_runs() {
    let device = OpenDevice::new(0);
    let (release, blocked) = channel::<()>();
    device.host_function(move || blocked.recv().unwrap());
    let array = device.allocate(4);
    let x = f32s(array, &[1]);
    device.launch("relu", &[x, x]).unwrap();
    // SAFETY: any handle is allowed.
    let busy = unsafe { DRIVER.va_queue_query(device.queue) };
    assert_eq!(status(busy), va_status::VA_NOT_READY);
    release.send(()).unwrap();
    device.synchronize().unwrap();
    // SAFETY: as above.
    unsafe { DRIVER.va_queue_query(device.queue) }.unwrap();
}

/// Returns the sticky error and the operation's name, and clears it if `clear`.
fn error(device: &OpenDevice, clear: bool) -> (va_status, String) {
    let (mut error, mut name) = (va_status::VA_OK, [1; 16]);
    // SAFETY: the pointers are those of local variables.
    unsafe {
        DRIVER
            .va_queue_get_error(
                device.queue,
                clear.into(),
                &mut error,
                name.as_mut_ptr(),
                16,
            )
            .unwrap();
        (
            error,
            CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned(),
        )
    }
}

#[test]
fn error_of_queued_work_is_sticky_and_names_the_operation() {
    let device = OpenDevice::new(0);
    let array = device.upload(&[1.0f32, 2.0]);
    // The shapes do not match, which the kernel finds when it runs.
    device
        .launch("relu", &[f32s(array, &[2]), f32s(array, &[1])])
        .unwrap();
    assert_eq!(
        status(device.synchronize()),
        va_status::VA_ERROR_INVALID_VALUE
    );
    let x = f32s(array, &[2]);
    assert_eq!(
        status(device.launch("neg", &[x, x])),
        va_status::VA_ERROR_INVALID_VALUE
    );
    let (send, receive) = channel();
    device.host_function(move || send.send(()).unwrap());
    receive.recv().expect("host functions run after an error");
    assert_eq!(
        error(&device, true),
        (va_status::VA_ERROR_INVALID_VALUE, "relu".to_owned())
    );
    assert_eq!(error(&device, false), (va_status::VA_OK, String::new()));
    assert_eq!(
        device.read::<f32>(array).unwrap(),
        [1.0, 2.0],
        "`neg` did not run"
    );
}

#[test]
fn queues_of_one_device_run_at_the_same_time() {
    let (first, second) = (OpenDevice::new(0), OpenDevice::new(0));
    let (send, receive) = channel();
    first.host_function(move || receive.recv().unwrap());
    second.host_function(move || send.send(()).unwrap());
    first.synchronize().unwrap();
    second.synchronize().unwrap();
}

#[test]
fn destroy_waits_for_work_and_handle_is_stale_after_it() {
    let device = OpenDevice::new(0);
    let done = Arc::new(Mutex::new(false));
    let set = done.clone();
    device.host_function(move || {
        std::thread::sleep(std::time::Duration::from_millis(20));
        *set.lock().unwrap() = true;
    });
    // SAFETY: any handle is allowed.
    unsafe { DRIVER.va_queue_destroy(device.queue) }.unwrap();
    assert!(*done.lock().unwrap());
    assert_eq!(
        status(device.synchronize()),
        va_status::VA_ERROR_INVALID_HANDLE
    );
}

#[test]
fn waiting_in_host_function_is_rejected() {
    let device = OpenDevice::new(0);
    let (send, receive) = channel();
    let queue = device.queue;
    device.host_function(move || {
        // SAFETY: any handle is allowed.
        let waited = unsafe { DRIVER.va_queue_synchronize(queue) };
        send.send(status(waited)).unwrap();
    });
    assert_eq!(receive.recv().unwrap(), va_status::VA_ERROR_WRONG_THREAD);
}

#[test]
fn shutdown_calls_host_functions_and_stops_all_threads() {
    let name = "queue::shutdown_calls_host_functions_and_stops_all_threads";
    passes_in_child(name, &[("VIRTACCEL_HANG_LAUNCH", "1")], || {
        let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
        let before = threads();
        let device = OpenDevice::new(0);
        let array = device.upload(&[1.0f32]);
        let x = f32s(array, &[1]);
        device.launch("relu", &[x, x]).unwrap();
        let (send, receive) = channel();
        device.host_function(move || send.send(()).unwrap());
        // SAFETY: no arguments.
        unsafe { DRIVER.va_shutdown() }.unwrap();
        receive.recv().unwrap();
        // The kernel of a thread that was joined may still list it for a moment.
        let stopped = || threads() <= before;
        let mut tries = (0..200).map(|_| std::thread::sleep(std::time::Duration::from_millis(5)));
        assert!(
            tries.any(|()| stopped()),
            "{} threads, {before} before",
            threads()
        );
        assert_eq!(status(device.synchronize()), va_status::VA_ERROR_SHUT_DOWN);
    });
}
