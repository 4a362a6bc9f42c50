//! The object behind `TF_Status*`: a code, a message and payloads. `core` has its C functions.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char};
use std::sync::Mutex;

use crate::objects::{HostObject, ObjectKind};
use crate::{StatusCode, lock};

/// A status.
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

    /// Replaces code and message; an OK status has no message.
    pub fn set(&self, code: StatusCode, message: &str) {
        let message = if code == StatusCode::OK { "" } else { message };
        let mut state = lock(&self.state);
        state.code = code;
        state.message = c_string(message.as_bytes());
        state.payloads.clear();
    }

    /// Returns code and message.
    pub fn get(&self) -> (StatusCode, String) {
        let state = lock(&self.state);
        (state.code, state.message.to_string_lossy().into_owned())
    }

    pub fn code(&self) -> StatusCode {
        lock(&self.state).code
    }

    /// Returns the address of the message, which is valid until the status is set or deleted.
    pub fn message_address(&self) -> *const c_char {
        lock(&self.state).message.as_ptr()
    }

    /// Sets a payload, unless the status is OK.
    pub fn set_payload(&self, key: &[u8], value: &[u8]) {
        let mut state = lock(&self.state);
        if state.code != StatusCode::OK {
            state.payloads.insert(c_string(key), c_string(value));
        }
    }

    pub fn payloads(&self) -> BTreeMap<CString, CString> {
        lock(&self.state).payloads.clone()
    }
}

/// Returns a C string of `bytes` up to the first NUL.
fn c_string(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|&byte| byte == 0);
    let end = end.unwrap_or(bytes.len());
    CString::new(&bytes[..end]).expect("cut at the first NUL")
}
