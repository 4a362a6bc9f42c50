//! The reference device as an [`Accelerator`], in all modes: memory that the host can address or cannot, and streams that
//! are inline or have threads of their own.

mod fence;
mod queue;

use std::ffi::c_void;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use sp_plugin::accelerator::{Accelerator, AddressableMemory, MemoryInfo, Region};
use sp_plugin::{Description, DeviceProperties, Error, Result};

use super::{Memory, Settings};
pub use fence::WorkFence;
pub use queue::WorkQueue;

/// The accelerator of the reference device.
#[derive(Debug, Default)]
pub struct CpuAccelerator {
    memory: Arc<Memory>,
    settings: Settings,
    failures: Arc<FailureCount>,
    queues: Mutex<Vec<Weak<queue::Commands>>>,
}

impl CpuAccelerator {
    /// Creates the device, with nothing allocated.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            failures: Arc::new(FailureCount {
                failing: settings.failing_command,
                commands: AtomicU64::new(0),
            }),
            ..Self::default()
        }
    }

    /// Returns the device's memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }
}

/// The planned failure of a command.
#[derive(Debug, Default)]
struct FailureCount {
    failing: Option<u64>,
    commands: AtomicU64,
}

impl FailureCount {
    /// Counts a command, and fails if it is the chosen one.
    fn count(&self) -> Result<()> {
        let Some(failing) = self.failing else {
            return Ok(());
        };
        match self.commands.fetch_add(1, Ordering::Relaxed) + 1 == failing {
            false => Ok(()),
            true => Err(Error::internal(format!(
                "command {failing} has failed (SP_CPU_FAIL)"
            ))),
        }
    }
}

/// A block of memory. In opaque mode TensorFlow has another address for it, which nobody can access.
#[derive(Debug)]
pub struct Block {
    start: *mut c_void,
    is_opaque: bool,
    memory: Arc<Memory>,
}

// SAFETY: the block is memory, which belongs to no thread. Queues order its uses.
unsafe impl Send for Block {}
// SAFETY: as above; a shared block yields only an address.
unsafe impl Sync for Block {}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the layer drops an allocation once no command uses it.
        unsafe { self.memory.release(self.start) };
    }
}

/// Returns the address of a region's first byte.
pub fn address(region: &Region<CpuAccelerator>) -> *mut u8 {
    let start: *mut u8 = region.allocation().start.cast();
    start.wrapping_add(region.offset())
}

impl Accelerator for CpuAccelerator {
    type Allocation = Block;
    type Fence = Arc<WorkFence>;
    type Queue = WorkQueue;

    fn open(_: usize) -> Result<Self> {
        Ok(Self::new(Settings::from_env()))
    }

    fn allocate(&self, bytes: usize) -> Result<Block> {
        let start = self.memory.allocate(bytes as u64);
        if start.is_null() {
            let message = format!("{bytes} bytes are not available");
            return Err(Error::resource_exhausted(message));
        }
        Ok(Block {
            start,
            is_opaque: self.settings.is_opaque,
            memory: self.memory.clone(),
        })
    }

    fn address(block: &Block) -> Option<NonZeroUsize> {
        match block.is_opaque {
            true => None,
            false => NonZeroUsize::new(block.start as usize),
        }
    }

    fn create_queue(&self, _: Option<i32>) -> Result<WorkQueue> {
        let queue = WorkQueue::new(self.settings, self.failures.clone())?;
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|it| it.strong_count() > 0);
        queues.push(queue.commands());
        Ok(queue)
    }

    fn memory_info(&self) -> Result<MemoryInfo> {
        let unknown = || Error::internal("the system does not state its memory");
        let (free, total) = Memory::machine().ok_or_else(unknown)?;
        Ok(MemoryInfo { free, total })
    }

    fn addressable_memory(&self) -> Option<AddressableMemory<Self>> {
        match (self.settings.is_opaque, self.settings.is_async) {
            (true, _) => None,
            // SAFETY: `address` returns the blocks' own addresses, and `synchronize` waits for the thread. Kernels
            // enqueue work by `CpuDevice::launch` only, which reads inputs.
            (false, true) => Some(unsafe { AddressableMemory::new() }),
            // SAFETY: as above, and an inline queue runs a command before the method returns.
            (false, false) => Some(unsafe { AddressableMemory::inline() }),
        }
    }

    fn description(&self) -> Description {
        Description {
            hardware_name: Some(c"CPU reference device"),
            vendor: Some(c"sp-gen"),
            pci_bus_id: None,
        }
    }

    fn properties(&self) -> DeviceProperties {
        let cores = std::thread::available_parallelism();
        DeviceProperties {
            core_count: cores.map_or(1, |it| it.get().try_into().unwrap_or(u32::MAX)),
            ..DeviceProperties::default()
        }
    }

    fn numa_node(&self) -> Option<i32> {
        Some(0)
    }

    fn at_exit(&self) {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let queues: Vec<_> = queues.iter().filter_map(Weak::upgrade).collect();
        queues.iter().for_each(|it| it.stop());
    }
}
