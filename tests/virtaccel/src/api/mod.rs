//! The exported functions. Each catches panics and checks its pointers; the modules do the work.

mod device;
mod driver;
mod fence;
mod memory;
mod queue;
mod work;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::abi::{Result, Status};
use crate::queue::is_shut_down;
use crate::settings::Settings;

/// Runs the body of a function. After `va_shutdown` every function returns the same error.
fn guard(body: impl FnOnce() -> Result) -> Status {
    if is_shut_down() {
        return Status::SHUT_DOWN;
    }
    guard_always(body)
}

fn guard_always(body: impl FnOnce() -> Result) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::OK,
        Ok(Err(status)) => status,
        Err(_) => Status::INTERNAL,
    }
}

/// Returns an error if the claimed version is below 1.`minor`.
fn since(minor: u32) -> Result {
    match Settings::get().version >= (1 << 16 | minor) {
        true => Ok(()),
        false => Err(Status::NOT_SUPPORTED),
    }
}

/// Writes a result.
///
/// # Safety
/// - `target` is null, or valid for a write of `T`.
unsafe fn write<T>(target: *mut T, value: T) -> Result {
    if target.is_null() || !target.is_aligned() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: it is not null, and the caller guarantees the rest.
    unsafe { target.write(value) };
    Ok(())
}

/// Checks that a result can be written, before anything is created.
fn check_target<T>(target: *mut T) -> Result {
    match target.is_null() || !target.is_aligned() {
        true => Err(Status::INVALID_VALUE),
        false => Ok(()),
    }
}

/// Writes the first `struct_size` bytes of a struct, with the caller's `struct_size`, which is its first field.
///
/// # Safety
/// - `target` is null, or valid for reads of a `usize` and writes of as many bytes as that number.
unsafe fn write_struct<T: Copy>(target: *mut T, value: T) -> Result {
    check_target(target)?;
    let head = size_of::<usize>();
    // SAFETY: the target is aligned for `T`, whose first field is the size.
    let size = unsafe { target.cast::<usize>().read() };
    if size < head {
        return Err(Status::INVALID_VALUE);
    }
    let len = size.min(size_of::<T>()) - head;
    // SAFETY: the source is a `T`. The target has `size` bytes, and the two do not overlap.
    unsafe {
        let from = (&raw const value).cast::<u8>().add(head);
        target
            .cast::<u8>()
            .add(head)
            .copy_from_nonoverlapping(from, len);
    }
    Ok(())
}
