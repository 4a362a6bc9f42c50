//! The safe methods that `sp-gen new --driver --driver-contract` writes: ownership, and host memory of queued copies.

use std::env;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use crate::bindings::safe::{Driver, va_device, va_queue};
use crate::bindings::{
    Error, FUNCTIONS, LIBRARY_VARIABLE, va_argument, va_argument__value, va_argument_kind,
    va_queue_options, va_status, va_tensor, va_type,
};

static SAFE: LazyLock<Driver> = LazyLock::new(|| {
    let test = env::current_exe().expect("the test's path");
    let library = test.with_file_name("libvirtaccel.so");
    // SAFETY: this is the first use of the variable, and the other tests of this program read no environment.
    unsafe { env::set_var(LIBRARY_VARIABLE, library) };
    Driver::get(FUNCTIONS).expect("the library")
});

fn queue(ordinal: u32) -> (va_device, va_queue) {
    let device = SAFE.va_device_open(ordinal).unwrap();
    let queue = device.va_queue_create(None).unwrap();
    (device, queue)
}

/// Bytes that set a flag when they are dropped.
struct Watched(Vec<u8>, Arc<AtomicBool>);

impl AsRef<[u8]> for Watched {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.1.store(true, Ordering::SeqCst);
    }
}

#[test]
fn source_of_a_copy_lives_until_the_copy_is_complete() {
    let (device, queue) = queue(0);
    let memory = device.va_alloc(4).unwrap();
    let (release, blocked) = channel::<()>();
    let wait = move || blocked.recv().unwrap();
    queue.va_launch_host_function(wait).unwrap();
    let is_dropped = Arc::new(AtomicBool::new(false));
    let source = Watched(vec![1, 2, 3, 4], is_dropped.clone());
    queue.va_copy_to_device(memory.address(), source).unwrap();
    assert!(!is_dropped.load(Ordering::SeqCst));
    release.send(()).unwrap();
    let (send, bytes) = channel();
    let deliver = move |bytes| send.send(bytes).unwrap();
    queue.va_copy_to_host(deliver, memory.address(), 4).unwrap();
    assert_eq!(bytes.recv().unwrap(), [1, 2, 3, 4]);
    queue.va_queue_synchronize().unwrap();
    assert!(is_dropped.load(Ordering::SeqCst));
}

#[test]
fn memory_is_freed_when_its_last_clone_is_dropped() {
    let device = SAFE.va_device_open(1).unwrap();
    let memory = device.va_alloc(4096).unwrap();
    let (address, clone) = (memory.address(), memory.clone());
    drop(memory);
    let (other, queue) = queue(1);
    queue.va_fill(address, 7, 1, 4096).unwrap();
    drop((device, other));
    queue.va_queue_synchronize().unwrap();
    drop(clone);
    let error = queue.va_fill(address, 7, 1, 4096).unwrap_err();
    assert_eq!(error.status(), Some(va_status::VA_ERROR_INVALID_ADDRESS));
}

#[test]
fn queue_keeps_its_device_open() {
    let (device, queue) = queue(0);
    drop(device);
    let fence = queue.va_device().va_fence_create().unwrap();
    fence.va_fence_record(&queue).unwrap();
    fence.va_fence_synchronize().unwrap();
    assert!(fence.va_fence_query().unwrap());
}

#[test]
fn pending_fence_is_false_and_not_an_error() {
    let (device, queue) = queue(0);
    let (release, blocked) = channel::<()>();
    let wait = move || blocked.recv().unwrap();
    queue.va_launch_host_function(wait).unwrap();
    let fence = device.va_fence_create().unwrap();
    fence.va_fence_record(&queue).unwrap();
    assert_eq!(fence.va_fence_query(), Ok(false));
    release.send(()).unwrap();
    fence.va_fence_synchronize().unwrap();
    assert_eq!(fence.va_fence_query(), Ok(true));
}

#[test]
fn failed_copy_frees_its_bytes_and_calls_no_function() {
    let (_, queue) = queue(0);
    let is_dropped = Arc::new(AtomicBool::new(false));
    let source = Watched(vec![0; 8], is_dropped.clone());
    let error = queue.va_copy_to_device(64, source).unwrap_err();
    assert_eq!(error.status(), Some(va_status::VA_ERROR_INVALID_ADDRESS));
    let called = Arc::new(AtomicBool::new(false));
    let flag = called.clone();
    let deliver = move |_| flag.store(true, Ordering::SeqCst);
    queue.va_copy_to_host(deliver, 64, 8).unwrap_err();
    queue.va_queue_synchronize().unwrap();
    assert!(is_dropped.load(Ordering::SeqCst));
    assert!(!called.load(Ordering::SeqCst));
}

/// The payload of a panic, which panics when it is dropped.
struct Explosive;

impl Drop for Explosive {
    fn drop(&mut self) {
        panic!("the payload of a panic is dropped");
    }
}

#[test]
fn panic_of_a_host_function_with_a_payload_that_panics_is_no_abort() {
    let (_, queue) = queue(0);
    let panics = || std::panic::panic_any(Explosive);
    queue.va_launch_host_function(panics).unwrap();
    let (send, ran) = channel();
    let next = move || send.send(()).unwrap();
    queue.va_launch_host_function(next).unwrap();
    queue.va_queue_synchronize().unwrap();
    ran.recv().unwrap();
}

#[test]
fn fence_that_is_dropped_under_a_queued_wait_is_waited_for() {
    let ((device, first), (_, second)) = (queue(0), queue(1));
    let (release, blocked) = channel::<()>();
    let wait = move || blocked.recv().unwrap();
    first.va_launch_host_function(wait).unwrap();
    let fence = device.va_fence_create().unwrap();
    fence.va_fence_record(&first).unwrap();
    second.va_fence_wait(&fence).unwrap();
    drop(fence);
    let has_run = Arc::new(AtomicBool::new(false));
    let flag = has_run.clone();
    let next = move || flag.store(true, Ordering::SeqCst);
    second.va_launch_host_function(next).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    assert!(!has_run.load(Ordering::SeqCst));
    release.send(()).unwrap();
    second.va_queue_synchronize().unwrap();
    assert!(has_run.load(Ordering::SeqCst));
}

#[test]
fn memory_that_is_dropped_under_a_queued_copy_is_an_address_fault() {
    let (device, queue) = queue(0);
    let memory = device.va_alloc(4).unwrap();
    let (release, blocked) = channel::<()>();
    let wait = move || blocked.recv().unwrap();
    queue.va_launch_host_function(wait).unwrap();
    queue
        .va_copy_to_device(memory.address(), [1, 2, 3, 4])
        .unwrap();
    drop(memory);
    release.send(()).unwrap();
    let error = queue.va_queue_synchronize().unwrap_err();
    assert_eq!(error.status(), Some(va_status::VA_ERROR_ADDRESS_FAULT));
}

#[test]
fn copy_of_more_bytes_than_the_host_has_is_an_error() {
    let (device, queue) = queue(0);
    let memory = device.va_alloc(4).unwrap();
    let copied = queue.va_copy_to_host(drop, memory.address(), usize::MAX);
    let function = "va_copy_to_host";
    assert!(matches!(copied, Err(Error::Invalid { function: found, .. }) if found == function));
}

#[test]
fn struct_size_is_set_for_the_caller() {
    let device = SAFE.va_device_open(1).unwrap();
    let info = device.va_device_get_info().unwrap();
    assert_eq!(info.ordinal, 1);
    let options = va_queue_options {
        struct_size: usize::MAX,
        priority: 3,
        flags: 0,
    };
    device.va_queue_create(Some(options)).unwrap();
}

#[test]
fn sticky_error_has_the_name_of_the_kernel() {
    let (device, queue) = queue(0);
    let memory = device.va_alloc(8).unwrap();
    let tensor = |len| {
        let mut tensor = va_tensor {
            address: memory.address() as *mut _,
            rank: 1,
            r#type: va_type::VA_F32,
            ..Default::default()
        };
        tensor.dims[0] = len;
        let (kind, value) = (va_argument_kind::VA_TENSOR, va_argument__value { tensor });
        va_argument { kind, value }
    };
    queue.va_launch(c"relu", &[tensor(2), tensor(1)]).unwrap();
    queue.va_queue_synchronize().unwrap_err();
    let (status, operation) = queue.va_queue_get_error(0).unwrap();
    assert_eq!(
        (status, operation.as_str()),
        (va_status::VA_ERROR_INVALID_VALUE, "relu")
    );
    let text = SAFE.va_error_string(status).unwrap();
    assert_eq!(text, Some(c"invalid value"));
}
