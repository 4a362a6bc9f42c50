//! The trait of a device: the slots of the C API, and the properties that registration needs.

use std::ffi::{CStr, c_void};
use std::ptr;

use sp_abi::stream_executor::{DeviceFns, StreamExecutor, TimerFns};

use crate::host_work::HostQueue;
use crate::{Access, Result};

/// A device of a plugin: the slots of `SP_StreamExecutor`, `SP_DeviceFns` and `SP_TimerFns`, and the
/// functions that count, open and describe devices.
///
/// # Safety
/// - An address that `host_memory_allocate` or `unified_memory_allocate` returns is null, or that of as many bytes as were asked
///   for. The host can read and write them until the function that frees them is called.
/// - A copy that is enqueued accesses the given bytes only, and no more once the function that waits for it has returned.
/// - The bytes of a copy to the host are initialized then, unless one of the functions has returned an error.
/// - `host_callback` returns 0 and does not call the function, or takes it and calls it once, after the work before it.
/// - `host_queue` returns the queue of this device and of the given stream.
pub unsafe trait Device:
    StreamExecutor + DeviceFns + TimerFns<Timer = <Self as StreamExecutor>::Timer>
{
    /// Access of kernels that compute on the host to this device's memory: [`InPlace`] if the device is
    /// [`HostAddressable`], which then decides at run time, else [`Staged`].
    ///
    /// [`InPlace`]: crate::InPlace
    /// [`Staged`]: crate::Staged
    type Access: Access<Self>;

    /// TensorFlow's allocator for the memory that `allocate` returns.
    const ALLOCATOR: Allocator = Allocator::BestFit { grow: true };

    /// Returns the number of devices of this machine.
    ///
    /// # Errors
    /// Returns an error if the devices cannot be counted. The plugin logs it and registers no devices, since
    /// TensorFlow would end the process on an error.
    fn count() -> Result<usize> {
        Ok(1)
    }

    /// Returns true if `unified_memory_allocate` of this process's devices returns memory.
    fn supports_unified_memory() -> bool {
        false
    }

    /// Opens the device with this number, counted from 0. If the machine cannot use its devices,
    /// [`count`](Device::count) has to return 0: TensorFlow does not continue without a device that it has
    /// counted.
    ///
    /// # Errors
    /// Returns an error if the device cannot be opened. That ends the process in 2.12. In 2.21 the first op
    /// on any device raises the error, and the second op never returns.
    fn open(ordinal: usize) -> Result<Self>;

    /// Returns the description that TensorFlow prints.
    fn description(&self) -> Description {
        Description::default()
    }

    /// Returns the properties that a profile states.
    fn properties(&self) -> DeviceProperties {
        DeviceProperties::default()
    }

    /// Returns the stream for kernels that compute on the host as its commands; `None` if they wait for the stream. A device that is
    /// made from an `AcceleratorDevice` returns that device's.
    fn host_queue<'a>(&'a self, stream: &'a Self::Stream) -> Option<HostQueue<'a>> {
        let _ = stream;
        None
    }

    /// Returns the pointer for `SP_Device.ext`, which belongs to the plugin; null if it is not used.
    ///
    /// TensorFlow passes it on and does not use it. The SDK calls this function once, after the device has
    /// moved to its final address, so the pointer may point into `self`. It has to stay valid until the
    /// device is dropped.
    fn ext(&self) -> *mut c_void {
        ptr::null_mut()
    }

    /// Returns the pointer for `SP_Platform.ext`, which belongs to the plugin; null if it is not used.
    ///
    /// TensorFlow copies the platform and never destroys it, so the pointer has to stay valid for the
    /// life of the process.
    fn platform_ext() -> *mut c_void {
        ptr::null_mut()
    }
}

/// A device whose memory the host may access at the address that `allocate` returned.
///
/// # Safety
/// Unless [`memory_access`](HostAddressable::memory_access) returns [`MemoryAccess::Staged`]:
/// - The host can read and write every allocated byte at its `opaque` address.
/// - The effects of a stream on the memory are visible to the host after `block_host_until_done` returns, or at once if
///   it returns [`MemoryAccess::InPlace`].
pub unsafe trait HostAddressable: Device {
    /// Returns how the host uses the memory of this device. The result does not change while the device is open.
    fn memory_access(&self) -> MemoryAccess {
        MemoryAccess::InPlaceAfterWait
    }
}

/// The access to a device's memory by kernels that compute on the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryAccess {
    /// In place and at once: work on a stream is complete when the call that enqueues it returns.
    InPlace,
    /// In place, after the work on the kernel's stream.
    InPlaceAfterWait,
    /// Through copies in host memory, in the order of the kernel's stream.
    Staged,
}

/// TensorFlow's allocator for the memory that `allocate` returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocator {
    /// One call of `allocate` for each tensor.
    PerTensor,
    /// Large blocks, divided by TensorFlow's best-fit allocator.
    BestFit {
        /// True to start small and grow; false to allocate nearly all memory at once.
        grow: bool,
    },
}

/// The description of a device that TensorFlow prints. All fields are optional.
#[derive(Debug, Clone, Copy, Default)]
pub struct Description {
    /// Name of the hardware.
    pub hardware_name: Option<&'static CStr>,
    /// Vendor of the hardware.
    pub vendor: Option<&'static CStr>,
    /// PCI bus id, such as `0000:00:02.1`.
    pub pci_bus_id: Option<&'static CStr>,
}

/// The properties of a device that a profile states, from which TensorBoard computes peak rates. 0 stands for one that is not
/// known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceProperties {
    /// The version of the device's instructions: major and minor.
    pub compute_capability: (u32, u32),
    /// Number of cores.
    pub core_count: u32,
    /// Clock rate of the cores, in kHz.
    pub clock_rate: u64,
    /// Bytes per second between the cores and the device memory.
    pub memory_bandwidth: u64,
    /// Bytes of device memory.
    pub memory_size: u64,
}
