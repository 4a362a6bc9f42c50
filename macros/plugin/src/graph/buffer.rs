//! `TF_Buffer`: bytes that travel between the plugin and TensorFlow. Its fields are public, and no
//! release has moved them.

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::slice;

use sp_abi::tf_buffer::{TF_Buffer, TF_DeleteBuffer, TF_NewBuffer};

use crate::{Error, Result};

/// The bytes in a buffer.
///
/// # Safety
/// `buffer` is a live buffer that nobody changes during `'a`, of a length that [`check`] accepts.
pub(super) unsafe fn bytes<'a>(buffer: *const TF_Buffer) -> &'a [u8] {
    // SAFETY: the caller vouches for it.
    let TF_Buffer { data, length, .. } = unsafe { buffer.read() };
    match data.is_null() {
        true => &[],
        // SAFETY: whoever filled the buffer says that there are as many.
        false => unsafe { slice::from_raw_parts(data.cast(), length) },
    }
}

/// Checks that a buffer's length is that of memory.
///
/// # Safety
/// `buffer` is a live buffer.
///
/// # Errors
/// Returns an error if no slice can have that length.
pub(super) unsafe fn check(buffer: *const TF_Buffer) -> Result<()> {
    // SAFETY: the caller vouches for it.
    let length = unsafe { buffer.read() }.length;
    match isize::try_from(length) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::internal(format!("TensorFlow passed {length} bytes"))),
    }
}

/// Puts `bytes` into an empty buffer of TensorFlow's, which frees them.
///
/// # Safety
/// `buffer` is null or a live buffer that nobody else uses.
///
/// # Errors
/// Where it is null or holds something.
pub(crate) unsafe fn fill(buffer: *mut TF_Buffer, bytes: Vec<u8>) -> Result<()> {
    // SAFETY: not null, so the caller vouches for it.
    if buffer.is_null() || !unsafe { (*buffer).data }.is_null() {
        return Err(Error::internal("TensorFlow passed no empty buffer to fill"));
    }
    let length = bytes.len();
    let data = Box::into_raw(bytes.into_boxed_slice()).cast::<c_void>();
    // SAFETY: as above.
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
    // SAFETY: `fill` gave them away with this length, and TensorFlow gives them back once.
    drop(unsafe { Box::from_raw(bytes) });
}

/// A buffer of TensorFlow's that the plugin owns; deleted when dropped.
pub(crate) struct Own(NonNull<TF_Buffer>);

impl Own {
    /// Creates an empty buffer for TensorFlow to fill.
    pub fn new() -> Result<Self> {
        // SAFETY: takes no arguments, and the caller owns what it returns.
        unsafe { Self::from_raw(TF_NewBuffer.get()?()) }
    }

    /// Takes over a buffer.
    ///
    /// # Safety
    /// `buffer` is null, or a live buffer that is the plugin's to delete and that nobody changes.
    ///
    /// # Errors
    /// Returns an error if it is null.
    pub unsafe fn from_raw(buffer: *mut TF_Buffer) -> Result<Self> {
        let none = || Error::exhausted("TensorFlow made no buffer");
        NonNull::new(buffer).map(Self).ok_or_else(none)
    }

    pub fn as_ptr(&self) -> *mut TF_Buffer {
        self.0.as_ptr()
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: ours, and TensorFlow fills it only in calls that are over.
        unsafe { bytes(self.as_ptr()) }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Ok(delete) = TF_DeleteBuffer.get() {
            // SAFETY: ours, live, and not used again.
            unsafe { delete(self.as_ptr()) }
        }
    }
}
