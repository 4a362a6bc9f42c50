//! The reference device: this machine's own CPU and memory, behind the slots of the C API.
//!
//! | variable | values | effect |
//! |---|---|---|
//! | `SP_CPU_MEMORY` | `host`, `opaque` | opaque: TensorFlow's addresses of device memory cannot be accessed |
//! | `SP_CPU_STREAMS` | `inline`, `async` | async: each stream has a thread, and commands run after the call |
//! | `SP_CPU_DEVICES` | 1 to 64 | number of devices |
//! | `SP_CPU_JITTER` | microseconds | longest random pause of such a thread before a command |
//! | `SP_CPU_FAIL` | a number | the copy, fill or kernel of a device with this number fails, counted from 1 |

mod launch;
mod memory;
mod queued;
mod settings;
#[cfg(test)]
mod tests;

use std::ffi::c_void;
use std::ptr;

use sp_abi::stream_executor::{DeviceFns, SP_DeviceMemoryBase, StreamExecutor, TimerFns};
use sp_plugin::accelerator::AcceleratorDevice;
use sp_plugin::{
    Description, Device, DeviceProperties, HostAddressable, InPlace, MemoryAccess, Result, vtable,
};
use sp_runtime::{PrefixMut, Versioned};

pub use memory::Memory;
use queued::CpuAccelerator;
use settings::Settings;

/// The reference device.
pub struct CpuDevice(AcceleratorDevice<CpuAccelerator>);

/// A stream of the reference device.
pub type Stream = <CpuDevice as StreamExecutor>::Stream;

/// An event of the reference device.
pub type Event = <CpuDevice as StreamExecutor>::Event;

/// A timer of the reference device.
pub type Timer = <CpuDevice as StreamExecutor>::Timer;

impl Default for CpuDevice {
    fn default() -> Self {
        Self::new()
    }
}

impl CpuDevice {
    /// Creates the device with memory of the host and inline streams, whatever the environment selects.
    pub fn new() -> Self {
        Self::from_settings(Settings::default())
    }

    fn from_settings(settings: Settings) -> Self {
        Self(AcceleratorDevice::new(CpuAccelerator::new(settings)))
    }

    /// Returns the device's memory.
    pub fn memory(&self) -> &Memory {
        self.0.accelerator().memory()
    }
}

// SAFETY: the slots are those of the device layer. Unified memory is a block of device memory.
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
        self.0.description()
    }

    fn properties(&self) -> DeviceProperties {
        self.0.properties()
    }
}

// SAFETY: the device layer guarantees its own access.
unsafe impl HostAddressable for CpuDevice {
    fn memory_access(&self) -> MemoryAccess {
        self.0.memory_access()
    }
}

/// Returns the description of memory at `opaque`.
fn memory_base(opaque: *mut c_void) -> SP_DeviceMemoryBase {
    SP_DeviceMemoryBase {
        struct_size: SP_DeviceMemoryBase::STRUCT_SIZE,
        ext: ptr::null_mut(),
        opaque,
        size: 0,
        payload: 0,
    }
}

#[vtable(fallback = self.0: AcceleratorDevice<CpuAccelerator>)]
impl StreamExecutor for CpuDevice {
    fn unified_memory_allocate(&self, bytes: u64) -> *mut c_void {
        let mut memory = memory_base(ptr::null_mut());
        // SAFETY: the struct is live.
        unsafe { self.allocate(bytes, 0, PrefixMut::from_mut(&mut memory)) };
        memory.opaque
    }

    unsafe fn unified_memory_deallocate(&self, location: *mut c_void) {
        let mut memory = memory_base(location);
        // SAFETY: the struct is live, and the caller guarantees that nobody uses the block.
        unsafe { self.deallocate(PrefixMut::from_mut(&mut memory)) };
    }
}

#[vtable(fallback = self.0: AcceleratorDevice<CpuAccelerator>)]
impl DeviceFns for CpuDevice {}

#[vtable(fallback = self.0: AcceleratorDevice<CpuAccelerator>)]
impl TimerFns for CpuDevice {}
