//! `TF_Status`: a code, a message and payloads.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::argument::{Arg, CStringArgument};
use super::functions::functions;
use crate::StatusCode;
use crate::objects::{self, HostObject, ObjectKind, Owner};

/// The object behind `TF_Status*`.
#[derive(Debug)]
pub(crate) struct StatusObject {
    state: Mutex<StatusState>,
}

#[derive(Debug)]
struct StatusState {
    code: StatusCode,
    message: CString,
    payloads: BTreeMap<CString, CString>,
}

impl HostObject for StatusObject {
    const KIND: ObjectKind = ObjectKind::Status;
}

impl StatusObject {
    pub fn new() -> Self {
        let state = StatusState {
            code: StatusCode::OK,
            message: CString::default(),
            payloads: BTreeMap::new(),
        };
        Self {
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, StatusState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces code and message; an OK status has no message.
    pub fn set(&self, code: StatusCode, message: &str) {
        let message = if code == StatusCode::OK { "" } else { message };
        let mut state = self.state();
        state.code = code;
        state.message = c_string(message.as_bytes());
        state.payloads.clear();
    }

    /// Returns code and message.
    pub fn get(&self) -> (StatusCode, String) {
        let state = self.state();
        (state.code, state.message.to_string_lossy().into_owned())
    }
}

/// Returns a C string of `bytes` up to the first NUL.
pub(super) fn c_string(bytes: &[u8]) -> CString {
    let end = bytes
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(bytes.len());
    CString::new(&bytes[..end]).expect("cut at the first NUL")
}

/// Sets the status that a plugin passed for the result of `call`.
pub(super) fn report(
    status: &Arg<StatusObject>,
    call: &str,
    result: Result<(), (StatusCode, String)>,
) {
    let Some(status) = status.get(call) else {
        return;
    };
    match result {
        Ok(()) => status.set(StatusCode::OK, ""),
        Err((code, message)) => status.set(code, &message),
    }
}

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
        status.get(CALL).map_or(StatusCode::INTERNAL.0, |status| status.state().code.0)
    }

    fn TF_Message(status: Arg<StatusObject>) -> *const c_char {
        status.get(CALL).map_or(c"".as_ptr(), |status| status.state().message.as_ptr())
    }

    fn TF_SetPayload(status: Arg<StatusObject>, key: CStringArgument, value: CStringArgument) {
        let Some(status) = status.get(CALL) else { return };
        let mut state = status.state();
        if state.code != StatusCode::OK {
            state.payloads.insert(c_string(key.bytes()), c_string(value.bytes()));
        }
    }

    fn TF_ForEachPayload(status: Arg<StatusObject>, visitor: Visitor, capture: *mut c_void) {
        let Some(status) = status.get(CALL) else { return };
        let payloads = status.state().payloads.clone();
        for (key, value) in &payloads {
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
