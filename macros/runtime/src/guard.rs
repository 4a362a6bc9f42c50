//! No panic crosses `extern "C"`.
//!
//! A slot with a status reports the panic there; a slot without one returns a stated neutral value
//! and the panic is told on stderr.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{Error, RawStatus, Result, status};

/// Runs a slot that reports through a status: an error or a panic goes there.
///
/// # Safety
/// `report` is null or a live status object.
pub unsafe fn status(slot: &str, report: *mut RawStatus, body: impl FnOnce() -> Result<()>) {
    if let Err(error) = caught(slot, body) {
        // SAFETY: the caller vouches for `report`.
        unsafe { status::write(report, &error) }
    }
}

/// Runs a slot that cannot report: after a panic it returns `neutral` and says so on stderr.
pub fn value<T>(slot: &str, neutral: T, body: impl FnOnce() -> T) -> T {
    caught(slot, || Ok(body())).unwrap_or_else(|error| {
        eprintln!("plugin: {error}");
        neutral
    })
}

/// Runs `body`; a panic becomes an error that names `slot`.
///
/// # Errors
/// What `body` returns, or `INTERNAL` after a panic.
pub fn caught<T>(slot: &str, body: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
        Err(Error::internal(format!(
            "panic in {slot}: {}",
            message(&*payload)
        )))
    })
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
}
