//! Queues that panic: memory that their commands may use lives until they have completed.

use std::env;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sp_abi::stream_executor::StreamExecutor;
use sp_runtime::Prefix;

use super::recorder::{Done, Method, Recorder, Worker};
use super::{allocate, deallocate, device, device_with_stream, fill, read, region_of, write};
use crate::accelerator::{Accelerator, HostSource, HostTarget, Queue, Region};
use crate::{Code, Result};

/// A variable that makes the test below end its process.
const CHILD: &str = "TEST_QUEUE_THAT_PANICS_TWICE";

#[test]
fn copy_from_host_that_panics_ends_before_its_source_is_returned() {
    for method in [Method::CopyIn, Method::Record] {
        let (device, control, stream) = device_with_stream();
        let memory = allocate(&device, 8);
        control.set_delay(Duration::from_millis(20));
        control.panic_in_next(method);
        let mut bytes = [3_u8; 8];
        let (start, target) = (bytes.as_ptr(), Prefix::from_ref(&memory));
        // SAFETY: the array outlives the read below, and is not written during the call, after which it is not read.
        let copied = unsafe { device.memcpy_htod(&stream, target, start.cast(), 8) };
        let error = copied.unwrap_err();
        bytes.fill(9);
        assert!(
            error
                .message()
                .starts_with("copy of 8 bytes from the host: panic in the queue:"),
            "{error}"
        );
        assert_eq!(device.get_stream_status(&stream), Err(error));
        thread::sleep(Duration::from_millis(100));
        assert_eq!(read(&device, &memory).unwrap(), [3; 8], "{method:?}");
    }
}

#[test]
fn copy_to_host_that_panics_ends_before_its_target_is_returned() {
    for method in [Method::CopyOut, Method::Record] {
        let (device, control, stream) = device_with_stream();
        let memory = allocate(&device, 8);
        write(&device, &memory, &[3; 8]).unwrap();
        control.set_delay(Duration::from_millis(20));
        control.panic_in_next(method);
        let mut bytes = [0_u8; 8];
        let (start, source) = (bytes.as_mut_ptr(), Prefix::from_ref(&memory));
        // SAFETY: the array outlives the wait below.
        let copied = unsafe { device.memcpy_dtoh(&stream, start.cast(), source, 8) };
        assert!(copied.is_err());
        thread::sleep(Duration::from_millis(100));
        assert_eq!(bytes, [u8::MAX; 8], "{method:?}");
    }
}

#[test]
fn synchronous_copy_that_panics_ends_before_its_memory_is_returned() {
    let (device, control) = device();
    let memory = allocate(&device, 4);
    control.set_delay(Duration::from_millis(20));
    control.panic_in_next(Method::CopyIn);
    let mut bytes = [3_u8; 4];
    let error = write(&device, &memory, &bytes).unwrap_err();
    bytes.fill(9);
    assert!(error.message().contains("panic in the queue"), "{error}");
    let stream = device.create_stream().unwrap();
    let (start, source) = (bytes.as_mut_ptr(), Prefix::from_ref(&memory));
    // SAFETY: the array is live, and the copy completes during the call.
    unsafe { device.memcpy_dtoh(&stream, start.cast(), source, 4) }.unwrap();
    assert_eq!(bytes, [3; 4]);
}

#[test]
fn copy_of_the_source_lives_after_a_panic_of_the_queue() {
    for method in [Method::CopyIn, Method::HostFunction] {
        let (device, control, stream) = device_with_stream();
        let memory = allocate(&device, 4);
        control.misalign_host_memory();
        control.pause();
        control.panic_in_next(method);
        // SAFETY: the bytes are static.
        let source = unsafe { HostSource::new(b"abcd".as_ptr(), 4) };
        let target = memory.opaque.addr();
        let copied = device.0.copy_in_from_copy(&stream.0, target, source);
        let live = control.live_host_memory();
        control.resume();
        // `read` copies on another queue, which does not wait for this one.
        stream.0.drain();
        assert_eq!(
            (copied.is_err(), live),
            (method == Method::CopyIn, 1),
            "{method:?}"
        );
        assert_eq!(read(&device, &memory).unwrap(), b"abcd");
        drop(stream);
        device.0.reclaim();
        assert_eq!(control.live_host_memory(), 0, "{method:?}");
    }
}

#[test]
fn pattern_lives_after_a_panic_of_the_queue() {
    for method in [Method::CopyIn, Method::HostFunction] {
        let (device, control, stream) = device_with_stream();
        let memory = allocate(&device, 64);
        control.pause();
        control.panic_in_next(method);
        let filled = fill(&device, &stream, &memory, 3);
        assert!(filled.is_err(), "{method:?}");
        // Blocks of the size of the pattern and its counts, which take its place if it was freed.
        let others = [(); 16].map(|()| vec![9_u8; 64 + 2 * size_of::<usize>()]);
        control.resume();
        stream.0.drain();
        drop(others);
        assert_eq!(read(&device, &memory).unwrap(), [3; 64], "{method:?}");
    }
}

/// Forwards copies to a queue of the accelerator, and calls host functions before the copies have completed.
struct EarlyFunctions(Worker);

impl Queue<Recorder> for EarlyFunctions {
    fn copy_in(&self, target: &Region<Recorder>, source: HostSource<'_>) -> Result<()> {
        self.0.copy_in(target, source)
    }

    fn copy_out(&self, target: HostTarget<'_>, source: &Region<Recorder>) -> Result<()> {
        self.0.copy_out(target, source)
    }

    fn copy(&self, target: &Region<Recorder>, source: &Region<Recorder>) -> Result<()> {
        self.0.copy(target, source)
    }

    fn record(&self) -> Result<Arc<Done>> {
        self.0.record()
    }

    fn wait(&self, fence: &Arc<Done>) -> Result<()> {
        self.0.wait(fence)
    }

    fn host_function(&self, function: Box<dyn FnOnce() + Send>) -> Result<()> {
        function();
        Ok(())
    }
}

#[test]
fn fill_by_copies_rejects_a_queue_that_wraps_another() {
    let (device, control) = device();
    let memory = allocate(&device, 64);
    let region = region_of(&device, &memory);
    control.pause();
    let wrapper = EarlyFunctions(device.accelerator().create_queue(None).unwrap());
    let filled = wrapper.fill(&region, &[3]);
    let others = [(); 16].map(|()| vec![9_u8; 64 + 2 * size_of::<usize>()]);
    control.resume();
    wrapper.0.synchronize().unwrap();
    drop(others);
    assert_eq!(filled.unwrap_err().code(), Code::UNIMPLEMENTED);
    assert_eq!(read(&device, &memory).unwrap(), [0; 64]);
}

#[test]
fn device_memory_lives_until_the_stream_of_a_queue_that_panics_is_destroyed() {
    let (device, control, stream) = device_with_stream();
    let memory = allocate(&device, 16);
    control.pause();
    fill(&device, &stream, &memory, 1).unwrap();
    control.panic_in_next(Method::HostFunction);
    deallocate(&device, memory);
    device.0.reclaim();
    let live = control.live();
    control.resume();
    assert_eq!(live, 1);
    device.destroy_stream(stream);
    assert_eq!(control.live(), 0);
}

#[test]
fn memory_of_a_queue_that_panics_while_it_is_destroyed_is_leaked() {
    let (device, control, stream) = device_with_stream();
    let memory = allocate(&device, 16);
    fill(&device, &stream, &memory, 1).unwrap();
    control.panic_in_next(Method::HostFunction);
    control.panic_in_next(Method::Synchronize);
    deallocate(&device, memory);
    device.destroy_stream(stream);
    drop(device);
    assert_eq!(control.live(), 1);
}

#[test]
fn process_ends_if_no_wait_is_possible_before_memory_of_tensorflow_is_freed() {
    if env::var_os(CHILD).is_some() {
        let (device, control) = device();
        let memory = allocate(&device, 4);
        control.panic_in_next(Method::CopyIn);
        control.panic_in_next(Method::Synchronize);
        let copied = write(&device, &memory, &[1; 4]);
        panic!("the source was returned: {copied:?}");
    }
    let name = "process_ends_if_no_wait_is_possible_before_memory_of_tensorflow_is_freed";
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "--nocapture"]).env(CHILD, "1");
    let output = child.arg(format!(
        "{}::{name}",
        module_path!().split_once("::").unwrap().1
    ));
    let output = output.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && output.status.code().is_none(),
        "{stderr}"
    );
    assert!(
        stderr.contains("the process ends: `synchronize` of a failed queue panics"),
        "{stderr}"
    );
    assert!(!stderr.contains("the source was returned"), "{stderr}");
}
