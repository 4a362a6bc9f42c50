//! A `TF_Status` for each thread, so that a call allocates none.

use std::cell::Cell;

use sp_runtime::{RawStatus, Status};

use crate::Result;

thread_local! {
    static STATUS: Cell<Option<Status>> = const { Cell::new(None) };
}

/// Calls a C function with the thread's status, and returns its result, or the error that it has reported.
///
/// A nested call creates a status of its own. After an error the status is deleted, so that the next call begins
/// with one that is OK.
///
/// # Errors
/// Returns the error in the status.
#[inline]
pub fn with_status<T>(call: impl FnOnce(*mut RawStatus) -> T) -> Result<T> {
    let status = match STATUS.take() {
        Some(status) => status,
        None => Status::new()?,
    };
    let result = call(status.as_ptr());
    status.check()?;
    STATUS.set(Some(status));
    Ok(result)
}
