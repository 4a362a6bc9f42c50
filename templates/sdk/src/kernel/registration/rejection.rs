//! The error of an op that neither the plugin nor core computes on a plugin's device.

use std::ffi::CStr;

use crate::Error;

/// The part that all messages have. A text in Python that replaces such ops looks for it.
pub(crate) const MESSAGE: &CStr = c"the plugin has no kernel for it here";

/// Returns the error of an op; `reason` states why core's kernel does not run, and what to use.
#[cold]
pub(super) fn rejection(op: &str, reason: &str) -> Error {
    let message = MESSAGE.to_string_lossy();
    Error::unimplemented(format!("{op}: {message}, and TensorFlow's own {reason}"))
}
