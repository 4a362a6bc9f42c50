//! The layer over an accelerator that computes nothing: its memory has handles without addresses, its queues have
//! threads with delays, and it fails at a chosen command.

mod behind;
mod host_copies;
mod panics;
mod recorder;
mod slots;
mod staged;

use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use sp_abi::stream_executor::{SE_EventStatus, SP_AllocatorStats, SP_DeviceMemoryBase};
use sp_abi::stream_executor::{StreamExecutor, TimerFns};
use sp_abi::tf_status::TF_Status;
use sp_runtime::{Prefix, PrefixMut, Versioned};

use self::recorder::{Control, Recorder};
use super::{AcceleratorDevice, Queue, Region};
use crate::Code;

type TestDevice = AcceleratorDevice<Recorder>;
type TestStream = super::Stream<Recorder>;

fn device() -> (TestDevice, Control) {
    let accelerator = Recorder::default();
    let control = accelerator.control();
    (AcceleratorDevice::new(accelerator), control)
}

fn device_with_stream() -> (TestDevice, Control, TestStream) {
    let (device, control) = device();
    let stream = device.create_stream().unwrap();
    (device, control, stream)
}

fn base(opaque: *mut c_void, size: u64) -> SP_DeviceMemoryBase {
    SP_DeviceMemoryBase {
        struct_size: SP_DeviceMemoryBase::STRUCT_SIZE,
        ext: ptr::null_mut(),
        opaque,
        size,
        payload: 0,
    }
}

fn allocate(device: &TestDevice, size: u64) -> SP_DeviceMemoryBase {
    let mut memory = base(ptr::null_mut(), 0);
    // SAFETY: the struct is live.
    unsafe { device.allocate(size, 0, PrefixMut::from_mut(&mut memory)) };
    memory
}

fn deallocate(device: &TestDevice, mut memory: SP_DeviceMemoryBase) {
    // SAFETY: the struct is live, and the memory is freed once.
    unsafe { device.deallocate(PrefixMut::from_mut(&mut memory)) };
    assert!(memory.opaque.is_null());
}

/// Returns a part of device memory, as TensorFlow's allocator makes it.
fn part(memory: &SP_DeviceMemoryBase, offset: usize, size: u64) -> SP_DeviceMemoryBase {
    base(memory.opaque.wrapping_byte_add(offset), size)
}

fn write(device: &TestDevice, target: &SP_DeviceMemoryBase, bytes: &[u8]) -> crate::Result<()> {
    let (target, len) = (Prefix::from_ref(target), bytes.len() as u64);
    // SAFETY: the slice is live during the call.
    unsafe { device.sync_memcpy_htod(target, bytes.as_ptr().cast(), len) }
}

fn read(device: &TestDevice, source: &SP_DeviceMemoryBase) -> crate::Result<Vec<u8>> {
    let mut bytes = vec![0_u8; source.size as usize];
    let start = bytes.as_mut_ptr().cast();
    // SAFETY: the vector is live during the call.
    unsafe { device.sync_memcpy_dtoh(start, Prefix::from_ref(source), source.size)? };
    Ok(bytes)
}

/// Fills an allocation.
fn fill(
    device: &TestDevice,
    stream: &TestStream,
    memory: &SP_DeviceMemoryBase,
    pattern: u8,
) -> crate::Result<()> {
    let location = Prefix::from_ref(memory);
    // SAFETY: the layer has allocated the memory, and keeps it until the work is done.
    unsafe { device.memset(stream, location, pattern, memory.size) }
}

/// Copies an allocation to another one of the same size.
fn copy(
    device: &TestDevice,
    stream: &TestStream,
    target: &SP_DeviceMemoryBase,
    source: &SP_DeviceMemoryBase,
) -> crate::Result<()> {
    let (to, from) = (Prefix::from_ref(target), Prefix::from_ref(source));
    // SAFETY: the layer has allocated both regions, and keeps them until the work is done.
    unsafe { device.memcpy_dtod(stream, to, from, source.size) }
}

/// Returns the region of an allocation, for a kernel.
fn region_of(device: &TestDevice, memory: &SP_DeviceMemoryBase) -> Region<Recorder> {
    // SAFETY: the test has allocated the memory, and no kernel uses it.
    unsafe { device.region(memory.opaque.addr(), memory.size as usize) }.unwrap()
}

#[test]
fn interior_addresses_resolve_and_others_are_errors() {
    let (device, _) = device();
    let memory = allocate(&device, 1000);
    write(&device, &part(&memory, 100, 3), b"abc").unwrap();
    assert_eq!(read(&device, &part(&memory, 99, 5)).unwrap(), b"\0abc\0");
    let message =
        |memory: &SP_DeviceMemoryBase| read(&device, memory).unwrap_err().message().to_owned();
    let beyond = message(&part(&memory, 999, 2));
    assert!(
        beyond.contains("2 bytes at offset 999 of an allocation of 1000 bytes"),
        "{beyond}"
    );
    assert!(
        message(&base(0x10 as *mut c_void, 1))
            .contains("0x10: not in an allocation of this device")
    );
    let stale = part(&memory, 0, 1000);
    deallocate(&device, memory);
    assert!(message(&stale).contains("of 1000 bytes that was freed"));
    assert!(allocate(&device, 0).opaque.is_null());
}

#[test]
fn fill_without_own_method_copies_pattern() {
    let (device, _, stream) = device_with_stream();
    let memory = allocate(&device, 3 << 20);
    let location = Prefix::from_ref(&memory);
    // SAFETY: the region is live.
    unsafe {
        device
            .memset32(&stream, location, 0x0403_0201, memory.size)
            .unwrap()
    };
    device.block_host_until_done(&stream).unwrap();
    let bytes = read(&device, &memory).unwrap();
    assert!(bytes.chunks(4).all(|it| it == [1, 2, 3, 4]));
    // SAFETY: as above.
    let odd = unsafe { device.memset32(&stream, Prefix::from_ref(&memory), 1, 6) };
    assert_eq!(odd.unwrap_err().code(), Code::INVALID_ARGUMENT);
    // SAFETY: as above.
    unsafe {
        device
            .mem_zero(&stream, Prefix::from_ref(&memory), 8)
            .unwrap()
    };
    device.synchronize_all_activity().unwrap();
    assert_eq!(
        read(&device, &part(&memory, 0, 12)).unwrap(),
        [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]
    );
}

#[test]
fn statistics_count_peak_and_frees() {
    let (device, _) = device();
    let blocks = [100, 50].map(|size| allocate(&device, size));
    blocks.into_iter().for_each(|it| deallocate(&device, it));
    let mut stats = SP_AllocatorStats {
        struct_size: SP_AllocatorStats::STRUCT_SIZE,
        ..zeroed_stats()
    };
    assert_eq!(
        device.get_allocator_stats(PrefixMut::from_mut(&mut stats)),
        1
    );
    assert_eq!(
        (
            stats.num_allocs,
            stats.bytes_in_use,
            stats.peak_bytes_in_use
        ),
        (2, 0, 150)
    );
    assert_eq!(
        (stats.largest_alloc_size, stats.bytes_limit),
        (100, 1 << 30)
    );
}

fn zeroed_stats() -> SP_AllocatorStats {
    // SAFETY: a struct of integers.
    unsafe { std::mem::zeroed() }
}

#[test]
fn host_memory_is_aligned_for_tensorflow() {
    let (device, _) = device();
    for size in [1, 255, 4096] {
        let start = device.host_memory_allocate(size);
        assert!(!start.is_null() && (start as usize).is_multiple_of(256));
        // SAFETY: allocated above, and freed once.
        unsafe { device.host_memory_deallocate(start) };
    }
}

#[test]
fn freed_host_memory_is_reused_and_dropped_with_the_device() {
    let (device, control) = device();
    control.misalign_host_memory();
    let [first, second] = [(); 2].map(|()| device.host_memory_allocate(4096));
    assert_ne!(first, second);
    // SAFETY: allocated above, and freed once.
    unsafe { device.host_memory_deallocate(first) };
    let reused = device.host_memory_allocate(4000);
    assert_eq!((reused, control.live_host_memory()), (first, 2));
    // A block of 100 MiB is more than the layer has for reuse.
    let large = device.host_memory_allocate(100 << 20);
    for memory in [reused, second, large] {
        // SAFETY: as above.
        unsafe { device.host_memory_deallocate(memory) };
    }
    assert_eq!(control.live_host_memory(), 2);
    drop(device);
    assert_eq!(control.live_host_memory(), 0);
}

#[test]
fn memory_lives_until_work_of_all_queues_has_passed() {
    let (device, control) = device();
    let streams = [(); 3].map(|()| device.create_stream().unwrap());
    control.pause();
    let memory = allocate(&device, 64);
    for stream in &streams[..2] {
        fill(&device, stream, &memory, 1).unwrap();
    }
    deallocate(&device, memory);
    assert_eq!(control.live(), 1, "two queues use the memory");
    control.resume();
    device.synchronize_all_activity().unwrap();
    assert_eq!(control.live(), 0);
    // Queues that are known to be idle hold nothing.
    let memory = allocate(&device, 64);
    let before = control.host_functions();
    deallocate(&device, memory);
    assert_eq!((control.live(), control.host_functions()), (0, before));
}

#[test]
fn memory_of_a_kernel_lives_until_its_work_has_passed_after_a_wait_of_another_thread() {
    let (device, control, stream) = device_with_stream();
    let memory = allocate(&device, 64);
    let region = region_of(&device, &memory);
    let queue = stream.0.queue().unwrap();
    device.block_host_until_done(&stream).unwrap();
    control.pause();
    queue.fill(&region, &[1]).unwrap();
    stream.0.close();
    drop(region);
    deallocate(&device, memory);
    device.0.reclaim();
    let live = control.live();
    control.resume();
    assert_eq!(live, 1);
    device.block_host_until_done(&stream).unwrap();
    assert_eq!(control.live(), 0);
}

#[test]
fn memory_that_a_kernel_keeps_lives_until_its_later_work_has_passed() {
    let (device, control, stream) = device_with_stream();
    let memory = allocate(&device, 64);
    let region = region_of(&device, &memory);
    deallocate(&device, memory);
    let queue = stream.0.queue().unwrap();
    control.pause();
    queue.fill(&region, &[1]).unwrap();
    stream.0.close();
    drop(region);
    device.0.reclaim();
    let live = control.live();
    control.resume();
    assert_eq!(live, 1);
    device.block_host_until_done(&stream).unwrap();
    device.0.reclaim();
    assert_eq!(control.live(), 0);
}

#[test]
fn memory_that_a_host_function_drops_is_freed_by_a_slot() {
    let (device, control, stream) = device_with_stream();
    let memory = allocate(&device, 64);
    let region = region_of(&device, &memory);
    deallocate(&device, memory);
    let queue = stream.0.queue().unwrap();
    queue.host_function(Box::new(move || drop(region))).unwrap();
    stream.0.close();
    queue.synchronize().unwrap();
    assert_eq!(control.live(), 1);
    device.0.reclaim();
    device.block_host_until_done(&stream).unwrap();
    assert_eq!(control.live(), 0);
}

#[test]
fn memory_lives_until_copies_to_another_device_have_passed() {
    let ((first, control), (second, _)) = (device(), device());
    control.copy_to_peers();
    let stream = first.create_stream().unwrap();
    let (source, target) = (allocate(&first, 8), allocate(&second, 8));
    write(&first, &source, b"abcdefgh").unwrap();
    first.synchronize_all_activity().unwrap();
    control.pause();
    copy(&first, &stream, &target, &source).unwrap();
    deallocate(&first, source);
    first.0.reclaim();
    let live = control.live();
    control.resume();
    assert_eq!(live, 1);
    first.block_host_until_done(&stream).unwrap();
    assert_eq!(read(&second, &target).unwrap(), b"abcdefgh");
    assert_eq!(control.live(), 0);
}

#[test]
fn tensors_that_are_freed_at_once_keep_their_contents_for_the_queue() {
    let (device, control) = device();
    control.set_delay(Duration::from_micros(50));
    let run = |device: &TestDevice| {
        let [stream, copies] = [(); 2].map(|()| device.create_stream().unwrap());
        for round in 0..200_u8 {
            let memory = allocate(device, 256);
            let mut bytes = [0_u8; 256];
            // SAFETY: the array outlives the synchronization below.
            unsafe {
                device
                    .memset(&stream, Prefix::from_ref(&memory), round, 256)
                    .unwrap();
                device.create_stream_dependency(&copies, &stream).unwrap();
                let target = bytes.as_mut_ptr().cast();
                device
                    .memcpy_dtoh(&copies, target, Prefix::from_ref(&memory), 256)
                    .unwrap();
            }
            deallocate(device, memory);
            device.block_host_until_done(&copies).unwrap();
            assert_eq!(bytes, [round; 256]);
        }
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| run(&device));
        }
    });
    device.synchronize_all_activity().unwrap();
    assert_eq!(control.live(), 0);
}

#[test]
fn allocation_waits_for_memory_that_work_holds() {
    let (device, control, stream) = device_with_stream();
    control.set_delay(Duration::from_millis(1));
    control.set_capacity(100);
    for _ in 0..5 {
        let memory = allocate(&device, 80);
        assert!(!memory.opaque.is_null());
        fill(&device, &stream, &memory, 1).unwrap();
        deallocate(&device, memory);
    }
    assert!(allocate(&device, 101).opaque.is_null());
}

#[test]
fn event_is_complete_before_record_and_pending_until_work_is_done() {
    let (device, control, stream) = device_with_stream();
    let event = device.create_event().unwrap();
    assert_eq!(
        device.get_event_status(&event),
        SE_EventStatus::SE_EVENT_COMPLETE
    );
    device.block_host_for_event(&event).unwrap();
    control.pause();
    device.record_event(&stream, &event).unwrap();
    assert_eq!(
        device.get_event_status(&event),
        SE_EventStatus::SE_EVENT_PENDING
    );
    control.resume();
    device.block_host_for_event(&event).unwrap();
    assert_eq!(
        device.get_event_status(&event),
        SE_EventStatus::SE_EVENT_COMPLETE
    );
}

#[test]
fn timer_measures_in_order_of_stream() {
    let (device, control) = device();
    let (stream, timer) = (
        device.create_stream().unwrap(),
        device.create_timer().unwrap(),
    );
    let memory = allocate(&device, 4);
    control.set_delay(Duration::from_millis(5));
    device.start_timer(&stream, &timer).unwrap();
    fill(&device, &stream, &memory, 1).unwrap();
    device.stop_timer(&stream, &timer).unwrap();
    device.block_host_until_done(&stream).unwrap();
    assert!(TestDevice::nanoseconds(&timer) >= 5_000_000);
}

/// Calls of [`count_call`], by argument.
static CALLS: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];

unsafe extern "C-unwind" fn count_call(argument: *mut c_void, _: *mut TF_Status) {
    CALLS[argument as usize].fetch_add(1, Ordering::SeqCst);
}

fn call_back(device: &TestDevice, stream: &TestStream, argument: usize) {
    // SAFETY: the function takes any index as its argument.
    let taken = unsafe { device.host_callback(stream, Some(count_call), argument as *mut c_void) };
    assert_eq!(taken, 1);
}

#[test]
fn callbacks_are_called_once_also_after_failures_and_by_queues_that_drop_them() {
    let (device, control, stream) = device_with_stream();
    call_back(&device, &stream, 0);
    device.block_host_until_done(&stream).unwrap();
    assert_eq!(CALLS[0].load(Ordering::SeqCst), 1);
    control.pause();
    control.fail_next("launch failed");
    let memory = allocate(&device, 4);
    fill(&device, &stream, &memory, 1).unwrap();
    call_back(&device, &stream, 1);
    control.resume();
    assert!(device.block_host_until_done(&stream).is_err());
    call_back(&device, &stream, 2);
    // The queue takes no functions any more.
    control.reject_host_functions();
    call_back(&device, &stream, 3);
    drop(stream);
    let calls = CALLS.each_ref().map(|it| it.load(Ordering::SeqCst));
    assert_eq!(calls, [1; 4]);
}

#[test]
fn late_failure_is_first_error_of_stream_and_of_streams_that_wait_for_it() {
    let (device, control) = device();
    let [failing, dependent, other] = [(); 3].map(|()| device.create_stream().unwrap());
    let memory = allocate(&device, 16);
    control.pause();
    control.fail_next("launch failed");
    fill(&device, &failing, &memory, 1).unwrap();
    let event = device.create_event().unwrap();
    device.record_event(&failing, &event).unwrap();
    device
        .create_stream_dependency(&dependent, &failing)
        .unwrap();
    assert_eq!(device.get_stream_status(&failing), Ok(()));
    control.resume();
    let error = device.block_host_until_done(&dependent).unwrap_err();
    assert_eq!(
        error.message(),
        "copy of 16 bytes of a pattern: launch failed"
    );
    for result in [
        device.block_host_until_done(&failing),
        device.get_stream_status(&failing),
        device.block_host_for_event(&event),
        device.synchronize_all_activity(),
        device.record_event(&failing, &event),
        // SAFETY: the region is live.
        unsafe { device.mem_zero(&failing, Prefix::from_ref(&memory), 4) },
    ] {
        assert_eq!(result.unwrap_err(), error);
    }
    assert_eq!(
        device.get_event_status(&event),
        SE_EventStatus::SE_EVENT_COMPLETE
    );
    assert_eq!(device.block_host_until_done(&other), Ok(()));
    deallocate(&device, memory);
    drop((failing, dependent));
    device.0.reclaim();
    assert_eq!(control.live(), 0);
}

#[test]
fn memory_of_failed_queue_lives_until_its_stream_is_destroyed() {
    let (device, control, stream) = device_with_stream();
    let memory = allocate(&device, 16);
    control.reject_host_functions();
    fill(&device, &stream, &memory, 1).unwrap();
    deallocate(&device, memory);
    device.0.reclaim();
    assert_eq!(control.live(), 1);
    device.destroy_stream(stream);
    assert_eq!(control.live(), 0);
}

#[test]
fn memory_of_queue_without_functions_is_freed_after_a_wait() {
    let (device, control, stream) = device_with_stream();
    control.reject_host_functions();
    for _ in 0..3 {
        let memory = allocate(&device, 16);
        fill(&device, &stream, &memory, 1).unwrap();
        deallocate(&device, memory);
    }
    device.0.reclaim();
    assert_eq!(control.live(), 3);
    device.block_host_until_done(&stream).unwrap();
    device.0.reclaim();
    assert_eq!(control.live(), 0);
}

#[test]
fn copies_between_devices_without_direct_way_go_through_host() {
    let ((first, _), (second, _)) = (device(), device());
    let stream = first.create_stream().unwrap();
    let (source, target) = (allocate(&first, 8), allocate(&second, 8));
    write(&first, &source, b"abcdefgh").unwrap();
    copy(&first, &stream, &target, &source).unwrap();
    first.block_host_until_done(&stream).unwrap();
    assert_eq!(read(&second, &target).unwrap(), b"abcdefgh");
    assert!(read(&first, &target).is_err());
}

#[test]
fn copies_through_host_stay_within_misaligned_host_memory() {
    let ((first, control), (second, _)) = (device(), device());
    control.misalign_host_memory();
    let stream = first.create_stream().unwrap();
    let (source, target) = (allocate(&first, 300), allocate(&second, 300));
    write(&first, &source, &[7; 300]).unwrap();
    copy(&first, &stream, &target, &source).unwrap();
    assert_eq!(read(&second, &target).unwrap(), [7; 300]);
    assert_eq!(control.written_beyond_host_memory(), 0);
}

// since 2.22
#[test]
fn priority_reaches_queue() {
    use sp_abi::stream_executor::SP_StreamOptions;
    let (device, control) = device();
    for (has_priority, expected) in [(0, None), (1, Some(-2))] {
        let options = SP_StreamOptions {
            struct_size: SP_StreamOptions::STRUCT_SIZE,
            ext: ptr::null_mut(),
            has_priority,
            priority: -2,
        };
        let stream = device.create_stream_with_options(Prefix::from_ref(&options));
        drop(stream.unwrap());
        assert_eq!(control.priority(), expected);
    }
}

#[test]
fn streams_of_several_threads_do_not_mix() {
    let (device, control) = device();
    control.set_delay(Duration::from_micros(20));
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for value in 1..=4_u8 {
            let (device, failures) = (&device, &failures);
            scope.spawn(move || {
                let stream = device.create_stream().unwrap();
                let memory = allocate(device, 32);
                for _ in 0..100 {
                    fill(device, &stream, &memory, value).unwrap();
                    device.block_host_until_done(&stream).unwrap();
                    if read(device, &memory).unwrap() != [value; 32] {
                        failures.lock().unwrap().push(value);
                    }
                }
                deallocate(device, memory);
            });
        }
    });
    assert_eq!(*failures.lock().unwrap(), []);
}
