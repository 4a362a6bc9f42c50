//! Opaque C handles that carry a Rust value.
//!
//! A plugin's stream, event, timer and device are Rust values; TensorFlow holds them as pointers
//! and hands those back. Each is given once, lent any number of times, and taken once.

use std::ffi::c_void;

/// Gives a value away as a handle. Whoever holds it owes one [`take`].
pub fn give<T>(value: T) -> *mut c_void {
    Box::into_raw(Box::new(value)).cast()
}

/// The value behind a handle.
///
/// # Safety
/// `handle` came from [`give`] with the same `T` and is not taken during `'a`.
///
/// # Panics
/// On null, which TensorFlow never sends for an object that exists.
pub unsafe fn borrow<'a, T>(handle: *mut c_void) -> &'a T {
    assert!(!handle.is_null(), "TensorFlow sent a null handle");
    // SAFETY: not null, so the caller vouches for it.
    unsafe { &*handle.cast::<T>() }
}

/// Takes the value back; the handle is dead from here on.
///
/// # Safety
/// `handle` came from [`give`] with the same `T`, and is neither used nor taken again.
///
/// # Panics
/// On null.
pub unsafe fn take<T>(handle: *mut c_void) -> T {
    assert!(!handle.is_null(), "TensorFlow sent a null handle");
    // SAFETY: not null, so the caller vouches for it.
    *unsafe { Box::from_raw(handle.cast::<T>()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_lends_and_takes() {
        let handle = give(String::from("stream"));
        // SAFETY: given just above, with this type.
        unsafe {
            assert_eq!(borrow::<String>(handle), "stream");
            assert_eq!(take::<String>(handle), "stream");
        }
    }
}
