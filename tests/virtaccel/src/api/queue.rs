//! Queues.

use std::ffi::{c_char, c_void};

use super::{check_target, guard, since, write};
use crate::abi::{QueueOptions, Status};
use crate::queue::{Queue, check_may_wait, is_shut_down};
use crate::registry::{DEVICES, QUEUES};

/// # Safety
/// - `options` is null, or valid for reads of as many bytes as its `struct_size`.
/// - `queue` is null, or valid for a write.
#[unsafe(no_mangle)]
unsafe extern "C" fn va_queue_create(
    device: usize,
    options: *const QueueOptions,
    queue: *mut usize,
) -> Status {
    guard(|| {
        check_target(queue)?;
        // SAFETY: the caller's obligation.
        unsafe { check_options(options)? };
        let started = Queue::start(DEVICES.get(device)?)?;
        let handle = QUEUES.insert(started.clone());
        // `va_shutdown` on another thread may have stopped the other queues already.
        if is_shut_down() {
            started.close()?;
            return Err(Status::SHUT_DOWN);
        }
        // SAFETY: the caller's obligation.
        unsafe { write(queue, handle) }
    })
}

/// # Safety
/// - `options` is null, or valid for reads of as many bytes as its `struct_size`.
unsafe fn check_options(options: *const QueueOptions) -> crate::abi::Result {
    if options.is_null() {
        return Ok(());
    }
    if !options.is_aligned() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: it is not null, and `struct_size` is the first field.
    let size = unsafe { options.cast::<usize>().read() };
    if size < size_of::<QueueOptions>() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: the caller's struct has at least our size.
    match unsafe { options.read() }.flags {
        0 => Ok(()),
        _ => Err(Status::INVALID_VALUE),
    }
}

#[unsafe(no_mangle)]
extern "C" fn va_queue_destroy(queue: usize) -> Status {
    guard(|| {
        check_may_wait()?;
        QUEUES.remove(queue)?.close()
    })
}

#[unsafe(no_mangle)]
extern "C" fn va_queue_synchronize(queue: usize) -> Status {
    guard(|| QUEUES.get(queue)?.synchronize())
}

#[unsafe(no_mangle)]
extern "C" fn va_queue_query(queue: usize) -> Status {
    guard(|| QUEUES.get(queue)?.query())
}

/// # Safety
/// - `error` is null, or valid for a write.
/// - `operation` is null, or valid for writes of `size` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn va_queue_get_error(
    queue: usize,
    clear: i32,
    error: *mut Status,
    operation: *mut c_char,
    size: usize,
) -> Status {
    guard(|| {
        since(1)?;
        check_target(error)?;
        if operation.is_null() && size > 0 {
            return Err(Status::INVALID_VALUE);
        }
        let failure = QUEUES.get(queue)?.error(clear != 0);
        let (status, name) =
            failure.map_or((Status::OK, String::new()), |it| (it.status, it.operation));
        // SAFETY: the caller's obligation.
        unsafe {
            write_text(operation.cast(), size, &name);
            write(error, status)
        }
    })
}

/// Writes a text with its NUL, cut to `size` bytes.
///
/// # Safety
/// - `target` is valid for writes of `size` bytes.
unsafe fn write_text(target: *mut c_void, size: usize, text: &str) {
    let Some(len) = size.checked_sub(1) else {
        return;
    };
    let len = len.min(text.len());
    let target = target.cast::<u8>();
    // SAFETY: `len` is below `size`, so the text and the NUL fit.
    unsafe {
        target.copy_from_nonoverlapping(text.as_ptr(), len);
        target.add(len).write(0);
    }
}

#[unsafe(no_mangle)]
extern "C" fn va_queue_cancel(queue: usize) -> Status {
    guard(|| {
        since(1)?;
        QUEUES.get(queue)?.cancel();
        Ok(())
    })
}
