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

/// The reference device. There is one; it has all of the machine's memory and cores.
#[derive(Debug, Default)]
pub struct CpuDevice {
    memory: Memory,
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
unsafe impl HostAddressable for CpuDevice {}
