//! Work of queues: copies, fills, host functions and launches.

use std::ffi::{CStr, CString, c_char, c_void};
use std::slice;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use super::memory::same_device;
use super::{guard, since, write};
use crate::abi::{Argument, HostFunction, Result, Status};
use crate::access;
use crate::fault::Fault;
use crate::host_memory::HostRange;
use crate::kernels;
use crate::memory::{Region, check_host, region};
use crate::queue::{Action, Queue};
use crate::registry::QUEUES;

/// An address that is sent to a queue's thread. The functions that create one state why it is valid there.
struct Address(*mut c_void);

// SAFETY: it is a number; the functions that dereference it state why that is valid.
unsafe impl Send for Address {}

/// # Safety
/// - `host` is valid for reads of `size` bytes until the copy is complete.
#[unsafe(no_mangle)]
unsafe extern "C" fn va_copy_to_device(
    queue: usize,
    target: *mut c_void,
    host: *const c_void,
    size: u64,
) -> Status {
    guard(|| {
        let queue = QUEUES.get(queue)?;
        let target = region_of(&queue, target, size)?;
        check_host(host as usize, size)?;
        let host = HostRange::new(host as usize, target.len);
        push_copy(&queue, "va_copy_to_device", move || {
            let _guard = access::acquire(vec![target.access(true)]);
            target.check()?;
            // SAFETY: the region is mapped and exclusive. The caller keeps the host's memory valid.
            unsafe { host.copy_to(&target) };
            Ok(())
        })
    })
}

/// # Safety
/// - `host` is valid for writes of `size` bytes until the copy is complete, and nothing else uses it until then.
#[unsafe(no_mangle)]
unsafe extern "C" fn va_copy_to_host(
    queue: usize,
    host: *mut c_void,
    source: *const c_void,
    size: u64,
) -> Status {
    guard(|| {
        let queue = QUEUES.get(queue)?;
        let source = region_of(&queue, source, size)?;
        check_host(host as usize, size)?;
        let host = HostRange::new(host as usize, source.len);
        push_copy(&queue, "va_copy_to_host", move || {
            let _guard = access::acquire(vec![source.access(false)]);
            source.check()?;
            // SAFETY: the region is mapped and nothing writes it. The caller keeps the host's memory valid.
            unsafe { host.copy_from(&source) };
            Ok(())
        })
    })
}

#[unsafe(no_mangle)]
extern "C" fn va_copy_within(
    queue: usize,
    target: *mut c_void,
    source: *const c_void,
    size: u64,
) -> Status {
    guard(|| {
        let queue = QUEUES.get(queue)?;
        let target = region_of(&queue, target, size)?;
        let source = region_of(&queue, source, size)?;
        push_device_copy(&queue, "va_copy_within", target, source)
    })
}

#[unsafe(no_mangle)]
extern "C" fn va_copy_peer(
    queue: usize,
    target: *mut c_void,
    source: *const c_void,
    size: u64,
) -> Status {
    guard(|| {
        let queue = QUEUES.get(queue)?;
        let target = region(target as usize, size)?;
        let source = region(source as usize, size)?;
        push_device_copy(&queue, "va_copy_peer", target, source)
    })
}

/// Returns the region of device memory that a queue may use.
fn region_of(queue: &Queue, address: *const c_void, size: u64) -> Result<Region> {
    let found = region(address as usize, size)?;
    match same_device(&found, &queue.device) {
        true => Ok(found),
        false => Err(Status::INVALID_ADDRESS),
    }
}

fn push_device_copy(queue: &Queue, name: &str, target: Region, source: Region) -> Result {
    push_copy(queue, name, move || {
        let _guard = access::acquire(vec![target.access(true), source.access(false)]);
        target.check()?;
        source.check()?;
        // SAFETY: both regions are mapped, the target is exclusive, and `copy_from` allows overlap.
        unsafe { target.pointer().copy_from(source.pointer(), target.len) };
        Ok(())
    })
}

fn push_copy(queue: &Queue, name: &str, copy: impl FnOnce() -> Result + Send + 'static) -> Result {
    let run = move || {
        thread::sleep(Duration::from_micros(Fault::SlowCopy.microseconds()));
        copy()
    };
    queue.push(name, Action::Run(Box::new(run)))
}

#[unsafe(no_mangle)]
extern "C" fn va_fill(
    queue: usize,
    target: *mut c_void,
    pattern: u32,
    pattern_size: u32,
    size: u64,
) -> Status {
    guard(|| {
        if !matches!(pattern_size, 1 | 2 | 4) || !size.is_multiple_of(pattern_size.into()) {
            return Err(Status::INVALID_VALUE);
        }
        let queue = QUEUES.get(queue)?;
        let target = region_of(&queue, target, size)?;
        let fill = move || {
            let _guard = access::acquire(vec![target.access(true)]);
            target.check()?;
            // SAFETY: the region is mapped and exclusive.
            let bytes = unsafe { slice::from_raw_parts_mut(target.pointer(), target.len) };
            let pattern = &pattern.to_le_bytes()[..pattern_size as usize];
            let chunks = bytes.chunks_exact_mut(pattern.len());
            chunks.for_each(|chunk| chunk.copy_from_slice(pattern));
            Ok(())
        };
        queue.push("va_fill", Action::Run(Box::new(fill)))
    })
}

/// # Safety
/// - `function` may be called with `user_data` on another thread, once, until the queue is destroyed.
#[unsafe(no_mangle)]
unsafe extern "C" fn va_launch_host_function(
    queue: usize,
    function: HostFunction,
    user_data: *mut c_void,
) -> Status {
    guard(|| {
        let function = function.ok_or(Status::INVALID_VALUE)?;
        let data = Address(user_data);
        let call = move |_: &Queue| {
            let data = data;
            // SAFETY: the caller's obligation; the closure is called once.
            unsafe { function(data.0) };
        };
        let action = Action::Always(Box::new(call));
        QUEUES.get(queue)?.push("va_launch_host_function", action)
    })
}

/// # Safety
/// - `kernel` is null or a C string.
/// - `arguments` is null, or valid for reads of `count` elements.
#[unsafe(no_mangle)]
unsafe extern "C" fn va_launch(
    queue: usize,
    kernel: *const c_char,
    arguments: *const Argument,
    count: u32,
) -> Status {
    guard(|| {
        let is_invalid = arguments.is_null() || !arguments.is_aligned();
        if kernel.is_null() || is_invalid && count > 0 {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: it is not null, and the caller guarantees a C string.
        let name = unsafe { CStr::from_ptr(kernel) };
        let name = name.to_str().map_err(|_| Status::UNKNOWN_KERNEL)?;
        let arguments = match count {
            0 => &[],
            // SAFETY: it is not null, and the caller guarantees the rest.
            count => unsafe { slice::from_raw_parts(arguments, count as usize) },
        };
        launch(&*QUEUES.get(queue)?, name, arguments)
    })
}

fn launch(queue: &Queue, name: &str, arguments: &[Argument]) -> Result {
    let call = kernels::prepare(name, arguments)?;
    let (fails, hangs) = (Fault::Launch.count_event(), Fault::Hang.count_event());
    let run = move || match fails {
        true => Err(Status::LAUNCH_FAILED),
        false => call.run(),
    };
    let action = match hangs {
        true => Action::Hang,
        false => Action::Run(Box::new(run)),
    };
    queue.push(name, action)
}

/// # Safety
/// - `name` is null, or valid for a write.
#[unsafe(no_mangle)]
unsafe extern "C" fn va_kernel_name(index: u32, name: *mut *const c_char) -> Status {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    guard(|| {
        since(1)?;
        let c_name = |kernel: &kernels::Kernel| CString::new(kernel.name).unwrap_or_default();
        let names = NAMES.get_or_init(|| kernels::all().map(c_name).collect());
        let found = names.get(index as usize).ok_or(Status::INVALID_VALUE)?;
        // SAFETY: the caller's obligation.
        unsafe { write(name, found.as_ptr()) }
    })
}
