//! A device from about ten methods, without unsafe code of the author.
//!
//! An author implements [`Accelerator`] and [`Queue`] over the driver's functions. [`AcceleratorDevice`] is the
//! [`Device`](crate::Device) made from them: it has all slots of all releases.
//!
//! | an author writes | the layer derives |
//! |---|---|
//! | `allocate`, dropping an allocation | device addresses, interior pointers, statistics, memory that lives until the queues that use it have passed |
//! | `copy_in`, `copy_out`, `copy` | asynchronous and synchronous copies, between devices too; `mem_zero`, `memset`, `memset32` |
//! | `record`, `wait`, [`Fence`] | events, stream dependencies, `block_host_until_done`, time limits |
//! | `host_function` | callbacks, each called exactly once; timers |
//!
//! A command that fails after it was enqueued is the first error of its queue, and of those that wait for it. The next
//! call that can report returns it with the name of the op. So is a panic of a queue or fence that the layer calls.

mod address_map;
mod allocation;
mod api;
mod callback;
mod device;
mod event;
mod guard;
mod host_function;
mod host_memory;
mod kernel;
mod limits;
mod slots;
mod statistics;
mod stream;
#[cfg(test)]
mod tests;

pub use crate::host_memory::HostMemory;
pub use allocation::Region;
pub use api::{
    Accelerator, AddressableMemory, Fence, LateCopies, MemoryInfo, PeerCopy, Queue, check_lengths,
};
pub use device::AcceleratorDevice;
pub use event::{Event, Timer};
pub use host_memory::{HostSource, HostTarget, LateSource};
pub use kernel::{HasAccelerator, KernelQueue};
pub use stream::Stream;
