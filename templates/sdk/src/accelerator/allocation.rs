//! Device memory: blocks, and the regions of a block that commands use.

use std::fmt;
use std::mem::{self, ManuallyDrop};
use std::sync::{Arc, Mutex, PoisonError};

use sp_runtime::AddressRange;
use sp_runtime::fork::Process;

use super::Accelerator;
use crate::{Error, Result};

/// An allocation, at the address that TensorFlow has for it. Its memory outlives it, since commands may use it: a kernel can
/// drop the last region before its commands have completed, and in a host function.
pub(super) struct Block<A: Accelerator> {
    memory: ManuallyDrop<BlockMemory<A>>,
    pub start: usize,
    pub bytes: usize,
    dropped: Dropped<A>,
    process: Process,
}

/// The memory of a block.
pub(super) struct BlockMemory<A: Accelerator> {
    allocation: A::Allocation,
    _addresses: Option<AddressRange>,
}

/// The memory of a device's blocks that nobody has any more, until the device frees it.
pub(super) struct Dropped<A: Accelerator>(Arc<Mutex<Vec<BlockMemory<A>>>>);

impl<A: Accelerator> Block<A> {
    /// Gives an allocation an address. Its memory goes to `dropped`.
    ///
    /// # Errors
    /// Returns an error if the process has no addresses left.
    pub fn new(allocation: A::Allocation, bytes: usize, dropped: Dropped<A>) -> Result<Self> {
        let (start, _addresses) = match A::address(&allocation) {
            Some(start) => (start.get(), None),
            None => {
                let range = AddressRange::reserve(bytes)?;
                (range.start().as_ptr() as usize, Some(range))
            }
        };
        let memory = ManuallyDrop::new(BlockMemory {
            allocation,
            _addresses,
        });
        Ok(Self {
            memory,
            start,
            bytes,
            dropped,
            process: Process::current(),
        })
    }
}

impl<A: Accelerator> Drop for Block<A> {
    /// Leaks the memory in a forked child, whose locks may be held by threads of the parent.
    fn drop(&mut self) {
        // SAFETY: the field is not used again.
        let memory = unsafe { ManuallyDrop::take(&mut self.memory) };
        match self.process.is_current() {
            true => self.dropped.push(memory),
            false => mem::forget(memory),
        }
    }
}

impl<A: Accelerator> Dropped<A> {
    pub fn new() -> Self {
        Self(Arc::default())
    }

    fn push(&self, memory: BlockMemory<A>) {
        let mut dropped = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        dropped.push(memory);
    }

    /// Returns the memory, and forgets it.
    pub fn take(&self) -> Vec<BlockMemory<A>> {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns true if there is no such memory.
    pub fn is_empty(&self) -> bool {
        let dropped = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        dropped.is_empty()
    }
}

impl<A: Accelerator> Clone for Dropped<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// A part of an allocation. It holds the allocation; after TensorFlow has freed that, the memory is freed once the commands are
/// complete that were enqueued before the last region of it was dropped.
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
            return fail!(
                invalid_argument,
                "{len} bytes at offset {offset} of an allocation of {} bytes",
                block.bytes
            );
        }
        Ok(Self { block, offset, len })
    }

    /// Returns the allocation.
    pub fn allocation(&self) -> &A::Allocation {
        &self.block.memory.allocation
    }

    /// Returns the offset in the allocation, in bytes.
    pub fn offset(&self) -> usize {
        self.offset
    }

    len_methods!("bytes", self => self.len);

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
