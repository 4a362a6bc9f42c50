//! Errors of the functions of core, and the values that they return then.

use crate::StatusCode;

/// The result of a function whose error is the status of the call.
pub(super) type StatusResult<T> = Result<T, (StatusCode, String)>;

/// Returns the error for an argument that core rejects.
pub(super) fn invalid(text: impl Into<String>) -> (StatusCode, String) {
    (StatusCode::INVALID_ARGUMENT, text.into())
}

/// Returns the error for a call that core cannot serve.
pub(super) fn internal(text: impl Into<String>) -> (StatusCode, String) {
    (StatusCode::INTERNAL, text.into())
}

/// The reason why a call of a plugin has no result.
pub(super) enum CallError {
    /// The status of the call.
    Status(StatusCode, String),
    /// A fault or the kernel's failure is recorded, and the status stays as it is.
    Recorded,
}

impl From<(StatusCode, String)> for CallError {
    fn from((code, message): (StatusCode, String)) -> Self {
        Self::Status(code, message)
    }
}

/// The value that a function returns if the call has no result.
pub(super) trait DefaultReturn {
    const DEFAULT: Self;
}

impl DefaultReturn for () {
    const DEFAULT: Self = ();
}

impl DefaultReturn for bool {
    const DEFAULT: Self = false;
}

impl<T> DefaultReturn for *mut T {
    const DEFAULT: Self = std::ptr::null_mut();
}
