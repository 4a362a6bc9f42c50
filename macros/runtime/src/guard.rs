//! Guards that let no panic cross `extern "C"`.
//!
//! A slot with a status reports the panic there. A slot without one returns its default return value, and
//! the panic becomes a line in the log. The process's panic hook runs before that; Rust's own hook ignores
//! a stderr that cannot be written.
//!
//! A C++ exception that leaves a function of the host is treated alike on x86-64 Linux, and aborts the process elsewhere
//! (`exception.rs`). A function of the host must have the ABI `"C-unwind"` for that, as those of sp-abi have.
//!
//! | a panic in | TensorFlow gets |
//! |---|---|
//! | a slot with `TF_Status*` | `INTERNAL`, "panic in SLOT: message" |
//! | a slot that returns a value | its default return value (`default_return` in the notes); a line on stderr |
//! | a slot that returns nothing | nothing; a line on stderr |
//! | a kernel's construction or computation | that kernel's failure |
//! | `SE_InitPlugin`, `TF_InitGraph`, `TF_InitProfiler` | the status of the entry point; TensorFlow then aborts the import |
//! | `TF_InitKernel` | nothing; a line on stderr. Kernels that were already registered remain |
//! | a graph optimizer | its status, which TensorFlow logs; the graph is unchanged |
//! | a profiler | its status, and no bytes |
//!
//! A payload whose drop panics is leaked. A panic that is an [`Error`], such as that of a failed
//! allocation, keeps its code.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Result};
use crate::exception;
use crate::payload::drop_payload;
use crate::report;
use crate::status::{self, RawStatus};

/// Runs a slot that reports through a status: an error or a panic of `body` is stored in `status`.
///
/// # Safety
/// - `status` is null or a live status object.
/// - No other thread uses it during the call.
#[inline]
pub unsafe fn run_with_status(
    slot: &str,
    status: *mut RawStatus,
    body: impl FnOnce() -> Result<()>,
) {
    if let Err(error) = catch_panic(slot, body) {
        // SAFETY: the caller guarantees that `status` is null or a live status object of this thread.
        unsafe { status::set_error(status, &error) }
    }
}

/// Runs a slot that cannot report. After a panic it returns `default` and writes a line to the log.
#[inline]
pub fn run_with_default<T>(slot: &str, default: T, body: impl FnOnce() -> T) -> T {
    match catch(slot, body) {
        Ok(value) => value,
        Err(error) => {
            log(&error);
            default
        }
    }
}

/// Runs `body`; a panic or a C++ exception becomes an error that names `slot`.
///
/// # Errors
/// Returns the error of `body`, one with the code `INTERNAL` if `body` panics, or the error of the exception: with the code
/// `RESOURCE_EXHAUSTED` for `std::bad_alloc`. A payload that is an [`Error`], such as that of
/// [`out_of_memory`](crate::allocation::out_of_memory), is returned as it is.
#[inline]
pub fn catch_panic<T>(slot: &str, body: impl FnOnce() -> Result<T>) -> Result<T> {
    catch(slot, body)?
}

#[inline]
fn catch<T>(slot: &str, body: impl FnOnce() -> T) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(|| exception::catch(body))) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(exception)) => Err(exception.into_error(slot)),
        Err(payload) => Err(panic_error(slot, payload)),
    }
}

// `#[cold]` and a function of its own: a slot's code is a few instructions, and panics are rare.
#[cold]
fn log(error: &Error) {
    report!(Error, "{error}");
}

#[cold]
fn panic_error(slot: &str, payload: Box<dyn Any + Send>) -> Error {
    let payload = match payload.downcast::<Error>() {
        Ok(error) => return *error,
        Err(payload) => payload,
    };
    let error = Error::internal(format!("panic in {slot}: {}", panic_message(&*payload)));
    drop_payload(payload);
    error
}

fn panic_message(payload: &(dyn Any + Send)) -> &str {
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
    fn returns_default_value_after_panic() {
        assert_eq!(run_with_default("demo", -1, || panic!("no")), -1);
        assert_eq!(run_with_default("demo", -1, || 5), 5);
    }

    #[test]
    fn panic_becomes_error_that_names_slot() {
        let error = catch_panic::<()>("create_stream", || panic!("out of {}", "luck")).unwrap_err();
        assert_eq!(error.message(), "panic in create_stream: out of luck");
    }

    #[test]
    fn payload_that_is_an_error_is_the_error_of_the_call() {
        let raised = Error::resource_exhausted("no memory");
        let payload = Box::new(raised.clone());
        let error = catch_panic::<()>("demo", || std::panic::resume_unwind(payload));
        assert_eq!(error, Err(raised));
    }

    #[test]
    fn survives_payload_whose_drop_panics() {
        struct Explosive(u32);
        impl Drop for Explosive {
            fn drop(&mut self) {
                match self.0 {
                    0 => panic!("dropped"),
                    depth => std::panic::panic_any(Self(depth - 1)),
                }
            }
        }
        for depth in [0, 1, 2] {
            let body = || std::panic::panic_any(Explosive(depth));
            assert_eq!(run_with_default("demo", -1, body), -1);
            let error = catch_panic::<()>("demo", || std::panic::panic_any(Explosive(depth)));
            assert_eq!(error.unwrap_err().message(), "panic in demo: no message");
        }
    }
}
