//! Work that a kernel computes on the host as a command of a stream.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::Result;

/// The bytes of a tensor in device memory, and as many in host memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transfer {
    /// The address on the device.
    pub device: usize,
    pub host: NonNull<u8>,
    pub bytes: usize,
}

// SAFETY: both are addresses, whose memory belongs to no thread.
unsafe impl Send for Transfer {}

/// A call of a kernel on the host, with the copies of its tensors.
pub(crate) struct HostWork {
    /// The kernel and its node, as errors name them.
    pub name: Arc<str>,
    /// Copies to the host, before the computation.
    pub inputs: Vec<Transfer>,
    /// Copies from the host, after it.
    pub outputs: Vec<Transfer>,
    /// Addresses and sizes of device memory that the computation uses in place.
    pub in_place: Vec<(usize, usize)>,
    pub compute: Box<dyn FnOnce() -> Result<()> + Send>,
    /// The host memory of the copies, which is dropped on a thread that calls the device.
    pub memory: Arc<dyn Any + Send + Sync>,
}

/// A stream that computes on the host.
pub(crate) trait RunHostWork {
    /// Enqueues copies and computation.
    ///
    /// # Errors
    /// Returns the first error of the stream. An error of the computation is one of the stream, too.
    ///
    /// # Safety
    /// - The device addresses are those of as many bytes, and the host addresses too until `memory` is dropped.
    /// - Nobody but the copies and the computation uses the host memory, and the computation uses it only when it runs.
    unsafe fn enqueue(&self, work: HostWork) -> Result<()>;

    /// Returns true if the queue can copy from memory that an earlier command writes.
    fn has_late_copies(&self) -> bool;
}

/// A stream that runs kernels of the host as commands: [`Device::host_queue`](crate::Device::host_queue) returns it.
pub struct HostQueue<'a>(pub(crate) Box<dyn RunHostWork + 'a>);
