//! libclang's strings.

use std::ffi::CStr;

use clang_sys::*;

/// Converts and disposes a libclang string.
pub(super) fn text(raw: CXString) -> String {
    // SAFETY: libclang returned `raw`, so its bytes are null or end with a NUL. They are copied before `raw` is disposed,
    // which happens once.
    unsafe {
        let bytes = clang_getCString(raw);
        let copy = match bytes.is_null() {
            true => String::new(),
            false => to_string(CStr::from_ptr(bytes)),
        };
        clang_disposeString(raw);
        copy
    }
}

fn to_string(text: &CStr) -> String {
    match text.to_str() {
        Ok(text) => text.into(),
        Err(_) => text.to_string_lossy().into_owned(),
    }
}
