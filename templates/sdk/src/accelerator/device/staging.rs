//! Host memory of the layer, for commands that may run after a call of TensorFlow has returned.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use crate::accelerator::{Accelerator, HostMemory, HostSource, HostTarget};
use crate::buffer::ALIGNMENT;
use crate::{Error, Result};

/// Memory that commands use in place of TensorFlow's. It is leaked unless [`into_memory`](Self::into_memory) is called: after
/// an error, or a panic of the author's, a command may still use it.
pub(super) struct Staging {
    memory: ManuallyDrop<HostMemory>,
    start: NonNull<u8>,
    len: usize,
}

impl Staging {
    /// Allocates memory.
    ///
    /// # Errors
    /// Returns the driver's error.
    pub fn new<A: Accelerator>(accelerator: &A, len: usize) -> Result<Self> {
        let (memory, start) = allocate(accelerator, len)?;
        let memory = ManuallyDrop::new(memory);
        Ok(Self { memory, start, len })
    }

    /// Allocates memory with the bytes of a source.
    ///
    /// # Errors
    /// Returns the driver's error.
    pub fn copy_of<A: Accelerator>(accelerator: &A, source: HostSource<'_>) -> Result<Self> {
        let staging = Self::new(accelerator, source.len())?;
        let start = staging.start.as_ptr();
        // SAFETY: both have `len` bytes, and nobody else has the memory.
        unsafe { source.as_ptr().copy_to_nonoverlapping(start, staging.len) };
        Ok(staging)
    }

    /// Returns the memory for a command that reads it.
    ///
    /// # Safety
    /// Until the command has completed:
    /// - Nobody writes to the memory.
    /// - The memory is not dropped.
    pub unsafe fn source(&self) -> HostSource<'_> {
        // SAFETY: the memory has `len` bytes. The caller has the other obligations.
        unsafe { HostSource::new(self.start.as_ptr(), self.len) }
    }

    /// Returns the memory for a command that writes it.
    ///
    /// # Safety
    /// Until the command has completed:
    /// - Nobody else uses the memory.
    /// - The memory is not dropped.
    pub unsafe fn target(&mut self) -> HostTarget<'_> {
        // SAFETY: the memory has `len` bytes. The caller has the other obligations.
        unsafe { HostTarget::new(self.start.as_ptr(), self.len) }
    }

    /// Returns the address of the first byte.
    pub fn as_ptr(&self) -> *const u8 {
        self.start.as_ptr()
    }

    /// Returns the memory, whose commands have completed or share a use count of it.
    pub fn into_memory(self) -> HostMemory {
        ManuallyDrop::into_inner(self.memory)
    }
}

/// Allocates a block of the driver's host memory. Returns it with the address of `bytes` bytes in it, aligned as
/// TensorFlow requires.
///
/// # Errors
/// Returns the driver's error, or one if the block is too short.
pub(super) fn allocate<A: Accelerator>(
    accelerator: &A,
    bytes: usize,
) -> Result<(HostMemory, NonNull<u8>)> {
    let mut memory = accelerator.host_allocate(bytes)?;
    if memory.aligned(bytes).is_none() {
        memory = accelerator.host_allocate(bytes.saturating_add(ALIGNMENT))?;
    }
    let short = || Error::resource_exhausted("the driver's host memory is too short");
    let start = memory.aligned(bytes).ok_or_else(short)?;
    Ok((memory, start))
}
