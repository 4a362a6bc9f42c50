//! Host memory that has an owner, such as a driver.

use std::any::Any;
use std::ptr::NonNull;
use std::slice;

use crate::Result;
use crate::buffer::{ALIGNMENT, Buffer};

/// An owned block of host memory, from which and to which a device copies, or which becomes the memory of a tensor.
pub struct HostMemory {
    start: NonNull<u8>,
    len: usize,
    _owner: Box<dyn Any + Send + Sync>,
}

// SAFETY: the memory belongs to the owner, which is `Send + Sync`.
unsafe impl Send for HostMemory {}
// SAFETY: a shared value yields only shared slices of bytes that nobody writes.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// Allocates memory of the process.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn zeroed(bytes: usize) -> Result<Self> {
        let buffer = Buffer::zeroed(bytes)?;
        // SAFETY: the buffer has as many bytes, which are zeros, and lives as long as the value. Nobody else has it.
        Ok(unsafe { Self::from_raw_parts(buffer.start(), bytes, Box::new(buffer)) })
    }

    /// Creates the value for memory that a driver has allocated. Dropping `owner` frees it, on any thread.
    ///
    /// # Safety
    /// - `start` is the address of `len` bytes, at most `isize::MAX`, that the process can read and write until `owner` is
    ///   dropped.
    /// - The bytes are initialized: if the driver does not write them, the caller writes zeros.
    /// - Nobody else uses them.
    pub unsafe fn from_raw_parts(
        start: NonNull<u8>,
        len: usize,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Self {
        let _owner = owner;
        Self { start, len, _owner }
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: the bytes are readable, initialized and not used by others, as `from_raw_parts` requires.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// Returns the bytes.
    pub fn as_mut_bytes(&mut self) -> &mut [u8] {
        // SAFETY: as above. The bytes are writable, and the value is borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// Returns the address of the first byte.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    len_methods!("bytes", self => self.len);

    /// Returns the first address that is aligned as TensorFlow requires, if `bytes` bytes fit behind it.
    pub(crate) fn aligned(&self, bytes: usize) -> Option<NonNull<u8>> {
        let skipped = self.start.as_ptr().align_offset(ALIGNMENT);
        let fits = skipped.checked_add(bytes).is_some_and(|it| it <= self.len);
        // SAFETY: the offset is within the block.
        fits.then(|| unsafe { self.start.add(skipped) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_owner_which_is_dropped_once() {
        use std::sync::Arc;

        struct Owner(#[expect(dead_code, reason = "counted")] Arc<()>, Buffer);
        let count = Arc::new(());
        let owner = Box::new(Owner(count.clone(), Buffer::zeroed(4).unwrap()));
        let start = owner.1.start();
        // SAFETY: the owner has four zeroed bytes.
        let mut memory = unsafe { HostMemory::from_raw_parts(start, 4, owner) };
        memory.as_mut_bytes()[3] = 7;
        assert_eq!(memory.as_bytes(), [0, 0, 0, 7]);
        assert_eq!(Arc::strong_count(&count), 2);
        drop(memory);
        assert_eq!(Arc::strong_count(&count), 1);
    }
}
