//! Payloads of panics.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Drops a panic's payload. That drop may panic outside of any guard; the payload of such a second panic
/// is leaked.
pub fn drop_payload(payload: Box<dyn Any + Send>) {
    if let Err(second_payload) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(second_payload);
    }
}
