//! `TF_Status`: a code, a message and payloads.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::argument::{Arg, Text};
use super::functions::functions;
use crate::Code;
use crate::objects::{self, Object, ObjectKind, Owner};

/// The object behind `TF_Status*`.
#[derive(Debug)]
pub(crate) struct Status {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    code: Code,
    message: CString,
    payloads: BTreeMap<CString, CString>,
}

impl Object for Status {
    const KIND: ObjectKind = ObjectKind::Status;
}

impl Status {
    pub fn new() -> Self {
        let state = State {
            code: Code::OK,
            message: CString::default(),
            payloads: BTreeMap::new(),
        };
        Self {
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces code and message; an OK status has no message.
    pub fn set(&self, code: Code, message: &str) {
        let message = if code == Code::OK { "" } else { message };
        let mut state = self.state();
        state.code = code;
        state.message = c_string(message.as_bytes());
        state.payloads.clear();
    }

    /// Code and message.
    pub fn get(&self) -> (Code, String) {
        let state = self.state();
        (state.code, state.message.to_string_lossy().into_owned())
    }
}

/// A C string of `bytes` up to its first NUL.
pub(super) fn c_string(bytes: &[u8]) -> CString {
    let end = bytes
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(bytes.len());
    CString::new(&bytes[..end]).expect("cut at the first NUL")
}

/// Sets the status that a plugin passed for the result of `call`.
pub(super) fn report(status: &Arg<Status>, call: &str, result: Result<(), (Code, String)>) {
    let Some(status) = status.get(call) else {
        return;
    };
    match result {
        Ok(()) => status.set(Code::OK, ""),
        Err((code, message)) => status.set(code, &message),
    }
}

type Visitor = extern "C" fn(*const c_char, *const c_char, *mut c_void);

functions! {
    fn TF_NewStatus() -> *mut Status {
        objects::create(Status::new(), Owner::Plugin)
    }

    fn TF_DeleteStatus(status: Arg<Status>) {
        drop(status.take(CALL));
    }

    fn TF_SetStatus(status: Arg<Status>, code: u32, message: Text) {
        if let Some(status) = status.get(CALL) {
            status.set(Code(code), &message.string());
        }
    }

    fn TF_GetCode(status: Arg<Status>) -> u32 {
        status.get(CALL).map_or(Code::INTERNAL.0, |status| status.state().code.0)
    }

    fn TF_Message(status: Arg<Status>) -> *const c_char {
        status.get(CALL).map_or(c"".as_ptr(), |status| status.state().message.as_ptr())
    }

    fn TF_SetPayload(status: Arg<Status>, key: Text, value: Text) {
        let Some(status) = status.get(CALL) else { return };
        let mut state = status.state();
        if state.code != Code::OK {
            state.payloads.insert(c_string(key.bytes()), c_string(value.bytes()));
        }
    }

    fn TF_ForEachPayload(status: Arg<Status>, visitor: Visitor, capture: *mut c_void) {
        let Some(status) = status.get(CALL) else { return };
        let payloads = status.state().payloads.clone();
        for (key, value) in &payloads {
            visitor(key.as_ptr(), value.as_ptr(), capture);
        }
    }

    fn TF_SetStatusFromIOError(status: Arg<Status>, error: c_int, context: Text) {
        let Some(status) = status.get(CALL) else { return };
        let reason = std::io::Error::from_raw_os_error(error);
        status.set(code_of_errno(error), &format!("{}; {reason}", context.string()));
    }
}

/// The code that stands for an `errno`.
fn code_of_errno(error: c_int) -> Code {
    match error {
        0 => Code::OK,
        libc::ENOENT | libc::ENODEV | libc::ENXIO | libc::ESRCH => Code::NOT_FOUND,
        libc::EEXIST | libc::EADDRINUSE | libc::EALREADY => Code::ALREADY_EXISTS,
        libc::EPERM | libc::EACCES | libc::EROFS => Code::PERMISSION_DENIED,
        libc::EINVAL | libc::EBADF | libc::ENAMETOOLONG | libc::EDOM => Code::INVALID_ARGUMENT,
        libc::ENOSPC | libc::ENOMEM | libc::EMFILE | libc::ENFILE => Code::RESOURCE_EXHAUSTED,
        libc::ENOTDIR | libc::EISDIR | libc::ENOTEMPTY | libc::EBUSY | libc::EPIPE => {
            Code::FAILED_PRECONDITION
        }
        libc::EAGAIN | libc::EINTR | libc::ECONNREFUSED | libc::ECONNRESET => Code::UNAVAILABLE,
        libc::ETIMEDOUT => Code::DEADLINE_EXCEEDED,
        libc::ERANGE | libc::EOVERFLOW | libc::EFBIG => Code::OUT_OF_RANGE,
        libc::ENOSYS | libc::ENOTSUP => Code::UNIMPLEMENTED,
        libc::ECANCELED => Code::CANCELLED,
        _ => Code::UNKNOWN,
    }
}
