//! Copies from the host and to it.

use std::sync::Arc;

use sp_runtime::guard::catch_panic;

use super::Shared;
use super::memory::RetiredMemory;
use super::staging::Staging;
use crate::Result;
use crate::accelerator::stream::{Command, StreamState};
use crate::accelerator::{Accelerator, HostSource, HostTarget, Queue, limits};
use crate::trace::Direction;

impl<A: Accelerator> Shared<A> {
    /// Enqueues a copy from the host. With a time limit an event may complete before the copy, so that TensorFlow frees the
    /// source: the copy then reads memory of the layer. Without one, TensorFlow may free the source after an error or a panic,
    /// for which the copy has to end.
    pub fn copy_in(
        &self,
        stream: &StreamState<A>,
        target: usize,
        source: HostSource<'_>,
    ) -> Result<()> {
        match limits::timeout() {
            None => {
                let enqueue = || self.enqueue_copy_in(stream, target, source);
                let enqueued = catch_panic("a copy from the host", enqueue);
                enqueued.inspect_err(|_| _ = self.drain_without_limit(stream))
            }
            Some(_) => self.copy_in_from_copy(stream, target, source),
        }
    }

    /// Enqueues a copy from memory of the layer with the source's bytes. It is dropped after the work of the stream.
    pub(in crate::accelerator) fn copy_in_from_copy(
        &self,
        stream: &StreamState<A>,
        target: usize,
        source: HostSource<'_>,
    ) -> Result<()> {
        let staging = Staging::copy_of(&self.accelerator, source)?;
        // SAFETY: nobody writes the memory. The stream shares its use count until the copy is complete.
        let enqueued = self.enqueue_copy_in(stream, target, unsafe { staging.source() });
        let use_count = Arc::new(());
        stream.hold(&use_count);
        let memory = RetiredMemory::Host(staging.into_memory());
        self.memory.retire(use_count, memory);
        enqueued
    }

    fn enqueue_copy_in(
        &self,
        stream: &StreamState<A>,
        target: usize,
        source: HostSource<'_>,
    ) -> Result<()> {
        self.check()?;
        let target = self.region(target, source.len())?;
        let command = Command::Copy(Direction::ToDevice, source.len());
        stream.enqueue_marked(command, |queue| queue.copy_in(&target, source))
    }

    /// Copies from the host and waits.
    pub fn copy_in_and_wait(&self, target: usize, source: HostSource<'_>) -> Result<()> {
        match limits::timeout() {
            None => self.transfer(|stream| self.copy_in(stream, target, source)),
            Some(_) => self.copy_in_staged(target, source),
        }
    }

    /// Copies from memory that lives as long as the command, which may run after the time limit.
    pub(in crate::accelerator) fn copy_in_staged(
        &self,
        target: usize,
        source: HostSource<'_>,
    ) -> Result<()> {
        let staging = Staging::copy_of(&self.accelerator, source)?;
        let stream = self.transfers()?;
        // SAFETY: nobody writes the memory, and it is not dropped before the copy is complete.
        self.enqueue_copy_in(&stream, target, unsafe { staging.source() })?;
        stream.wait_for_commands()?;
        drop(staging.into_memory());
        Ok(())
    }

    /// Copies to the host after the work of the stream. It waits: only then is it known whether the work has failed, and
    /// TensorFlow does not ask again. After a failure the target has bytes that no computation gives, which are NaN.
    pub fn copy_out(
        &self,
        stream: &StreamState<A>,
        mut target: HostTarget<'_>,
        source: usize,
    ) -> Result<()> {
        let (start, len) = (target.as_mut_ptr(), target.len());
        let (copied, is_unused) = match (self.check(), limits::timeout()) {
            (Err(error), _) => (Err(error), true),
            (Ok(()), None) => {
                let copy = || self.copy_out_and_wait(stream, target, source);
                let copied = catch_panic("a copy to the host", copy);
                let is_drained = copied.is_err() && self.drain_without_limit(stream);
                (copied, is_drained)
            }
            (Ok(()), Some(_)) => (self.copy_out_staged(stream, target, source), true),
        };
        if copied.is_err() && is_unused {
            // SAFETY: the memory is TensorFlow's target for these bytes, and no command writes to it: none was enqueued, the
            // stream is drained, or its commands write to memory of the layer.
            unsafe { start.write_bytes(u8::MAX, len) };
        }
        copied
    }

    fn copy_out_and_wait(
        &self,
        stream: &StreamState<A>,
        target: HostTarget<'_>,
        source: usize,
    ) -> Result<()> {
        let delivery = target.delivery();
        self.enqueue_copy_out(stream, target, source)?;
        stream.wait_for_commands()?;
        // SAFETY: the caller's target is valid until this function returns, and the queue's copy is complete.
        unsafe { delivery.write() }
    }

    /// Copies to memory that lives as long as the command, which may run after the time limit, and then to the target.
    pub(in crate::accelerator) fn copy_out_staged(
        &self,
        stream: &StreamState<A>,
        mut target: HostTarget<'_>,
        source: usize,
    ) -> Result<()> {
        let mut staging = Staging::new(&self.accelerator, target.len())?;
        // SAFETY: nobody else uses the memory, and it is not dropped before the copy is complete.
        self.copy_out_and_wait(stream, unsafe { staging.target() }, source)?;
        let (start, len) = (staging.as_ptr(), target.len());
        // SAFETY: both have `len` bytes, and the copy to the memory is complete.
        unsafe { target.as_mut_ptr().copy_from_nonoverlapping(start, len) };
        drop(staging.into_memory());
        Ok(())
    }

    fn enqueue_copy_out(
        &self,
        stream: &StreamState<A>,
        target: HostTarget<'_>,
        source: usize,
    ) -> Result<()> {
        self.check()?;
        stream.failures.check_commands()?;
        let source = self.region(source, target.len())?;
        let command = Command::Copy(Direction::ToHost, source.len());
        stream.enqueue_marked(command, |queue| queue.copy_out(target, &source))
    }
}
