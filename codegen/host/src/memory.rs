//! Aligned host memory.
//!
//! Invariant: it is aligned to 64 bytes and initialised.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ffi::c_void;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

/// Alignment of tensors, in bytes. TensorFlow aborts on less.
pub(crate) const ALIGNMENT: usize = 64;

/// Fill byte of new memory, so that a read of uninitialised memory is visible.
pub(crate) const POISON: u8 = 0xa5;

/// Aligned host memory.
#[derive(Debug)]
pub(crate) struct HostMemory {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the value is the only owner of its allocation, which no thread-local state refers to.
unsafe impl Send for HostMemory {}
// SAFETY: shared references only read; writes take `&mut self`.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// Allocates `len` bytes filled with [`POISON`].
    pub fn poisoned(len: usize) -> Self {
        // SAFETY: the layout has at least one byte.
        let start = unsafe { alloc(Self::layout(len)) };
        let Some(start) = NonNull::new(start) else {
            handle_alloc_error(Self::layout(len))
        };
        // SAFETY: the allocation has at least `len` bytes.
        unsafe { start.write_bytes(POISON, len) };
        Self { start, len }
    }

    /// Returns memory with a copy of `bytes`.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut memory = Self::poisoned(bytes.len());
        memory.bytes_mut().copy_from_slice(bytes);
        memory
    }

    fn layout(len: usize) -> Layout {
        Layout::from_size_align(len.max(1), ALIGNMENT).expect("a tensor fits the address space")
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn data(&self) -> *mut c_void {
        self.start.as_ptr().cast()
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the allocation has `len` bytes, all written.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

/// Fills `len` bytes at `start` with zeros; returns false if a page there is not mapped or not writable.
///
/// The kernel stores the bytes, so that an inaccessible page is an error instead of a crash. Without `/dev/zero` nothing is
/// stored, and the result is true.
///
/// # Safety
/// - No value of this process is in the bytes that are writable.
pub(crate) unsafe fn zero_if_writable(start: *mut u8, len: usize) -> bool {
    let Ok(zeros) = File::open("/dev/zero") else {
        return true;
    };
    let mut done = 0;
    while done < len {
        let rest = start.wrapping_add(done).cast();
        // SAFETY: the caller guarantees that no value is overwritten; the kernel stores nothing in other pages.
        let count = unsafe { libc::read(zeros.as_raw_fd(), rest, len - done) };
        match usize::try_from(count) {
            Ok(count) if count > 0 => done += count,
            _ => return false,
        }
    }
    true
}

impl Clone for HostMemory {
    fn clone(&self) -> Self {
        Self::from_bytes(self.bytes())
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // SAFETY: made by `alloc` with the same layout.
        unsafe { dealloc(self.start.as_ptr(), Self::layout(self.len)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guarded::GuardedMemory;

    #[test]
    fn zeros_writable_bytes_and_reports_inaccessible_page() {
        static NAME: &str = "a test's memory";
        let mut memory = GuardedMemory::new(5000, &NAME);
        let start = memory.bytes_mut().as_mut_ptr();
        // SAFETY: the bytes are those of `memory`, which are no values of this process.
        assert!(unsafe { zero_if_writable(start, 5000) });
        assert!(memory.bytes().iter().all(|byte| *byte == 0));
        // SAFETY: as above; the byte after them is in a page without access.
        assert!(!unsafe { zero_if_writable(start, 5001) });
    }
}
