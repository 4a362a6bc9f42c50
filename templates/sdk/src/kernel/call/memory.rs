//! The device memory of a call, in place or through copies.

use super::Call;
use crate::access::{Copies, DeviceMemory, HostMemory};
use crate::buffer::Buffer;
use crate::tensor::{Tensor, address};
use crate::{Error, MemoryAccess, Result};

/// The device memory of a call as the host uses it.
#[derive(Clone, Copy)]
pub(in crate::kernel) struct CallMemory<'c> {
    /// `None` if the host has no access. It is asked for once, since the functions of `memory` are called indirectly.
    access: Option<MemoryAccess>,
    memory: &'c dyn DeviceMemory,
}

impl<'c> CallMemory<'c> {
    /// The memory of a device, in place.
    pub const IN_PLACE: Self = Self {
        access: Some(MemoryAccess::InPlace),
        memory: &HostMemory,
    };

    /// The memory of a device that the host does not access.
    pub const CLOSED: Self = Self {
        access: None,
        memory: &HostMemory,
    };

    /// Returns the memory of a device.
    pub fn new(memory: &'c dyn DeviceMemory) -> Self {
        Self {
            access: Some(memory.access()),
            memory,
        }
    }
}

impl<'c> Call<'c> {
    /// Copies a tensor from device memory that the host cannot address; `None` if the host can.
    #[inline]
    pub(in crate::kernel) fn staging_copy(
        &self,
        tensor: &Tensor,
        is_host: bool,
    ) -> Result<Option<Buffer>> {
        match is_host {
            true => Ok(None),
            false => self
                .staged_memory()?
                .map(|memory| self.fetch(memory, tensor))
                .transpose(),
        }
    }

    /// Returns true if an input needs no copy, and its address does not have to be checked. `is_read` is true if the host
    /// reads it in device memory, which is recorded.
    #[inline]
    pub(in crate::kernel) fn fetches_in_place(&self, is_read: bool) -> bool {
        if !self.forwarded.is_empty() {
            return false;
        }
        if !is_read {
            return true;
        }
        let is_in_place =
            self.memory.access == Some(MemoryAccess::InPlace) && !self.has_reference.get();
        self.has_input_in_place
            .set(self.has_input_in_place.get() || is_in_place);
        is_in_place
    }

    /// Returns true if the host writes an output in place at once.
    #[inline]
    pub(in crate::kernel) fn writes_in_place(&self, is_host: bool) -> bool {
        is_host || self.memory.access == Some(MemoryAccess::InPlace)
    }

    /// Copies an input in device memory, unless the host can address it and no reference variable can change it.
    #[inline]
    pub(super) fn input_copy(&self, tensor: &Tensor) -> Result<Option<Buffer>> {
        let copy = self.staging_copy(tensor, false)?;
        if copy.is_none() && self.has_reference.get() {
            return private_copy(tensor).map(Some);
        }
        self.has_input_in_place
            .set(copy.is_none() || self.has_input_in_place.get());
        Ok(copy)
    }

    /// Copies the value of a variable, unless the host can address it and it has no other user. TensorFlow may pass the
    /// buffer of a reference variable as another input too.
    pub(in crate::kernel) fn variable_copy(
        &self,
        tensor: &Tensor,
        is_reference: bool,
    ) -> Result<Option<Buffer>> {
        // Core may have copied the value to new memory.
        self.settle()?;
        match self.staging_copy(tensor, false)? {
            None if is_reference => private_copy(tensor).map(Some),
            copy => Ok(copy),
        }
    }

    /// Records that an input is a reference variable, so that later inputs are copied.
    ///
    /// # Errors
    /// Returns an error if the host has an input in place, which the variable could change.
    pub(in crate::kernel) fn record_reference(&self) -> Result<()> {
        self.has_reference.set(true);
        match self.has_input_in_place.get() {
            false => Ok(()),
            true => Err(Error::internal(
                "a reference variable has to be a parameter before the tensors that the kernel reads",
            )),
        }
    }

    /// Allocates host memory for a new tensor in device memory that the host cannot address; `None` if the host can,
    /// once the memory has no other user.
    #[inline]
    pub(in crate::kernel) fn staging_buffer(
        &self,
        bytes: usize,
        is_host: bool,
    ) -> Result<Option<Buffer>> {
        if is_host {
            return Ok(None);
        }
        match self.memory.access {
            Some(MemoryAccess::InPlace) => Ok(None),
            Some(MemoryAccess::InPlaceAfterWait) => self.memory.memory.settle().map(|()| None),
            Some(MemoryAccess::Staged) => self.memory.memory.allocate(bytes).map(Some),
            None => Err(no_access()),
        }
    }

    /// Waits for work that may still use device memory which TensorFlow has just allocated.
    pub(in crate::kernel) fn settle(&self) -> Result<()> {
        match self.memory.access {
            Some(_) => self.memory.memory.settle(),
            None => Err(no_access()),
        }
    }

    /// Returns the device's memory if the host reaches it by copies only.
    #[inline]
    pub(in crate::kernel) fn staged_memory(&self) -> Result<Option<&'c dyn DeviceMemory>> {
        match self.memory.access {
            Some(MemoryAccess::Staged) => Ok(Some(self.memory.memory)),
            Some(_) => Ok(None),
            None => Err(no_access()),
        }
    }

    fn fetch(&self, memory: &dyn DeviceMemory, tensor: &Tensor) -> Result<Buffer> {
        // SAFETY: the tensor has as many bytes.
        unsafe { memory.fetch(tensor.data()?, tensor.bytes()?) }
    }

    /// Copies a buffer to a tensor in device memory.
    ///
    /// # Errors
    /// Returns an error if the buffer has fewer bytes than the tensor, or if it cannot be copied.
    pub(in crate::kernel) fn store(
        &self,
        memory: &dyn DeviceMemory,
        copy: Buffer,
        tensor: &Tensor,
    ) -> Result<()> {
        let bytes = checked_len(tensor, &copy)?;
        // SAFETY: the tensor has as many bytes, and the buffer is not shorter.
        unsafe { memory.store(tensor.data()?, copy, bytes) }
    }

    /// Copies a changed value to the variable.
    ///
    /// # Errors
    /// Returns an error if the buffer has fewer bytes than the tensor, or if it cannot be copied.
    pub(in crate::kernel) fn store_variable(&self, copy: Buffer, tensor: &Tensor) -> Result<()> {
        if let Some(memory) = self.staged_memory()? {
            return self.store(memory, copy, tensor);
        }
        // Work that this call has enqueued may read the variable's buffer, as another input in device memory.
        self.settle()?;
        let bytes = checked_len(tensor, &copy)?;
        let target = address::<u8>(tensor.data()?, bytes)?;
        // SAFETY: the host can address the tensor, and the buffer is not shorter. No slice of the tensor exists, since inputs
        // beside a reference variable are copies, and no enqueued work has one after the wait.
        unsafe { target.copy_from_nonoverlapping(copy.start(), bytes) };
        Ok(())
    }

    /// Returns what the call has copied between host and device; `None` if the host has no copies.
    #[inline]
    pub(in crate::kernel) fn copies(&self) -> Option<Copies> {
        let is_staged = self.memory.access == Some(MemoryAccess::Staged);
        is_staged.then(|| self.memory.memory.copies())
    }
}

/// Returns the size of the tensor in bytes, if the buffer is not shorter.
fn checked_len(tensor: &Tensor, copy: &Buffer) -> Result<usize> {
    let (bytes, len) = (tensor.bytes()?, copy.byte_len());
    match len >= bytes {
        true => Ok(bytes),
        false => fail!(
            internal,
            "a copy of {len} bytes for a tensor of {bytes} bytes"
        ),
    }
}

/// Copies a tensor that the host can address.
fn private_copy(tensor: &Tensor) -> Result<Buffer> {
    let bytes = tensor.bytes()?;
    let copy = Buffer::zeroed(bytes)?;
    if bytes > 0 {
        // SAFETY: tensor and buffer have `bytes` bytes, and the buffer is a new one.
        unsafe {
            copy.start()
                .copy_from_nonoverlapping(address(tensor.data()?, bytes)?, bytes)
        };
    }
    Ok(copy)
}

#[cold]
fn no_access() -> Error {
    Error::internal("the host has no access to device memory in this kernel")
}
