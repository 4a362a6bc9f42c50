//! Types of the arguments that plugins pass to core. The C contract makes such pointers valid for the call. All
//! dereferences of them are in this file.
//!
//! Invariant: values of these types come only from a plugin's call of a function in `core`.

use std::ffi::{CStr, c_char};

use super::failure::CallError;
use crate::objects::{self, HostObject};

/// A pointer to an object of core.
#[repr(transparent)]
pub(crate) struct Arg<T>(*mut T);

impl<T: HostObject> Arg<T> {
    /// Returns the object if it is live; otherwise records a fault of the function `call`.
    pub fn get(&self, call: &str) -> Option<&T> {
        self.find().or_else(|| self.record_fault(call))
    }

    /// Returns the object.
    ///
    /// # Errors
    /// Returns an error if it is not live, after recording a fault of the function `call`.
    pub(super) fn live(&self, call: &str) -> Result<&T, CallError> {
        self.get(call).ok_or(CallError::Recorded)
    }

    /// Returns the object, if it is live.
    pub fn find(&self) -> Option<&T> {
        // SAFETY: the C contract forbids a plugin to delete an object while it passes it to another call.
        unsafe { objects::find(self.0) }
    }

    /// Takes the object from the plugin. Null is `None` without a fault.
    pub fn take(self, call: &str) -> Option<Box<T>> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: references from `find` borrow the argument, which is consumed. The C contract forbids a plugin to pass the
        // object to another call meanwhile.
        unsafe { objects::take(self.0) }.or_else(|| self.record_fault(call))
    }

    /// Records that the function `call` got a pointer that is not a live object.
    fn record_fault<R>(&self, call: &str) -> Option<R> {
        let (address, kind) = (self.0, T::KIND);
        objects::record_fault(format!(
            "{call} got {address:p}, which is not a live {kind}"
        ));
        None
    }

    /// Returns the address.
    pub fn address(&self) -> *mut T {
        self.0
    }
}

/// A C string.
#[repr(transparent)]
pub(crate) struct CStringArgument(*const c_char);

impl CStringArgument {
    /// Returns its bytes. Empty for null.
    pub fn bytes(&self) -> &[u8] {
        match self.0.is_null() {
            true => &[],
            // SAFETY: the C contract requires a NUL-terminated string that lives during the call.
            false => unsafe { CStr::from_ptr(self.0) }.to_bytes(),
        }
    }

    /// Returns its text.
    pub fn string(&self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }
}

/// A pointer to results.
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T: Copy> Out<T> {
    /// Writes a result, unless the pointer is null.
    pub fn set(&self, value: T) {
        self.fill(&[value]);
    }

    /// Writes several results.
    pub fn fill(&self, values: &[T]) {
        if self.0.is_null() {
            return;
        }
        // SAFETY: the C contract makes the pointer valid for as many values as the callers here write, and Rust memory
        // does not overlap the plugin's.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), self.0, values.len()) }
    }

    /// Returns the address of the first element.
    pub fn address(&self) -> *mut T {
        self.0
    }
}

/// Values to read.
#[repr(transparent)]
pub(crate) struct List<T>(*const T);

impl<T> List<T> {
    /// Returns the first `len` values. Empty for null or a negative length.
    pub fn values(&self, len: impl TryInto<usize>) -> &[T] {
        match len.try_into() {
            Ok(len) if !self.0.is_null() => {
                // SAFETY: the C contract makes the pointer valid for `len` values during the call.
                unsafe { std::slice::from_raw_parts(self.0, len) }
            }
            _ => &[],
        }
    }

    /// Returns the address of the first value.
    pub fn address(&self) -> *const T {
        self.0
    }
}

impl<T: Copy> List<T> {
    /// Returns the first value, or `None` for null.
    pub fn first(&self) -> Option<T> {
        self.values(1_usize).first().copied()
    }
}
