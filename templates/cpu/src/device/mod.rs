//! The reference device: this machine's own CPU and memory, behind the slots of the C API.
//!
//! | variable | values | effect |
//! |---|---|---|
//! | `SP_CPU_MEMORY` | `host`, `opaque` | opaque: TensorFlow's addresses of device memory cannot be accessed |
//! | `SP_CPU_STREAMS` | `inline`, `async` | async: each stream has a thread, and commands run after the call |
//! | `SP_CPU_DEVICES` | 1 to 64 | number of devices |
//! | `SP_CPU_JITTER` | microseconds | longest random pause of such a thread before a command |
//! | `SP_CPU_FAIL` | a number | the copy, fill or kernel of a device with this number fails, counted from 1 |

mod dispatch;
mod inline;
mod launch;
mod memory;
mod queued;
mod settings;
#[cfg(test)]
mod tests;

use sp_plugin::accelerator::{self, AcceleratorDevice};
use sp_plugin::{
    Description, Device, DeviceProperties, HostAddressable, HostQueue, InPlace, MemoryAccess,
    Result,
};

use inline::InlineDevice;
pub use memory::{Memory, Usage};
use queued::CpuAccelerator;
use settings::Settings;

/// The reference device.
pub struct CpuDevice(Mode<InlineDevice, AcceleratorDevice<CpuAccelerator>>);

/// A stream of the reference device.
pub struct Stream(Mode<inline::Stream, accelerator::Stream<CpuAccelerator>>);

/// An event of the reference device.
pub struct Event(Mode<inline::Event, accelerator::Event<CpuAccelerator>>);

/// A timer of the reference device.
pub struct Timer(Mode<inline::Timer, accelerator::Timer>);

/// A value of the device without queues, or of the one with queues.
enum Mode<I, Q> {
    Inline(I),
    Queued(Q),
}

impl Default for CpuDevice {
    fn default() -> Self {
        Self::new()
    }
}

impl CpuDevice {
    /// Creates the device with memory of the host and without queues, whatever the environment selects.
    pub fn new() -> Self {
        Self(Mode::Inline(InlineDevice::new()))
    }

    /// Creates the device that the environment selects.
    fn from_settings(settings: Settings) -> Self {
        match settings.is_inline_on_host() {
            true => Self::new(),
            false => {
                let accelerator = CpuAccelerator::new(settings);
                Self(Mode::Queued(AcceleratorDevice::new(accelerator)))
            }
        }
    }

    /// Returns the device's memory.
    pub fn memory(&self) -> &Memory {
        match &self.0 {
            Mode::Inline(device) => device.memory(),
            Mode::Queued(device) => device.accelerator().memory(),
        }
    }
}

/// Returns the description that TensorFlow prints.
fn description() -> Description {
    Description {
        hardware_name: Some(c"CPU reference device"),
        vendor: Some(c"sp-gen"),
        pci_bus_id: None,
    }
}

/// Returns the properties that a profile states.
fn properties() -> DeviceProperties {
    let cores = std::thread::available_parallelism();
    DeviceProperties {
        core_count: cores.map_or(1, |it| it.get().try_into().unwrap_or(u32::MAX)),
        memory_size: Memory::machine().map_or(0, |(_, total)| total),
        ..DeviceProperties::default()
    }
}

// SAFETY: both devices allocate blocks of the asked size, copy the given bytes, and call a function once.
unsafe impl Device for CpuDevice {
    type Access = InPlace;

    fn count() -> Result<usize> {
        Ok(Settings::from_env().devices)
    }

    fn supports_unified_memory() -> bool {
        Settings::from_env().is_inline_on_host()
    }

    fn open(_: usize) -> Result<Self> {
        Ok(Self::from_settings(Settings::from_env()))
    }

    fn description(&self) -> Description {
        description()
    }

    fn properties(&self) -> DeviceProperties {
        properties()
    }

    fn host_queue<'a>(&'a self, stream: &'a Stream) -> Option<HostQueue<'a>> {
        match (&self.0, &stream.0) {
            (Mode::Queued(device), Mode::Queued(stream)) => device.host_queue(stream),
            _ => None,
        }
    }
}

// SAFETY: the inline device allocates host memory at its own address, and a stream's work is done when the call that
// enqueued it returns. `AcceleratorDevice` guarantees its own access.
unsafe impl HostAddressable for CpuDevice {
    fn memory_access(&self) -> MemoryAccess {
        match &self.0 {
            Mode::Inline(_) => MemoryAccess::InPlace,
            Mode::Queued(device) => device.memory_access(),
        }
    }
}
