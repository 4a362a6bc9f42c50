//! Opaque C handles that point to a Rust value.
//!
//! A plugin's stream, event, timer and device are Rust values. TensorFlow holds them as pointers and
//! passes those back to the slots. Each value is turned into a handle once ([`into_raw`]), borrowed any
//! number of times ([`borrow`]), and taken back once ([`from_raw`]).
//!
//! A handle records the object that created it (`into_raw_with_owner`): a kernel's device is the owner of its stream.
//! It also records its process (`fork.rs`).

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

use crate::fork::Process;

/// Allocation behind a handle. The value comes first, so that a pointer to it is the handle.
#[repr(C)]
struct HandleAllocation<T> {
    value: T,
    /// The object that created the value, or null.
    owner: *const c_void,
    /// The process in which the value was created.
    process: Process,
}

impl<T> HandleAllocation<T> {
    fn leak(value: T, owner: *const c_void) -> NonNull<Self> {
        let allocation = Self {
            value,
            owner,
            process: Process::current(),
        };
        NonNull::from(Box::leak(Box::new(allocation)))
    }
}

/// Moves `value` into a handle and transfers ownership to the holder of the handle. The value is leaked
/// unless [`from_raw`] takes it back.
pub fn into_raw<T>(value: T) -> *mut c_void {
    HandleAllocation::leak(value, ptr::null()).as_ptr().cast()
}

/// A handle that the plugin still owns; dropping it drops the value.
pub struct OwnedHandle<T>(NonNull<HandleAllocation<T>>);

impl<T> OwnedHandle<T> {
    /// Moves `value` to its final address.
    pub fn new(value: T) -> Self {
        Self(HandleAllocation::leak(value, ptr::null()))
    }

    /// Returns the value.
    pub fn get(&self) -> &T {
        // SAFETY: `new` leaked the allocation, and only `into_raw` and `drop`, which both consume `self`,
        // end its ownership. So it is live, and no `&mut` to it exists.
        unsafe { &self.0.as_ref().value }
    }

    /// Transfers ownership to the holder of the returned handle, as the function [`into_raw`] does.
    pub fn into_raw(self) -> *mut c_void {
        ManuallyDrop::new(self).0.as_ptr().cast()
    }
}

impl<T> Drop for OwnedHandle<T> {
    fn drop(&mut self) {
        // SAFETY: `new` leaked this box, and `into_raw` did not consume `self`, so it is freed only here.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// Moves `value` into a handle, as [`into_raw`] does, and records the object that created it:
/// [`owner`](fn@owner) returns `owner`.
pub fn into_raw_with_owner<O, T>(owner: &O, value: T) -> *mut c_void {
    HandleAllocation::leak(value, ptr::from_ref(owner).cast())
        .as_ptr()
        .cast()
}

/// Returns the object that created the value behind a handle, or `None` if [`into_raw`] returned
/// the handle.
///
/// # Safety
/// - `handle` is a result of [`into_raw`] or [`into_raw_with_owner`] with the same `T` and, if with an owner,
///   the same `O`.
/// - [`from_raw`] does not take the value during the call.
/// - The owner is neither moved nor dropped during `'a`.
///
/// # Panics
/// Panics if `handle` is null, which TensorFlow never passes for an object that exists.
pub unsafe fn owner<'a, O, T>(handle: *mut c_void) -> Option<&'a O> {
    assert!(!handle.is_null(), "TensorFlow sent a null handle");
    // SAFETY: `handle` is not null, so the caller guarantees that it is a live `HandleAllocation<T>`. Only
    // the field is read, so no reference to the value is formed.
    let owner = unsafe { (&raw const (*handle.cast::<HandleAllocation<T>>()).owner).read() };
    // SAFETY: the pointer is null, or `into_raw_with_owner` made it from an `&O`. The caller guarantees
    // that this owner is not moved or dropped during `'a`.
    unsafe { owner.cast::<O>().as_ref() }
}

/// Returns the process in which the value behind a handle was created.
///
/// # Safety
/// - `handle` is a result of [`into_raw`] or [`into_raw_with_owner`] with the same `T`.
/// - [`from_raw`] does not take the value during the call.
///
/// # Panics
/// Panics if `handle` is null.
pub unsafe fn process<T>(handle: *mut c_void) -> Process {
    assert!(!handle.is_null(), "TensorFlow sent a null handle");
    // SAFETY: `handle` is not null, so the caller guarantees that it is a live `HandleAllocation<T>`. Only
    // the field is read, so no reference to the value is formed.
    unsafe { (&raw const (*handle.cast::<HandleAllocation<T>>()).process).read() }
}

/// Returns the value behind a handle.
///
/// # Safety
/// - `handle` is a result of [`into_raw`] or [`into_raw_with_owner`] with the same `T`.
/// - [`from_raw`] does not take the value during `'a`.
///
/// # Panics
/// Panics if `handle` is null, which TensorFlow never passes for an object that exists.
pub unsafe fn borrow<'a, T>(handle: *mut c_void) -> &'a T {
    assert!(!handle.is_null(), "TensorFlow sent a null handle");
    // SAFETY: `handle` is not null, so the caller guarantees that it is a `HandleAllocation<T>` that lives
    // for `'a`. The value is its first field (repr(C)), and nothing forms a `&mut` to it.
    unsafe { &*handle.cast::<T>() }
}

/// Takes the value back; the handle is invalid afterwards.
///
/// # Safety
/// - `handle` is a result of [`into_raw`] or [`into_raw_with_owner`] with the same `T`.
/// - No borrow of the value is alive, and the handle is not used again.
///
/// # Panics
/// Panics if `handle` is null.
pub unsafe fn from_raw<T>(handle: *mut c_void) -> T {
    assert!(!handle.is_null(), "TensorFlow sent a null handle");
    // SAFETY: `handle` is not null, so the caller guarantees that it is a leaked `HandleAllocation<T>` to
    // which no borrow is left, and which is freed only here.
    unsafe { Box::from_raw(handle.cast::<HandleAllocation<T>>()) }.value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borrows_value_and_takes_it_back() {
        let handle = into_raw(String::from("stream"));
        // SAFETY: the handle was made just above with this type, and is taken back once, at the end.
        unsafe {
            assert_eq!(borrow::<String>(handle), "stream");
            assert_eq!(from_raw::<String>(handle), "stream");
        }
    }

    #[test]
    fn owned_handle_drops_value_unless_released() {
        let value = std::rc::Rc::new(());
        drop(OwnedHandle::new(value.clone()));
        assert_eq!(std::rc::Rc::strong_count(&value), 1);
        let handle = OwnedHandle::new(value.clone()).into_raw();
        assert_eq!(std::rc::Rc::strong_count(&value), 2);
        // SAFETY: the handle was made just above with this type, and is taken back once.
        drop(unsafe { from_raw::<std::rc::Rc<()>>(handle) });
        assert_eq!(std::rc::Rc::strong_count(&value), 1);
    }

    #[test]
    fn returns_owner_that_was_recorded() {
        let device = String::from("device 1");
        let (owned, ownerless) = (into_raw_with_owner(&device, 7_u16), into_raw(7_u16));
        // SAFETY: the handles were made just above with these types, each is taken back once, and `device`
        // lives until the end.
        unsafe {
            assert!(owner::<String, u16>(owned).is_some_and(|it| ptr::eq(it, &device)));
            assert!(owner::<String, u16>(ownerless).is_none());
            assert!(process::<u16>(ownerless).is_current());
            assert_eq!(
                (
                    *borrow::<u16>(owned),
                    from_raw::<u16>(owned),
                    from_raw::<u16>(ownerless)
                ),
                (7, 7, 7)
            );
        }
    }
}
