//! The traits of an author: a device, its queues and their fences.

use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::host_memory::{HostSource, HostTarget, LateSource};
use super::{HostMemory, Region, host_memory};
use crate::{Allocator, Description, DeviceProperties, Error, Result};

/// A device with its own memory and queues.
pub trait Accelerator: Sized + Send + Sync + 'static {
    /// A block of device memory. Dropping it frees the memory.
    ///
    /// The layer drops it on a thread that calls a method of the device, never in a host function, since many drivers
    /// cannot free memory there.
    type Allocation: Send + Sync + 'static;

    /// A position in a queue.
    type Fence: Fence;

    /// A queue, whose commands run in order.
    type Queue: Queue<Self>;

    /// TensorFlow's allocator for device memory.
    const ALLOCATOR: Allocator = Allocator::BestFit { grow: true };

    /// Returns the number of devices; 0 if the driver is absent.
    ///
    /// # Errors
    /// Returns an error if the devices cannot be counted. The plugin logs it and has no devices.
    fn count() -> Result<usize> {
        Ok(1)
    }

    /// Opens the device with this number, counted from 0.
    ///
    /// # Errors
    /// Returns an error if the device cannot be opened. That ends the process in some releases of TensorFlow, so `count`
    /// should not count such a device.
    fn open(ordinal: usize) -> Result<Self>;

    /// Allocates device memory.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory. TensorFlow then frees memory and tries again, or reports it.
    fn allocate(&self, bytes: usize) -> Result<Self::Allocation>;

    /// Returns the address of an allocation for TensorFlow. If it is `None`, as for a driver with handles instead of
    /// addresses, the layer reserves addresses that the process cannot access.
    fn address(allocation: &Self::Allocation) -> Option<NonZeroUsize> {
        let _ = allocation;
        None
    }

    /// Creates a queue. `priority` is that of the session's configuration, from 2.22 on.
    ///
    /// # Errors
    /// Returns an error if the driver creates none.
    fn create_queue(&self, priority: Option<i32>) -> Result<Self::Queue>;

    /// Returns the size of the device memory.
    ///
    /// # Errors
    /// Returns an error if the driver does not report it. TensorFlow then does not create the device.
    fn memory_info(&self) -> Result<MemoryInfo>;

    /// Allocates host memory from which and to which the device copies fast.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    fn host_allocate(&self, bytes: usize) -> Result<HostMemory> {
        HostMemory::zeroed(bytes)
    }

    /// Returns a proof that the host can address the memory; `None` if kernels on the host use copies.
    fn addressable_memory(&self) -> Option<AddressableMemory<Self>> {
        None
    }

    /// Returns the description that TensorFlow prints.
    fn description(&self) -> Description {
        Description::default()
    }

    /// Returns the properties that a profile states. The layer sets a memory size of 0 to that of
    /// [`memory_info`](Self::memory_info).
    fn properties(&self) -> DeviceProperties {
        DeviceProperties::default()
    }

    /// Returns the NUMA node of the host that is next to the device, or `None` if it is not known.
    fn numa_node(&self) -> Option<i32> {
        None
    }

    /// Stops the threads of the driver. The process exits; TensorFlow calls no slot of the device any more, and does not
    /// drop it.
    fn at_exit(&self) {}
}

/// The size of a device's memory, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Memory that can be allocated.
    pub free: u64,
    /// All memory.
    pub total: u64,
}

/// A queue of commands, which run in the order in which they were enqueued.
///
/// A method returns once its command is enqueued. TensorFlow calls a queue from several threads. Kernels call it too, through
/// [`KernelQueue`](super::KernelQueue): a method returns an error if lengths differ, or if a pattern does not fit.
///
/// After a command has failed, the queue runs no more copies. Its methods return the error, and so do fences that were
/// recorded after the command; host functions still run.
///
/// A panic of a method that the layer calls is an error of the queue; one in a kernel fails its call only. The layer waits by [`synchronize`](Self::synchronize) before TensorFlow frees
/// memory that a command may use. If that panics too, the process ends with a line that says so. Memory of the layer is leaked
/// instead.
pub trait Queue<A: Accelerator>: Send + Sync + 'static {
    /// Enqueues a copy from the host. The source has the target's length. Its memory lives until the command has completed, for
    /// a driver that takes pointers: [`HostSource::for_command`]. [`HostSource::as_bytes`] copies it without `unsafe`.
    ///
    /// # Errors
    /// Returns an error if the command cannot be enqueued.
    fn copy_in(&self, target: &Region<A>, source: HostSource<'_>) -> Result<()>;

    /// Enqueues a copy to the host. The target has the source's length. Its memory lives until the command has completed, for a
    /// driver that takes pointers: [`HostTarget::for_command`]. [`HostTarget::into_writer`] takes the bytes later without `unsafe`.
    ///
    /// # Errors
    /// Returns an error if the command cannot be enqueued.
    fn copy_out(&self, target: HostTarget<'_>, source: &Region<A>) -> Result<()>;

    /// Enqueues a copy between regions of the same length on one device.
    ///
    /// # Errors
    /// Returns an error if the command cannot be enqueued.
    fn copy(&self, target: &Region<A>, source: &Region<A>) -> Result<()>;

    /// Enqueues a copy to another device, on a queue of the source's device. Returns `Unsupported` if there is no direct
    /// way; the layer then copies through host memory.
    ///
    /// # Errors
    /// Returns an error if the command cannot be enqueued.
    fn copy_to_peer(&self, peer: &A, target: &Region<A>, source: &Region<A>) -> Result<PeerCopy> {
        let _ = (peer, target, source);
        Ok(PeerCopy::Unsupported)
    }

    /// Enqueues writes of a pattern of 1 or 4 bytes. The region's length is a multiple of the pattern's. Without this
    /// method the layer copies the pattern from the host.
    ///
    /// # Errors
    /// Returns an error if the command cannot be enqueued. The default method returns `UNIMPLEMENTED` for a queue whose type is
    /// not [`Accelerator::Queue`].
    fn fill(&self, target: &Region<A>, pattern: &[u8]) -> Result<()> {
        host_memory::fill_by_copies(self, target, pattern)
    }

    /// Enqueues a fence, which completes after all earlier commands.
    ///
    /// # Errors
    /// Returns an error if the command cannot be enqueued.
    fn record(&self) -> Result<A::Fence>;

    /// Enqueues a wait for a fence of this queue or another one, also of another device. If the fence reports an error,
    /// so does this queue from then on.
    ///
    /// # Errors
    /// Returns an error if the command cannot be enqueued.
    fn wait(&self, fence: &A::Fence) -> Result<()>;

    /// Enqueues a function. It runs after all earlier commands, also after a failed one, and before later ones, on any
    /// thread. It calls no function of the driver.
    ///
    /// # Errors
    /// Returns an error if the function cannot be enqueued; it is then dropped.
    fn host_function(&self, function: Box<dyn FnOnce() + Send>) -> Result<()>;

    /// Returns the queue's copies of memory that a function of the queue writes, or `None` if a copy may read the memory when it is
    /// enqueued. With them, kernels that compute on the host run as commands of the queue; without, they wait for it.
    fn late_copies(&self) -> Option<&dyn LateCopies<A>> {
        None
    }

    /// Waits on the calling thread until all commands have completed. No command uses memory when it returns, also after an
    /// error: the layer calls it on failed queues before it frees host memory.
    ///
    /// The default waits for a new fence. It is right for a queue whose `record` cannot fail, and for one whose commands own
    /// the bytes that they copy: by [`HostSource::as_bytes`] and [`HostTarget::into_writer`]. Other queues override it.
    ///
    /// # Errors
    /// Returns the error of the first command that has failed.
    fn synchronize(&self) -> Result<()> {
        self.record()?.wait()
    }
}

/// Copies from host memory that is not written yet: [`Queue::late_copies`] returns them.
pub trait LateCopies<A: Accelerator> {
    /// Enqueues a copy from the host, as [`Queue::copy_in`]. The driver reads the source when the command runs: an earlier
    /// [`host_function`](Queue::host_function) of the queue writes it. Most drivers do so for host memory of
    /// [`Accelerator::host_allocate`], in which the source is.
    ///
    /// # Errors
    /// Returns an error if the command cannot be enqueued.
    fn copy_in_late(&self, target: &Region<A>, source: LateSource<'_>) -> Result<()>;
}

/// Checks that a copy's target and source have the same length. The layer passes equal lengths, but kernels call the methods
/// of a queue too.
///
/// # Errors
/// Returns an error if the lengths differ.
pub fn check_lengths(target: usize, source: usize) -> Result<()> {
    match target == source {
        true => Ok(()),
        false => fail!(
            invalid_argument,
            "a copy of {source} bytes to {target} bytes"
        ),
    }
}

/// The result of [`Queue::copy_to_peer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerCopy {
    /// The copy is enqueued.
    Enqueued,
    /// The devices cannot copy directly.
    Unsupported,
}

/// A position in a queue, which can be waited for.
pub trait Fence: Send + Sync + 'static {
    /// Returns true if the commands before the fence have completed.
    ///
    /// # Errors
    /// Returns the error of the first command before the fence that has failed. No command before the fence uses host
    /// memory then.
    fn is_complete(&self) -> Result<bool>;

    /// Returns the time of the device's clock at which the commands before the fence had completed, or `None` if the device has
    /// no clock. The layer calls it for a complete fence, and only while a profile runs.
    ///
    /// The fences of all queues of a device have one clock, which may begin at any time. The layer measures its offset and drift
    /// from the host's.
    fn timestamp(&self) -> Option<Duration> {
        None
    }

    /// Waits on the calling thread until the commands before the fence have completed.
    ///
    /// # Errors
    /// Returns the error of the first command before the fence that has failed. No command before the fence uses host
    /// memory then.
    fn wait(&self) -> Result<()> {
        let mut pause = Duration::from_micros(10);
        while !self.is_complete()? {
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(1));
        }
        Ok(())
    }
}

impl<F: Fence> Fence for Arc<F> {
    fn is_complete(&self) -> Result<bool> {
        (**self).is_complete()
    }

    fn timestamp(&self) -> Option<Duration> {
        (**self).timestamp()
    }

    fn wait(&self) -> Result<()> {
        (**self).wait()
    }
}

/// Proof that the host can address the memory of accelerator `A`.
pub struct AddressableMemory<A> {
    pub(super) is_inline: bool,
    accelerator: PhantomData<fn() -> A>,
}

impl<A: Accelerator> AddressableMemory<A> {
    /// Creates the proof for memory that the host uses after the work on a queue.
    ///
    /// # Safety
    /// - `A::address` returns an address for every allocation of the accelerator that returns the proof.
    /// - The host can read and write every byte of the allocation there until it is dropped.
    /// - The effects of a queue are visible to the host after `Queue::synchronize`.
    /// - A function of `Queue::host_function` runs after the commands before it, whose effects on the memory are visible to it, and
    ///   before the commands behind it, to which its own are.
    /// - No kernel enqueues a command that writes to the region of an input, which host kernels may read as a slice, or one for
    ///   a region that it keeps after its call, whose bytes may be another tensor's.
    pub const unsafe fn new() -> Self {
        Self {
            is_inline: false,
            accelerator: PhantomData,
        }
    }

    /// Creates the proof for queues whose commands are complete when they are enqueued.
    ///
    /// # Safety
    /// As for [`new`](Self::new), and the effects of a command are visible to the host when the method returns.
    pub const unsafe fn inline() -> Self {
        Self {
            is_inline: true,
            accelerator: PhantomData,
        }
    }
}

/// Returns the error for a queue that the process's exit has stopped.
pub(super) fn cancelled() -> Error {
    Error::new(crate::Code::CANCELLED, "the process exits")
}
