//! The reference device: this machine's own CPU and memory, behind the slots of the C API.
//!
//! A stream's work runs where it is enqueued, before the call returns, so order within a stream and
//! across streams holds by itself, and what core's own kernels read from the host is always there.

mod event;
mod executor;
mod memory;
mod stream;
mod timer;

pub use event::Event;
pub use memory::{Memory, Usage};
pub use stream::Stream;
pub use timer::Timer;

use sp_plugin::{Description, Device, HostAddressable, InPlace, Result};
use sp_runtime::fork::Process;

/// The reference device. There is one; it has all of the machine's memory and cores.
///
/// It is of use in the process that opened it. In a forked child, where another thread's lock may be held
/// for ever, each slot that can report returns an error, and no memory is allocated.
#[derive(Debug)]
pub struct CpuDevice {
    memory: Memory,
    process: Process,
}

impl Default for CpuDevice {
    fn default() -> Self {
        Self {
            memory: Memory::default(),
            process: Process::current(),
        }
    }
}

impl CpuDevice {
    /// The device, with nothing allocated.
    pub fn new() -> Self {
        Self::default()
    }

    /// The device's memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Checks that this process opened the device.
    fn check(&self) -> Result<()> {
        self.process.check("the device")
    }

    /// Returns the device's memory, in the process that opened the device.
    fn own_memory(&self) -> Option<&Memory> {
        self.process.is_current().then_some(&self.memory)
    }
}

impl Device for CpuDevice {
    type Access = InPlace;

    const SUPPORTS_UNIFIED_MEMORY: bool = true;

    fn open(_: usize) -> Result<Self> {
        Ok(Self::new())
    }

    fn description(&self) -> Description {
        Description {
            hardware_name: Some(c"CPU reference device"),
            vendor: Some(c"sp-gen"),
            pci_bus_id: None,
        }
    }
}

// SAFETY: `allocate` returns host memory at its own address, and a stream's work is done when the
// call that enqueued it returns.
unsafe impl HostAddressable for CpuDevice {
    const STREAMS_ARE_INLINE: bool = true;
}
