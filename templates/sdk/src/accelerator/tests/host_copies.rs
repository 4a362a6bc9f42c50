//! Copies between the host and the device that fail, or whose callback comes early.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use sp_abi::stream_executor::StreamExecutor;
use sp_abi::tf_status::TF_Status;
use sp_runtime::Prefix;

use super::{
    allocate, copy, deallocate, device, device_with_stream, fill, read, recorder, region_of, write,
};
use crate::Error;
use crate::accelerator::{Fence, HostSource, HostTarget, Queue};

#[test]
fn callback_that_a_queue_rejects_runs_after_earlier_work() {
    static BYTE_AT_CALL: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C-unwind" fn read_byte(argument: *mut c_void, _: *mut TF_Status) {
        // SAFETY: the argument is the test's array, which no work uses any more.
        let byte = unsafe { argument.cast::<u8>().read() };
        BYTE_AT_CALL.store(byte.into(), Ordering::SeqCst);
    }
    for panics in [false, true] {
        let (device, control, stream) = device_with_stream();
        let memory = allocate(&device, 4);
        let region = region_of(&device, &memory);
        write(&device, &memory, &[9; 4]).unwrap();
        match panics {
            false => control.reject_host_functions(),
            true => control.panic_in_next(recorder::Method::HostFunction),
        }
        control.set_delay(Duration::from_millis(20));
        let mut bytes = [0_u8; 4];
        let start = bytes.as_mut_ptr();
        // SAFETY: the array is live until the callback below.
        let target = unsafe { HostTarget::new(start, 4) };
        let copy = |queue: &recorder::Worker| queue.copy_out(target, &region);
        stream.0.enqueue_copy(copy).unwrap();
        // SAFETY: the function takes the address of a byte.
        unsafe { device.host_callback(&stream, Some(read_byte), start.cast()) };
        assert_eq!(BYTE_AT_CALL.swap(0, Ordering::SeqCst), 9);
    }
}

#[test]
fn failed_copy_to_host_ends_before_its_target_is_returned() {
    let (device, control, stream) = device_with_stream();
    let memory = allocate(&device, 8);
    write(&device, &memory, &[3; 8]).unwrap();
    control.set_delay(Duration::from_millis(20));
    control.reject_next_fence();
    let mut bytes = [0_u8; 8];
    let (start, source) = (bytes.as_mut_ptr(), Prefix::from_ref(&memory));
    // SAFETY: the array outlives the wait below.
    let copied = unsafe { device.memcpy_dtoh(&stream, start.cast(), source, 8) };
    assert!(copied.is_err());
    thread::sleep(Duration::from_millis(100));
    assert_eq!(bytes, [u8::MAX; 8]);
}

#[test]
fn staged_copy_to_host_that_fails_never_writes_to_its_target() {
    let (device, control, stream) = device_with_stream();
    let memory = allocate(&device, 8);
    write(&device, &memory, &[3; 8]).unwrap();
    control.set_delay(Duration::from_millis(20));
    control.reject_next_fence();
    let mut bytes = [0_u8; 8];
    // SAFETY: the array outlives the wait below.
    let target = unsafe { HostTarget::new(bytes.as_mut_ptr(), 8) };
    let source = memory.opaque.addr();
    assert!(device.0.copy_out_staged(&stream.0, target, source).is_err());
    thread::sleep(Duration::from_millis(100));
    assert_eq!(bytes, [0; 8]);
}

#[test]
fn staged_copy_from_host_that_fails_never_reads_its_source() {
    let (device, control) = device();
    let memory = allocate(&device, 8);
    control.set_delay(Duration::from_millis(20));
    control.reject_next_fence();
    let mut bytes = [3_u8; 8];
    // SAFETY: the array is live, and is not written during the call, after which the source is not read.
    let source = unsafe { HostSource::new(bytes.as_ptr(), 8) };
    assert!(
        device
            .0
            .copy_in_staged(memory.opaque.addr(), source)
            .is_err()
    );
    bytes.fill(9);
    device.0.transfers().unwrap().drain();
    let stream = device.create_stream().unwrap();
    let (start, source) = (bytes.as_mut_ptr(), Prefix::from_ref(&memory));
    // SAFETY: the array is live, and the copy completes during the call.
    unsafe {
        device
            .memcpy_dtoh(&stream, start.cast(), source, 8)
            .unwrap()
    };
    assert_eq!(bytes, [3; 8]);
}

#[test]
fn copy_to_host_takes_bytes_of_a_queue_that_has_no_pointer() {
    let (device, control) = device();
    let memory = allocate(&device, 8);
    write(&device, &memory, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    control.set_delivery(recorder::Delivery::ByWriter);
    control.set_delay(Duration::from_millis(5));
    assert_eq!(read(&device, &memory).unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
    let stream = device.create_stream().unwrap();
    let mut bytes = [0_u8; 8];
    let (start, source) = (bytes.as_mut_ptr(), Prefix::from_ref(&memory));
    // SAFETY: the array is live, and the copy completes during the call.
    unsafe { device.memcpy_dtoh(&stream, start.cast(), source, 8) }.unwrap();
    assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn copy_between_devices_takes_bytes_of_a_queue_that_has_no_pointer() {
    let ((first, control), (second, _)) = (device(), device());
    let (source, target) = (allocate(&first, 4), allocate(&second, 4));
    write(&first, &source, &[9; 4]).unwrap();
    control.set_delivery(recorder::Delivery::ByWriter);
    let stream = first.create_stream().unwrap();
    copy(&first, &stream, &target, &source).unwrap();
    assert_eq!(read(&second, &target).unwrap(), [9; 4]);
}

#[test]
fn queue_that_reports_a_copy_before_its_bytes_is_an_error() {
    let (device, control) = device();
    let memory = allocate(&device, 4);
    write(&device, &memory, &[3; 4]).unwrap();
    control.set_delivery(recorder::Delivery::Lost);
    let stream = device.create_stream().unwrap();
    let mut bytes = [0_u8; 4];
    let (start, source) = (bytes.as_mut_ptr(), Prefix::from_ref(&memory));
    // SAFETY: the array is live, and the copy completes during the call.
    let copied = unsafe { device.memcpy_dtoh(&stream, start.cast(), source, 4) };
    assert!(
        copied
            .unwrap_err()
            .to_string()
            .contains("without its bytes")
    );
    assert_eq!(bytes, [u8::MAX; 4]);
}

#[test]
fn copy_from_host_with_a_time_limit_never_reads_its_source_later() {
    let (device, control, stream) = device_with_stream();
    let memory = allocate(&device, 4);
    control.pause();
    let mut bytes = [3_u8; 4];
    // SAFETY: the array is live, and is not written during the call, after which the source is not read.
    let source = unsafe { HostSource::new(bytes.as_ptr(), 4) };
    let target = memory.opaque.addr();
    device
        .0
        .copy_in_from_copy(&stream.0, target, source)
        .unwrap();
    bytes.fill(9);
    control.resume();
    device.block_host_until_done(&stream).unwrap();
    assert_eq!(read(&device, &memory).unwrap(), [3; 4]);
}

#[test]
fn failed_copy_from_host_ends_before_its_source_is_returned() {
    let (device, control, stream) = device_with_stream();
    let memory = allocate(&device, 8);
    control.set_delay(Duration::from_millis(20));
    control.reject_next_fence();
    let mut bytes = [3_u8; 8];
    let (start, target) = (bytes.as_ptr(), Prefix::from_ref(&memory));
    // SAFETY: the array outlives the read below, and is not written during the call, after which it is not read.
    let copied = unsafe { device.memcpy_htod(&stream, target, start.cast(), 8) };
    assert!(copied.is_err());
    bytes.fill(9);
    thread::sleep(Duration::from_millis(100));
    assert_eq!(read(&device, &memory).unwrap(), [3; 8]);
}

#[test]
fn event_that_cannot_be_recorded_is_complete_after_earlier_copies() {
    let (device, control, stream) = device_with_stream();
    let memory = allocate(&device, 8);
    let event = device.create_event().unwrap();
    control.set_delay(Duration::from_millis(20));
    let mut bytes = [3_u8; 8];
    let (start, target) = (bytes.as_ptr(), Prefix::from_ref(&memory));
    // SAFETY: the array outlives the read below, and is not written until the event is complete.
    unsafe { device.memcpy_htod(&stream, target, start.cast(), 8) }.unwrap();
    control.reject_next_fence();
    assert!(device.record_event(&stream, &event).is_err());
    device.block_host_for_event(&event).unwrap();
    bytes.fill(9);
    thread::sleep(Duration::from_millis(100));
    assert_eq!(read(&device, &memory).unwrap(), [3; 8]);
}

#[test]
fn waits_for_a_failed_stream_return_after_its_copies() {
    let (device, control) = device();
    let memory = allocate(&device, 8);
    let event = device.create_event().unwrap();
    for waits_for_event in [false, true] {
        let stream = device.create_stream().unwrap();
        control.set_delay(Duration::from_millis(20));
        let mut bytes = [3_u8; 8];
        let (start, target) = (bytes.as_ptr(), Prefix::from_ref(&memory));
        // SAFETY: the array outlives the read below, and is not written until the wait has returned.
        unsafe { device.memcpy_htod(&stream, target, start.cast(), 8) }.unwrap();
        device.record_event(&stream, &event).unwrap();
        stream.0.fail_as(Error::internal("a later command"));
        let waited = match waits_for_event {
            false => device.block_host_until_done(&stream),
            true => device.block_host_for_event(&event),
        };
        assert!(waited.is_err());
        bytes.fill(9);
        thread::sleep(Duration::from_millis(100));
        assert_eq!(read(&device, &memory).unwrap(), [3; 8]);
        write(&device, &memory, &[0; 8]).unwrap();
    }
}

#[test]
fn target_of_a_pending_copy_is_not_written_when_the_process_exits() {
    let (device, control, stream) = device_with_stream();
    let memory = allocate(&device, 8);
    let shared = device.0.clone();
    control.pause();
    control.reject_next_fence_after(move || shared.exit());
    let mut bytes = [0_u8; 8];
    let (start, source) = (bytes.as_mut_ptr(), Prefix::from_ref(&memory));
    // SAFETY: the array outlives the stream.
    let copied = unsafe { device.memcpy_dtoh(&stream, start.cast(), source, 8) };
    let written = bytes;
    control.resume();
    drop(stream);
    assert!(copied.is_err());
    assert_eq!(written, [0; 8]);
}

#[test]
fn freed_memory_that_a_queue_may_use_outlives_the_device() {
    let (device, control, stream) = device_with_stream();
    let memory = allocate(&device, 16);
    control.reject_host_functions();
    fill(&device, &stream, &memory, 1).unwrap();
    deallocate(&device, memory);
    drop(device);
    assert_eq!(control.live(), 1);
    drop(stream);
}

#[test]
fn device_waits_for_its_queues_before_it_frees_memory() {
    let (device, control, stream) = device_with_stream();
    let memory = allocate(&device, 16);
    control.set_delay(Duration::from_millis(20));
    fill(&device, &stream, &memory, 1).unwrap();
    let fence = stream.0.enqueue(Queue::record).unwrap();
    deallocate(&device, memory);
    drop(device);
    // A copy of another test looks at all devices, and may drop this one.
    while control.live() > 0 {
        thread::yield_now();
    }
    assert_eq!(fence.is_complete(), Ok(true));
}

#[test]
fn copy_from_host_follows_the_commands_of_other_streams() {
    let (device, control) = device();
    let (memory, result) = (allocate(&device, 8), allocate(&device, 8));
    write(&device, &memory, &[3; 8]).unwrap();
    let [compute, copies] = [(); 2].map(|()| device.create_stream().unwrap());
    control.set_delay(Duration::from_millis(20));
    let (read_memory, write_memory) = (Prefix::from_ref(&memory), Prefix::from_ref(&memory));
    let bytes = [9_u8; 8];
    // SAFETY: the regions and the array are live until both streams are done.
    unsafe {
        device
            .mem_zero(&compute, Prefix::from_ref(&result), 8)
            .unwrap();
        device
            .memcpy_dtod(&compute, Prefix::from_ref(&result), read_memory, 8)
            .unwrap();
        // TensorFlow has freed the memory by now, and allocates it again.
        device
            .memcpy_htod(&copies, write_memory, bytes.as_ptr().cast(), 8)
            .unwrap();
    }
    device.synchronize_all_activity().unwrap();
    assert_eq!(read(&device, &result).unwrap(), [3; 8]);
    assert_eq!(read(&device, &memory).unwrap(), [9; 8]);
}
