//! Copies and fills, enqueued or synchronous.

use super::{DeviceMemoryBlock, Executor, StreamHandle};
use crate::Error;
use crate::call::{Ptr, status_call};

impl Executor {
    /// Enqueues a copy of `source`, which must last until the stream is done with it.
    pub fn htod(
        &self,
        stream: StreamHandle,
        target: DeviceMemoryBlock,
        source: &[u8],
    ) -> Result<(), Error> {
        self.htod_from(stream, target, (source.as_ptr(), source.len()))
    }

    /// Enqueues a copy into `target`, which must last until the stream is done with it.
    pub fn dtoh(
        &self,
        stream: StreamHandle,
        target: &mut [u8],
        source: DeviceMemoryBlock,
    ) -> Result<(), Error> {
        self.dtoh_to(stream, (target.as_mut_ptr(), target.len()), source)
    }

    pub fn dtod(
        &self,
        stream: StreamHandle,
        target: DeviceMemoryBlock,
        source: DeviceMemoryBlock,
        size: u64,
    ) -> Result<(), Error> {
        let (target, source) = (self.memory(target)?, self.memory(source)?);
        status_call!(
            self.table, "memcpy_dtod",
            (self.device(), stream.0, target.address(), source.address(), size): (Ptr, Ptr, Ptr, Ptr, u64, Ptr)
        )
    }

    pub fn sync_htod(&self, target: DeviceMemoryBlock, source: &[u8]) -> Result<(), Error> {
        self.sync_htod_from(target, (source.as_ptr(), source.len()))
    }

    pub fn sync_dtoh(&self, target: &mut [u8], source: DeviceMemoryBlock) -> Result<(), Error> {
        self.sync_dtoh_to((target.as_mut_ptr(), target.len()), source)
    }

    pub fn sync_dtod(
        &self,
        target: DeviceMemoryBlock,
        source: DeviceMemoryBlock,
        size: u64,
    ) -> Result<(), Error> {
        let (target, source) = (self.memory(target)?, self.memory(source)?);
        status_call!(
            self.table, "sync_memcpy_dtod",
            (self.device(), target.address(), source.address(), size): (Ptr, Ptr, Ptr, u64, Ptr)
        )
    }

    pub fn mem_zero(
        &self,
        stream: StreamHandle,
        target: DeviceMemoryBlock,
        size: u64,
    ) -> Result<(), Error> {
        let target = self.memory(target)?;
        status_call!(
            self.table, "mem_zero",
            (self.device(), stream.0, target.address(), size): (Ptr, Ptr, Ptr, u64, Ptr)
        )
    }

    pub fn memset(
        &self,
        stream: StreamHandle,
        target: DeviceMemoryBlock,
        pattern: u8,
        size: u64,
    ) -> Result<(), Error> {
        let target = self.memory(target)?;
        status_call!(
            self.table, "memset",
            (self.device(), stream.0, target.address(), pattern, size): (Ptr, Ptr, Ptr, u8, u64, Ptr)
        )
    }

    pub fn memset32(
        &self,
        stream: StreamHandle,
        target: DeviceMemoryBlock,
        pattern: u32,
        size: u64,
    ) -> Result<(), Error> {
        let target = self.memory(target)?;
        status_call!(
            self.table, "memset32",
            (self.device(), stream.0, target.address(), pattern, size): (Ptr, Ptr, Ptr, u32, u64, Ptr)
        )
    }
}
