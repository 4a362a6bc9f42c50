//! The functions of `TF_Status`.

use std::ffi::{c_char, c_int, c_void};

use super::argument::{Arg, CStringArgument};
use super::functions::functions;
use crate::StatusCode;
use crate::objects::{self, Owner};
use crate::status_object::StatusObject;

type Visitor = extern "C" fn(*const c_char, *const c_char, *mut c_void);

functions! {
    fn TF_NewStatus() -> *mut StatusObject {
        objects::create(StatusObject::new(), Owner::Plugin)
    }

    fn TF_DeleteStatus(status: Arg<StatusObject>) {
        drop(status.take(CALL));
    }

    fn TF_SetStatus(status: Arg<StatusObject>, code: u32, message: CStringArgument) {
        if let Some(status) = status.get(CALL) {
            status.set(StatusCode(code), &message.string());
        }
    }

    fn TF_GetCode(status: Arg<StatusObject>) -> u32 {
        status.get(CALL).map_or(StatusCode::INTERNAL.0, |status| status.code().0)
    }

    fn TF_Message(status: Arg<StatusObject>) -> *const c_char {
        status.get(CALL).map_or(c"".as_ptr(), |status| status.message_address())
    }

    fn TF_SetPayload(status: Arg<StatusObject>, key: CStringArgument, value: CStringArgument) {
        if let Some(status) = status.get(CALL) {
            status.set_payload(key.bytes(), value.bytes());
        }
    }

    fn TF_ForEachPayload(status: Arg<StatusObject>, visitor: Visitor, capture: *mut c_void) {
        let Some(status) = status.get(CALL) else { return };
        for (key, value) in &status.payloads() {
            visitor(key.as_ptr(), value.as_ptr(), capture);
        }
    }

    fn TF_SetStatusFromIOError(status: Arg<StatusObject>, error: c_int, context: CStringArgument) {
        let Some(status) = status.get(CALL) else { return };
        let reason = std::io::Error::from_raw_os_error(error);
        status.set(code_of_errno(error), &format!("{}; {reason}", context.string()));
    }
}

/// Returns the code for an `errno`.
fn code_of_errno(error: c_int) -> StatusCode {
    match error {
        0 => StatusCode::OK,
        libc::ENOENT | libc::ENODEV | libc::ENXIO | libc::ESRCH => StatusCode::NOT_FOUND,
        libc::EEXIST | libc::EADDRINUSE | libc::EALREADY => StatusCode::ALREADY_EXISTS,
        libc::EPERM | libc::EACCES | libc::EROFS => StatusCode::PERMISSION_DENIED,
        libc::EINVAL | libc::EBADF | libc::ENAMETOOLONG | libc::EDOM => {
            StatusCode::INVALID_ARGUMENT
        }
        libc::ENOSPC | libc::ENOMEM | libc::EMFILE | libc::ENFILE => StatusCode::RESOURCE_EXHAUSTED,
        libc::ENOTDIR | libc::EISDIR | libc::ENOTEMPTY | libc::EBUSY | libc::EPIPE => {
            StatusCode::FAILED_PRECONDITION
        }
        libc::EAGAIN | libc::EINTR | libc::ECONNREFUSED | libc::ECONNRESET => {
            StatusCode::UNAVAILABLE
        }
        libc::ETIMEDOUT => StatusCode::DEADLINE_EXCEEDED,
        libc::ERANGE | libc::EOVERFLOW | libc::EFBIG => StatusCode::OUT_OF_RANGE,
        libc::ENOSYS | libc::ENOTSUP => StatusCode::UNIMPLEMENTED,
        libc::ECANCELED => StatusCode::CANCELLED,
        _ => StatusCode::UNKNOWN,
    }
}
