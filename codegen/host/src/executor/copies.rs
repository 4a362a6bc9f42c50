//! Copies and fills, enqueued or synchronous. An enqueued copy uses host memory that lasts as long as the process: the stream
//! may use it after a check has failed.

use super::{DeviceMemoryBlock, Executor, StreamHandle};
use crate::Error;
use crate::call::Ptr;
use crate::host_bytes::HostBytes;

impl Executor {
    /// Enqueues a copy of `source`.
    pub fn htod(
        &self,
        stream: StreamHandle,
        target: DeviceMemoryBlock,
        source: HostBytes,
    ) -> Result<(), Error> {
        // SAFETY: the bytes last as long as the process.
        unsafe { self.htod_from(stream, target, source.source()) }
    }

    /// Enqueues a copy into `target`.
    pub fn dtoh(
        &self,
        stream: StreamHandle,
        target: HostBytes,
        source: DeviceMemoryBlock,
    ) -> Result<(), Error> {
        // SAFETY: the bytes last as long as the process, and are atomic numbers, which may change at any time.
        unsafe { self.dtoh_to(stream, target.target(), source) }
    }

    pub fn dtod(
        &self,
        stream: StreamHandle,
        target: DeviceMemoryBlock,
        source: DeviceMemoryBlock,
        size: u64,
    ) -> Result<(), Error> {
        let (target, source) = (self.memory(target)?, self.memory(source)?);
        device_call!(
            self, "memcpy_dtod",
            (stream.0, target.address(), source.address(), size): (Ptr, Ptr, Ptr, u64)
        )
    }

    pub fn sync_htod(&self, target: DeviceMemoryBlock, source: &[u8]) -> Result<(), Error> {
        // SAFETY: the slice is borrowed until the call returns.
        unsafe { self.sync_htod_by_address(target, (source.as_ptr(), source.len())) }
    }

    pub fn sync_dtoh(&self, target: &mut [u8], source: DeviceMemoryBlock) -> Result<(), Error> {
        // SAFETY: the slice is borrowed until the call returns, and any bytes are valid in it.
        unsafe { self.sync_dtoh_by_address((target.as_mut_ptr(), target.len()), source) }
    }

    /// Copies `source`, which a plugin may read too late.
    pub fn sync_htod_from(
        &self,
        target: DeviceMemoryBlock,
        source: HostBytes,
    ) -> Result<(), Error> {
        // SAFETY: the bytes last as long as the process.
        unsafe { self.sync_htod_by_address(target, source.source()) }
    }

    /// Copies into `target`, which a plugin may write too late.
    pub fn sync_dtoh_to(&self, target: HostBytes, source: DeviceMemoryBlock) -> Result<(), Error> {
        // SAFETY: the bytes last as long as the process, and are atomic numbers, which may change at any time.
        unsafe { self.sync_dtoh_by_address(target.target(), source) }
    }

    pub fn sync_dtod(
        &self,
        target: DeviceMemoryBlock,
        source: DeviceMemoryBlock,
        size: u64,
    ) -> Result<(), Error> {
        let (target, source) = (self.memory(target)?, self.memory(source)?);
        device_call!(self, "sync_memcpy_dtod", (target.address(), source.address(), size): (Ptr, Ptr, u64))
    }

    pub fn mem_zero(
        &self,
        stream: StreamHandle,
        target: DeviceMemoryBlock,
        size: u64,
    ) -> Result<(), Error> {
        let target = self.memory(target)?;
        device_call!(self, "mem_zero", (stream.0, target.address(), size): (Ptr, Ptr, u64))
    }

    pub fn memset(
        &self,
        stream: StreamHandle,
        target: DeviceMemoryBlock,
        pattern: u8,
        size: u64,
    ) -> Result<(), Error> {
        let target = self.memory(target)?;
        device_call!(self, "memset", (stream.0, target.address(), pattern, size): (Ptr, Ptr, u8, u64))
    }

    pub fn memset32(
        &self,
        stream: StreamHandle,
        target: DeviceMemoryBlock,
        pattern: u32,
        size: u64,
    ) -> Result<(), Error> {
        let target = self.memory(target)?;
        device_call!(self, "memset32", (stream.0, target.address(), pattern, size): (Ptr, Ptr, u32, u64))
    }
}
