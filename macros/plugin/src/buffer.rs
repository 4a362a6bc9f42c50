//! Host memory with the alignment that TensorFlow requires: 256 bytes from 2.22 on, 64 in earlier releases.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use crate::{Error, Result};

/// Alignment of host memory; TensorFlow aborts if memory has a smaller one.
pub const ALIGNMENT: usize = 256;

/// An owned block of zeroed host memory, [`ALIGNMENT`] aligned, never null.
pub struct Buffer {
    start: NonNull<u8>,
    layout: Layout,
}

impl Buffer {
    /// Allocates `bytes` zeroed bytes. An empty block has an address of its own too.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn zeroed(bytes: usize) -> Result<Self> {
        let too_large =
            || Error::resource_exhausted(format!("{bytes} bytes of host memory are not available"));
        let layout = Layout::from_size_align(bytes.max(1), ALIGNMENT).map_err(|_| too_large())?;
        // SAFETY: the size of the layout is at least 1.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(too_large)?;
        Ok(Self { start, layout })
    }

    /// Returns the address of the first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: `zeroed` allocated the block with this layout, and it is freed only here.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}
