//! Device memory: blocks, and the regions of a block that commands use.

use std::fmt;
use std::sync::Arc;

use sp_runtime::AddressRange;

use super::Accelerator;
use crate::{Error, Result};

/// An allocation, at the address that TensorFlow has for it.
pub(super) struct Block<A: Accelerator> {
    pub allocation: A::Allocation,
    pub start: usize,
    pub bytes: usize,
    _addresses: Option<AddressRange>,
}

impl<A: Accelerator> Block<A> {
    /// Gives an allocation an address.
    ///
    /// # Errors
    /// Returns an error if the process has no addresses left.
    pub fn new(allocation: A::Allocation, bytes: usize) -> Result<Self> {
        let (start, _addresses) = match A::address(&allocation) {
            Some(start) => (start.get(), None),
            None => {
                let range = AddressRange::reserve(bytes)?;
                (range.start().as_ptr() as usize, Some(range))
            }
        };
        Ok(Self {
            allocation,
            start,
            bytes,
            _addresses,
        })
    }
}

/// A part of an allocation. It holds the allocation.
pub struct Region<A: Accelerator> {
    block: Arc<Block<A>>,
    offset: usize,
    len: usize,
}

impl<A: Accelerator> Region<A> {
    /// Returns a part of a block.
    ///
    /// # Errors
    /// Returns an error if the block ends before it.
    pub(super) fn new(block: Arc<Block<A>>, offset: usize, len: usize) -> Result<Self> {
        let end = offset.checked_add(len);
        if end.is_none_or(|end| end > block.bytes) {
            return Err(Error::invalid_argument(format!(
                "{len} bytes at offset {offset} of an allocation of {} bytes",
                block.bytes
            )));
        }
        Ok(Self { block, offset, len })
    }

    /// Returns the allocation.
    pub fn allocation(&self) -> &A::Allocation {
        &self.block.allocation
    }

    /// Returns the offset in the allocation, in bytes.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns a part of the region.
    ///
    /// # Errors
    /// Returns an error if the region ends before it.
    pub fn slice(&self, offset: usize, len: usize) -> Result<Self> {
        if offset.checked_add(len).is_none_or(|end| end > self.len) {
            let message = format!("{len} bytes at {offset} of a region of {} bytes", self.len);
            return Err(Error::invalid_argument(message));
        }
        Self::new(self.block.clone(), self.offset + offset, len)
    }
}

impl<A: Accelerator> Clone for Region<A> {
    fn clone(&self) -> Self {
        Self {
            block: self.block.clone(),
            ..*self
        }
    }
}

impl<A: Accelerator> fmt::Debug for Region<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end) = (self.offset, self.offset + self.len);
        write!(f, "{start}..{end} of {} bytes", self.block.bytes)
    }
}
