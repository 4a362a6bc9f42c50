//! No panic crosses `extern "C"`.
//!
//! A slot with a status reports the panic there; a slot without one returns its default return value, and
//! the panic is a line in the log. The process's panic hook has written one too by then: Rust's own
//! ignores a stderr that cannot be written.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{Error, RawStatus, Result, status};

/// Runs a slot that reports through a status: an error or a panic goes there.
///
/// # Safety
/// `report` is null or a live status object.
#[inline]
pub unsafe fn status(slot: &str, report: *mut RawStatus, body: impl FnOnce() -> Result<()>) {
    if let Err(error) = caught(slot, body) {
        // SAFETY: the caller vouches for `report`.
        unsafe { status::write(report, &error) }
    }
}

/// Runs a slot that cannot report: after a panic it returns `neutral` and writes a line to the log.
#[inline]
pub fn value<T>(slot: &str, neutral: T, body: impl FnOnce() -> T) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(value) => value,
        Err(payload) => {
            tell(slot, payload);
            neutral
        }
    }
}

/// Runs `body`; a panic becomes an error that names `slot`.
///
/// # Errors
/// What `body` returns, or `INTERNAL` after a panic.
#[inline]
pub fn caught<T>(slot: &str, body: impl FnOnce() -> Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => result,
        Err(payload) => Err(panicked(slot, payload)),
    }
}

// A slot's own code is a handful of instructions: what follows a panic stays out of it.
#[cold]
fn tell(slot: &str, payload: Box<dyn Any + Send>) {
    crate::report!(Error, "{}", panicked(slot, payload));
}

#[cold]
fn panicked(slot: &str, payload: Box<dyn Any + Send>) -> Error {
    let error = Error::internal(format!("panic in {slot}: {}", message(&*payload)));
    discard(payload);
    error
}

/// Drops a panic's payload. Its drop may panic in turn, outside of any guard: what that throws is leaked.
pub(crate) fn discard(payload: Box<dyn Any + Send>) {
    if let Err(thrown) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(thrown);
    }
}

fn message(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_the_neutral_value() {
        assert_eq!(value("demo", -1, || panic!("no")), -1);
        assert_eq!(value("demo", -1, || 5), 5);
    }

    #[test]
    fn a_panic_becomes_an_error_that_names_the_slot() {
        let error = caught::<()>("create_stream", || panic!("out of {}", "luck")).unwrap_err();
        assert_eq!(error.message(), "panic in create_stream: out of luck");
    }

    #[test]
    fn survives_a_payload_whose_drop_panics() {
        struct Explosive(u32);
        impl Drop for Explosive {
            fn drop(&mut self) {
                match self.0 {
                    0 => panic!("dropped"),
                    left => std::panic::panic_any(Self(left - 1)),
                }
            }
        }
        for depth in [0, 1, 2] {
            let body = || std::panic::panic_any(Explosive(depth));
            assert_eq!(value("demo", -1, body), -1);
            let error = caught::<()>("demo", || std::panic::panic_any(Explosive(depth)));
            assert_eq!(error.unwrap_err().message(), "panic in demo: no message");
        }
    }
}
