//! The driver as a whole.

use std::ffi::c_char;

use super::{guard, guard_always, write};
use crate::abi::Status;
use crate::registry::QUEUES;
use crate::settings::Settings;
use crate::{fault, queue};

/// # Safety
/// - `version` is null, or valid for a write.
#[unsafe(no_mangle)]
unsafe extern "C" fn va_driver_version(version: *mut u32) -> Status {
    // SAFETY: the caller's obligation.
    guard(|| unsafe { write(version, Settings::get().version) })
}

#[unsafe(no_mangle)]
extern "C" fn va_error_string(status: Status) -> *const c_char {
    status.text().as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn va_shutdown() -> Status {
    guard_always(|| queue::shut_down(|| QUEUES.all()))
}

#[unsafe(no_mangle)]
extern "C" fn va_inject(fault: i32, n: u64) -> Status {
    guard(|| fault::inject(fault, n))
}
