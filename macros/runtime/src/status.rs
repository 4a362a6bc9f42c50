//! Conversion between `TF_Status` and `Result`.

use std::ffi::{CStr, CString, c_char};
use std::marker::{PhantomData, PhantomPinned};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use crate::error::{Code, Error, Result};
use crate::function::Function;

/// TensorFlow's opaque status object: `TF_Status`, or `TSL_Status`, in C.
#[repr(C)]
pub struct RawStatus {
    opaque: [u8; 0],
    pinned: PhantomData<(*mut u8, PhantomPinned)>,
}

// The functions for the conversion are declared here, since sp-abi, which has them too, depends on this crate.
// SAFETY: tensorflow/c/tf_status.h declares the function with this signature in every release.
static NEW: Function<unsafe extern "C-unwind" fn() -> *mut RawStatus> =
    unsafe { Function::new(c"TF_NewStatus") };
// SAFETY: tensorflow/c/tf_status.h declares the function with this signature in every release.
static DELETE: Function<unsafe extern "C-unwind" fn(*mut RawStatus)> =
    unsafe { Function::new(c"TF_DeleteStatus") };
// SAFETY: tensorflow/c/tf_status.h declares the function with this signature in every release.
static SET: Function<unsafe extern "C-unwind" fn(*mut RawStatus, Code, *const c_char)> =
    unsafe { Function::new(c"TF_SetStatus") };
// SAFETY: tensorflow/c/tf_status.h declares the function with this signature in every release.
static GET_CODE: Function<unsafe extern "C-unwind" fn(*const RawStatus) -> Code> =
    unsafe { Function::new(c"TF_GetCode") };
// SAFETY: tensorflow/c/tf_status.h declares the function with this signature in every release.
static MESSAGE: Function<unsafe extern "C-unwind" fn(*const RawStatus) -> *const c_char> =
    unsafe { Function::new(c"TF_Message") };

/// A status object that the plugin owns, to pass to functions that report through one.
pub struct Status(NonNull<RawStatus>);

impl Status {
    /// Creates a status with the code `OK`.
    ///
    /// # Errors
    /// Returns an error if the process has no TensorFlow.
    pub fn new() -> Result<Self> {
        let new = NEW.get()?;
        // SAFETY: `TF_NewStatus` takes no arguments, and the caller owns the result.
        let status = NonNull::new(unsafe { new() });
        let none = || Error::resource_exhausted("TensorFlow created no status");
        status.map(Self).ok_or_else(none)
    }

    /// Takes ownership of a status.
    ///
    /// # Safety
    /// - `status` is a live status object that the caller owns.
    #[inline]
    pub unsafe fn from_raw(status: NonNull<RawStatus>) -> Self {
        Self(status)
    }

    /// Transfers ownership of the object to the caller.
    #[inline]
    pub fn into_raw(self) -> NonNull<RawStatus> {
        ManuallyDrop::new(self).0
    }

    /// Creates a status with the code and message of `error`.
    ///
    /// # Errors
    /// Returns an error if the process has no TensorFlow.
    pub fn from_error(error: &Error) -> Result<Self> {
        let status = Self::new()?;
        // SAFETY: `status` owns a live object, which no other thread has.
        unsafe { set_error(status.as_ptr(), error) };
        Ok(status)
    }

    /// Returns the object for a C call that borrows it.
    #[inline]
    pub fn as_ptr(&self) -> *mut RawStatus {
        self.0.as_ptr()
    }

    /// Returns what the last call reported.
    ///
    /// # Errors
    /// Returns an error if the status is not `OK`.
    pub fn check(&self) -> Result<()> {
        // SAFETY: `self` owns the object, so it is live.
        unsafe { to_result(self.as_ptr()) }
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        if let Ok(delete) = DELETE.get() {
            // SAFETY: `self` owns the object, and nothing uses it after the drop.
            unsafe { delete(self.as_ptr()) }
        }
    }
}

/// Converts a status to a `Result`.
///
/// # Safety
/// - `status` is a live status object.
/// - No other thread changes it during the call.
pub(crate) unsafe fn to_result(status: *const RawStatus) -> Result<()> {
    let (get_code, get_message) = (GET_CODE.get()?, MESSAGE.get()?);
    // SAFETY: the caller guarantees that `status` is live.
    match unsafe { get_code(status) } {
        Code::OK => Ok(()),
        // SAFETY: as above. The message is a C string that stays valid until the status changes.
        code => Err(Error::new(code, unsafe {
            to_owned_string(get_message(status))
        })),
    }
}

/// Stores `error` in `status`, or writes it to the log if `status` is null.
///
/// # Safety
/// - `status` is null or a live status object.
/// - No other thread uses it during the call.
pub(crate) unsafe fn set_error(status: *mut RawStatus, error: &Error) {
    match SET.get() {
        Ok(set) if !status.is_null() => {
            let text = to_c_string(error.message());
            // SAFETY: the caller guarantees that `status` is live. `text` outlives the call, and TensorFlow
            // copies it.
            unsafe { set(status, error.code(), text.as_ptr()) }
        }
        _ => crate::report!(Error, "an error could not be reported: {error}"),
    }
}

/// Copies a C string; null becomes the empty string.
///
/// # Safety
/// `text` is null or a C string.
unsafe fn to_owned_string(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: `text` is not null, so the caller guarantees that it is a C string.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// Converts `text` to a C string without its NUL characters, which would truncate it.
fn to_c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_names_function_if_process_has_no_tensorflow() {
        let error = Status::new().err().expect("no TensorFlow in this process");
        assert_eq!(error.code(), Code::UNIMPLEMENTED);
        assert!(error.message().contains("TF_NewStatus"), "{error}");
    }

    #[test]
    fn nul_in_message_does_not_truncate_it() {
        assert_eq!(to_c_string("a\0b").as_bytes(), b"ab");
    }
}
