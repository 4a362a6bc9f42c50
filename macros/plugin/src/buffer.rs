//! Host memory as TensorFlow requires it: aligned to 256 bytes, which 2.22 asks for; 64 suffice before.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use crate::{Error, Result};

/// TensorFlow aborts on host memory that is aligned to less.
pub const ALIGNMENT: usize = 256;

/// An owned block of zeroed host memory, [`ALIGNMENT`] aligned, never null.
pub struct Buffer {
    start: NonNull<u8>,
    layout: Layout,
}

impl Buffer {
    /// A block of `bytes`; an empty one has an address of its own too.
    pub fn zeroed(bytes: usize) -> Result<Self> {
        let too_large = || Error::exhausted(format!("{bytes} bytes of host memory"));
        let layout = Layout::from_size_align(bytes.max(1), ALIGNMENT).map_err(|_| too_large())?;
        // SAFETY: the layout's size is not 0.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(too_large)?;
        Ok(Self { start, layout })
    }

    /// Its first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and only once.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}
