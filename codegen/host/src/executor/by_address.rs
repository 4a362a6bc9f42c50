//! Copies with host memory by its address, in each direction, enqueued or synchronous.

use super::{DeviceMemoryBlock, Executor, StreamHandle};
use crate::Error;
use crate::call::Ptr;

impl Executor {
    /// Enqueues a copy of `size` bytes at `source`.
    ///
    /// # Safety
    /// - The bytes are readable until the stream is done with the copy, also if this function returns an error.
    pub(crate) unsafe fn htod_from(
        &self,
        stream: StreamHandle,
        target: DeviceMemoryBlock,
        (source, size): (*const u8, usize),
    ) -> Result<(), Error> {
        let target = self.memory(target)?;
        device_call!(
            self, "memcpy_htod",
            (stream.0, target.address(), source, size as u64): (Ptr, Ptr, *const u8, u64)
        )
    }

    /// Enqueues a copy of `size` bytes to `target`.
    ///
    /// # Safety
    /// - The bytes are writable, and no value of this process is in them, until the stream is done with the copy, also if
    ///   this function returns an error.
    pub(crate) unsafe fn dtoh_to(
        &self,
        stream: StreamHandle,
        (target, size): (*mut u8, usize),
        source: DeviceMemoryBlock,
    ) -> Result<(), Error> {
        let source = self.memory(source)?;
        device_call!(
            self, "memcpy_dtoh",
            (stream.0, target, source.address(), size as u64): (Ptr, *mut u8, Ptr, u64)
        )
    }

    /// Copies `size` bytes at `source` to the device.
    ///
    /// # Safety
    /// - The bytes are readable until this function returns.
    pub(super) unsafe fn sync_htod_by_address(
        &self,
        target: DeviceMemoryBlock,
        (source, size): (*const u8, usize),
    ) -> Result<(), Error> {
        let target = self.memory(target)?;
        device_call!(self, "sync_memcpy_htod", (target.address(), source, size as u64): (Ptr, *const u8, u64))
    }

    /// Copies `size` bytes from the device to `target`.
    ///
    /// # Safety
    /// - The bytes are writable, and no value of this process is in them, until this function returns.
    pub(super) unsafe fn sync_dtoh_by_address(
        &self,
        (target, size): (*mut u8, usize),
        source: DeviceMemoryBlock,
    ) -> Result<(), Error> {
        let source = self.memory(source)?;
        device_call!(self, "sync_memcpy_dtoh", (target, source.address(), size as u64): (*mut u8, Ptr, u64))
    }
}
