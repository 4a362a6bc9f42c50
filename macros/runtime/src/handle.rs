//! Opaque C handles that carry a Rust value.
//!
//! A plugin's stream, event, timer and device are Rust values; TensorFlow holds them as pointers
//! and hands those back. Each is given once, lent any number of times, and taken once.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

use crate::fork::Process;

/// Allocation behind a handle. The value comes first, so that a pointer to it is the handle.
#[repr(C)]
struct Given<T> {
    value: T,
    /// The object that made the value, or null.
    owner: *const c_void,
    /// The process in which it was made.
    process: Process,
}

impl<T> Given<T> {
    fn boxed(value: T, owner: *const c_void) -> NonNull<Self> {
        let given = Self {
            value,
            owner,
            process: Process::current(),
        };
        NonNull::from(Box::leak(Box::new(given)))
    }
}

/// Gives a value away as a handle. Whoever holds it owes one [`take`].
pub fn give<T>(value: T) -> *mut c_void {
    Given::boxed(value, ptr::null()).as_ptr().cast()
}

/// A handle that is not given away yet; dropping it drops the value.
pub struct Owned<T>(NonNull<Given<T>>);

impl<T> Owned<T> {
    /// Moves the value to its final address.
    pub fn new(value: T) -> Self {
        Self(Given::boxed(value, ptr::null()))
    }

    /// Returns the value.
    pub fn get(&self) -> &T {
        // SAFETY: made by `new`, and neither taken nor given away while `self` lives.
        unsafe { &self.0.as_ref().value }
    }

    /// Gives the value away, as [`give`] does.
    pub fn give(self) -> *mut c_void {
        ManuallyDrop::new(self).0.as_ptr().cast()
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and not given away.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// Gives away a value that `owner` made: [`owner`] of the handle returns it.
pub fn give_by<O, T>(owner: &O, value: T) -> *mut c_void {
    Given::boxed(value, ptr::from_ref(owner).cast())
        .as_ptr()
        .cast()
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
    fn owned_value_is_dropped_unless_given_away() {
        let value = std::rc::Rc::new(());
        drop(Owned::new(value.clone()));
        assert_eq!(std::rc::Rc::strong_count(&value), 1);
        let handle = Owned::new(value.clone()).give();
        assert_eq!(std::rc::Rc::strong_count(&value), 2);
        // SAFETY: given just above, with this type.
        drop(unsafe { take::<std::rc::Rc<()>>(handle) });
        assert_eq!(std::rc::Rc::strong_count(&value), 1);
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
