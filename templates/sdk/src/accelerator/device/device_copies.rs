//! Copies in device memory, of one device or of two, and patterns.

use std::sync::Arc;

use super::staging::Staging;
use super::{Shared, open_devices};
use crate::accelerator::stream::{Command, StreamState};
use crate::accelerator::{Accelerator, PeerCopy, Queue, Region};
use crate::trace::Direction;
use crate::{Error, Result};

/// A region, and the device that has it.
type DeviceRegion<'r, A> = (&'r Shared<A>, &'r Region<A>);

impl<A: Accelerator> Shared<A> {
    /// Enqueues a copy between two regions, of which one may be on another device.
    pub fn copy(
        &self,
        stream: &StreamState<A>,
        (target, source): (usize, usize),
        bytes: usize,
    ) -> Result<()> {
        self.check()?;
        let (to, target) = self.region_of_any(target, bytes)?;
        let (from, source) = self.region_of_any(source, bytes)?;
        let [to, from] = [&to, &from].map(|it| it.as_deref().unwrap_or(self));
        if std::ptr::eq(to, from) {
            let command = Command::Copy(Direction::OnDevice, bytes);
            return stream.enqueue_marked(command, |queue| queue.copy(&target, &source));
        }
        self.copy_to_peer(stream, (to, &target), (from, &source))
    }

    /// Returns the region at an address of this device or another one, with the other device.
    fn region_of_any(
        &self,
        address: usize,
        bytes: usize,
    ) -> Result<(Option<Arc<Self>>, Region<A>)> {
        let has_address = |it: &Self| it.memory.blocks.contains(address);
        let peer = match has_address(self) {
            true => None,
            false => open_devices::devices()
                .into_iter()
                .find(|it| has_address(it)),
        };
        let region = peer.as_deref().unwrap_or(self).region(address, bytes)?;
        Ok((peer, region))
    }

    fn copy_to_peer(
        &self,
        stream: &StreamState<A>,
        (to, target): DeviceRegion<'_, A>,
        (from, source): DeviceRegion<'_, A>,
    ) -> Result<()> {
        if std::ptr::eq(from, self) {
            let timing = stream.begin_timing();
            let copy =
                stream.enqueue_copy(|queue| queue.copy_to_peer(&to.accelerator, target, source));
            if copy? == PeerCopy::Enqueued {
                let command = Command::Copy(Direction::ToPeer, source.len());
                stream.end_timing(timing, command.kind());
                return stream.mark(command);
            }
        }
        self.copy_through_host(stream, (to, target), (from, source))
    }

    /// Copies in the order of the stream, and waits.
    fn copy_through_host(
        &self,
        stream: &StreamState<A>,
        (to, target): DeviceRegion<'_, A>,
        (from, source): DeviceRegion<'_, A>,
    ) -> Result<()> {
        let mut staging = Staging::new(&self.accelerator, source.len())?;
        stream.synchronize()?;
        // SAFETY: nobody else uses the memory. The waits below, not the commands, end before it is dropped.
        let host = unsafe { staging.target() };
        let delivery = host.delivery();
        from.transfer(|it| it.enqueue_copy(|queue| queue.copy_out(host, source)))?;
        // SAFETY: the memory is live, and the queue's copy to it is complete.
        unsafe { delivery.write() }?;
        // SAFETY: the copy to the memory is complete, and nobody else uses it. It is dropped after the next one.
        let host = unsafe { staging.source() };
        to.transfer(|it| it.enqueue_copy(|queue| queue.copy_in(target, host)))?;
        drop(staging.into_memory());
        Ok(())
    }

    /// Enqueues writes of a pattern.
    pub fn fill(
        &self,
        stream: &StreamState<A>,
        (target, bytes): (usize, usize),
        pattern: &[u8],
    ) -> Result<()> {
        self.check()?;
        if !bytes.is_multiple_of(pattern.len()) || !target.is_multiple_of(pattern.len()) {
            let unit = pattern.len();
            let message = format!("a pattern of {unit} bytes for {bytes} bytes at {target:#x}");
            return Err(Error::invalid_argument(message));
        }
        let target = self.region(target, bytes)?;
        let command = Command::Fill(bytes);
        stream.enqueue_marked(command, |queue| queue.fill(&target, pattern))
    }
}
