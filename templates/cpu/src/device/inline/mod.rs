//! The default device: the machine's memory, and streams whose work runs where it is enqueued, before the call returns.
//! So the order within a stream and across streams holds by itself, and what core's own kernels read is there.
//!
//! Its slots are its own, so that a call costs nothing for the other modes.

mod event;
mod executor;
mod stream;
mod timer;

pub use event::Event;
pub use stream::Stream;
pub use timer::Timer;

use sp_plugin::{Result, trace};
use sp_runtime::fork::Process;

use super::Memory;

/// A device without queues.
///
/// It is of use in the process that opened it. In a forked child, where another thread's lock may be held for ever,
/// each slot that can report returns an error, and no memory is allocated.
#[derive(Debug)]
pub struct InlineDevice {
    memory: Memory,
    process: Process,
    /// TensorFlow's number of the device, for profiles.
    ordinal: u32,
}

impl InlineDevice {
    /// Creates the device, with nothing allocated.
    pub fn new() -> Self {
        Self {
            memory: Memory::default(),
            process: Process::current(),
            ordinal: trace::opening_device(),
        }
    }

    /// Returns the device's memory.
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
