//! Copies with host memory by its address: the caller may read and write it while a copy is enqueued.

use super::{DeviceMemoryBlock, Executor, StreamHandle};
use crate::Error;
use crate::call::{Ptr, status_call};

impl Executor {
    /// Enqueues a copy of `size` bytes at `source`, which must last until the stream is done with it.
    pub(crate) fn htod_from(
        &self,
        stream: StreamHandle,
        target: DeviceMemoryBlock,
        (source, size): (*const u8, usize),
    ) -> Result<(), Error> {
        let target = self.memory(target)?;
        status_call!(
            self.table, "memcpy_htod",
            (self.device(), stream.0, target.address(), source, size as u64): (Ptr, Ptr, Ptr, *const u8, u64, Ptr)
        )
    }

    /// Enqueues a copy of `size` bytes to `target`, which must last until the stream is done with it.
    pub(crate) fn dtoh_to(
        &self,
        stream: StreamHandle,
        (target, size): (*mut u8, usize),
        source: DeviceMemoryBlock,
    ) -> Result<(), Error> {
        let source = self.memory(source)?;
        status_call!(
            self.table, "memcpy_dtoh",
            (self.device(), stream.0, target, source.address(), size as u64): (Ptr, Ptr, *mut u8, Ptr, u64, Ptr)
        )
    }

    /// Copies `size` bytes at `source` to the device.
    pub(crate) fn sync_htod_from(
        &self,
        target: DeviceMemoryBlock,
        (source, size): (*const u8, usize),
    ) -> Result<(), Error> {
        let target = self.memory(target)?;
        status_call!(
            self.table, "sync_memcpy_htod",
            (self.device(), target.address(), source, size as u64): (Ptr, Ptr, *const u8, u64, Ptr)
        )
    }

    /// Copies `size` bytes from the device to `target`.
    pub(crate) fn sync_dtoh_to(
        &self,
        (target, size): (*mut u8, usize),
        source: DeviceMemoryBlock,
    ) -> Result<(), Error> {
        let source = self.memory(source)?;
        status_call!(
            self.table, "sync_memcpy_dtoh",
            (self.device(), target, source.address(), size as u64): (Ptr, *mut u8, Ptr, u64, Ptr)
        )
    }
}
