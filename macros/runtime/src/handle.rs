//! Opaque C handles that carry a Rust value.
//!
//! A plugin's stream, event, timer and device are Rust values; TensorFlow holds them as pointers
//! and hands those back. Each is given once, lent any number of times, and taken once.

use std::ffi::c_void;
use std::ptr;

use crate::fork::Process;

/// What a handle points to. The value comes first, so that a pointer to it is the handle.
#[repr(C)]
struct Given<T> {
    value: T,
    /// The object that made the value, or null.
    owner: *const c_void,
    /// The process in which it was made.
    process: Process,
}

impl<T> Given<T> {
    fn boxed(value: T, owner: *const c_void) -> *mut c_void {
        let process = Process::current();
        let given = Self {
            value,
            owner,
            process,
        };
        Box::into_raw(Box::new(given)).cast()
    }
}

/// Gives a value away as a handle. Whoever holds it owes one [`take`].
pub fn give<T>(value: T) -> *mut c_void {
    Given::boxed(value, ptr::null())
}

/// Gives away a value that `owner` made: [`owner`] of the handle returns it.
pub fn give_by<O, T>(owner: &O, value: T) -> *mut c_void {
    Given::boxed(value, ptr::from_ref(owner).cast())
}

/// Returns the object that made the value behind a handle, or `None` if it came from [`give`].
///
/// # Safety
/// - `handle` came from [`give`] or [`give_by`] with the same `T` and, if with an owner, the same `O`.
/// - It is not taken during the call, and the owner is neither moved nor dropped during `'a`.
///
/// # Panics
/// On null, which TensorFlow never sends for an object that exists.
pub unsafe fn owner<'a, O, T>(handle: *mut c_void) -> Option<&'a O> {
    assert!(!handle.is_null(), "TensorFlow sent a null handle");
    // SAFETY: not null, so the caller vouches for it; only the address is read.
    let owner = unsafe { (&raw const (*handle.cast::<Given<T>>()).owner).read() };
    // SAFETY: null or what `give_by` stored, of which the caller vouches that it lives.
    unsafe { owner.cast::<O>().as_ref() }
}

/// Returns the process in which the value behind a handle was made.
///
/// # Safety
/// `handle` came from [`give`] or [`give_by`] with the same `T` and is not taken during the call.
///
/// # Panics
/// On null.
pub unsafe fn process<T>(handle: *mut c_void) -> Process {
    assert!(!handle.is_null(), "TensorFlow sent a null handle");
    // SAFETY: not null, so the caller vouches for it; only this field is read.
    unsafe { (&raw const (*handle.cast::<Given<T>>()).process).read() }
}

/// The value behind a handle.
///
/// # Safety
/// `handle` came from [`give`] or [`give_by`] with the same `T` and is not taken during `'a`.
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
/// `handle` came from [`give`] or [`give_by`] with the same `T`, and is neither used nor taken again.
///
/// # Panics
/// On null.
pub unsafe fn take<T>(handle: *mut c_void) -> T {
    assert!(!handle.is_null(), "TensorFlow sent a null handle");
    // SAFETY: not null, so the caller vouches for it.
    unsafe { Box::from_raw(handle.cast::<Given<T>>()) }.value
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

    #[test]
    fn owner_is_the_object_that_made_the_value() {
        let device = String::from("device 1");
        let (made, alone) = (give_by(&device, 7_u16), give(7_u16));
        // SAFETY: given just above, with these types, and `device` lives until the end.
        unsafe {
            assert!(owner::<String, u16>(made).is_some_and(|it| ptr::eq(it, &device)));
            assert!(owner::<String, u16>(alone).is_none());
            assert!(process::<u16>(alone).is_current());
            assert_eq!(
                (*borrow::<u16>(made), take::<u16>(made), take::<u16>(alone)),
                (7, 7, 7)
            );
        }
    }
}
