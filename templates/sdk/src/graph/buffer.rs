//! `TF_Buffer`: bytes that the plugin and TensorFlow exchange. Its fields are public, and their offsets are
//! the same in all releases.

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::slice;

use sp_abi::tf_buffer::{TF_Buffer, TF_DeleteBuffer, TF_NewBuffer};

use crate::{Error, Result};

/// Returns the bytes in a buffer.
///
/// # Safety
/// - `buffer` is a live buffer that no other code changes during `'a`.
/// - [`check`] accepts its length.
pub(super) unsafe fn bytes<'a>(buffer: *const TF_Buffer) -> &'a [u8] {
    // SAFETY: the caller guarantees that `buffer` is live.
    let TF_Buffer { data, length, .. } = unsafe { buffer.read() };
    match data.is_null() {
        true => &[],
        // SAFETY: a `TF_Buffer` has `length` readable bytes at `data`. The caller guarantees that they do not
        // change during `'a` and that the length fits an `isize`.
        false => unsafe { slice::from_raw_parts(data.cast(), length) },
    }
}

/// Checks that a buffer's length is possible for a slice.
///
/// # Safety
/// - `buffer` is a live buffer.
///
/// # Errors
/// Returns an error if no slice can have that length.
pub(super) unsafe fn check(buffer: *const TF_Buffer) -> Result<()> {
    // SAFETY: the caller guarantees that `buffer` is live.
    let length = unsafe { buffer.read() }.length;
    match isize::try_from(length) {
        Ok(_) => Ok(()),
        Err(_) => fail!(
            internal,
            "TensorFlow passed a buffer of {length} bytes, expected at most {}",
            isize::MAX
        ),
    }
}

/// Moves `bytes` into an empty buffer of TensorFlow, which frees them.
///
/// # Safety
/// - `buffer` is null or a live buffer.
/// - No other code uses it during the call.
///
/// # Errors
/// Returns an error if `buffer` is null or not empty.
pub(crate) unsafe fn fill(buffer: *mut TF_Buffer, bytes: Vec<u8>) -> Result<()> {
    // SAFETY: `buffer` is not null, so the caller guarantees that it is live.
    if buffer.is_null() || !unsafe { (*buffer).data }.is_null() {
        return Err(Error::internal("TensorFlow passed no empty buffer to fill"));
    }
    let length = bytes.len();
    let data = Box::into_raw(bytes.into_boxed_slice()).cast::<c_void>();
    // SAFETY: `buffer` is not null, so the caller guarantees that it is live and not used by other code. It was
    // empty, so the write leaks no data.
    unsafe {
        buffer.write(TF_Buffer {
            data,
            length,
            data_deallocator: Some(release),
        });
    }
    Ok(())
}

unsafe extern "C" fn release(data: *mut c_void, length: usize) {
    let bytes = ptr::slice_from_raw_parts_mut(data.cast::<u8>(), length);
    // SAFETY: `fill` leaked a box of this length into the buffer, and TensorFlow calls the deallocator once.
    drop(unsafe { Box::from_raw(bytes) });
}

/// A `TF_Buffer` that the plugin owns; it is deleted on drop.
pub(crate) struct OwnedBuffer(NonNull<TF_Buffer>);

impl OwnedBuffer {
    /// Creates an empty buffer for TensorFlow to fill.
    pub fn new() -> Result<Self> {
        // SAFETY: TF_NewBuffer takes no arguments, and the caller owns the buffer that it returns.
        unsafe { Self::from_raw(TF_NewBuffer.get()?()) }
    }

    /// Takes ownership of a buffer.
    ///
    /// # Safety
    /// - `buffer` is null or a live buffer.
    /// - The caller owns it, and no other code changes it.
    ///
    /// # Errors
    /// Returns an error if it is null.
    pub unsafe fn from_raw(buffer: *mut TF_Buffer) -> Result<Self> {
        let absent = || Error::resource_exhausted("TensorFlow returned no buffer");
        NonNull::new(buffer).map(Self).ok_or_else(absent)
    }

    pub fn as_ptr(&self) -> *mut TF_Buffer {
        self.0.as_ptr()
    }

    /// Returns the bytes that the buffer has now.
    ///
    /// # Errors
    /// Returns an error if TensorFlow has stored a length that is not possible for a slice.
    pub fn bytes(&self) -> Result<&[u8]> {
        // SAFETY: `self` owns the live buffer. TensorFlow writes to it only during calls that have `as_ptr`, and
        // those have returned. The length is checked before the slice is formed.
        unsafe {
            check(self.as_ptr())?;
            Ok(bytes(self.as_ptr()))
        }
    }
}

impl Drop for OwnedBuffer {
    fn drop(&mut self) {
        if let Ok(delete) = TF_DeleteBuffer.get() {
            // SAFETY: `self` owns the live buffer, and nothing uses it after the drop.
            unsafe { delete(self.as_ptr()) }
        }
    }
}
