//! What a device is, beyond the slots that the C API asks for.

use std::ffi::{CStr, c_void};
use std::ptr;

use sp_abi::stream_executor::{DeviceFns, StreamExecutor, TimerFns};

use crate::{Access, Result};

/// A device of a plugin: the slots of `SP_StreamExecutor`, `SP_DeviceFns` and `SP_TimerFns`, and
/// how it is found and opened.
pub trait Device:
    StreamExecutor + DeviceFns + TimerFns<Timer = <Self as StreamExecutor>::Timer>
{
    /// How kernels that compute on the host reach this device's memory: [`InPlace`] where the
    /// device is [`HostAddressable`], [`Staged`] everywhere else.
    ///
    /// [`InPlace`]: crate::InPlace
    /// [`Staged`]: crate::Staged
    type Access: Access<Self>;

    /// How TensorFlow is to manage the memory that `allocate` gives it.
    const ALLOCATOR: Allocator = Allocator::BestFit { grow: true };

    /// Whether `unified_memory_allocate` works.
    const SUPPORTS_UNIFIED_MEMORY: bool = false;

    /// How many devices this machine has.
    ///
    /// # Errors
    /// An error is a line in the log and counts as none: TensorFlow ends the process on anything else.
    fn count() -> Result<usize> {
        Ok(1)
    }

    /// Opens the device with this number, counted from 0. A machine that cannot use its devices states that
    /// in [`count`](Device::count): TensorFlow does not go on without a device that it has counted.
    ///
    /// # Errors
    /// An error ends the process in 2.12. In 2.21 the first op raises it, on any device, and the second op
    /// waits for ever.
    fn open(ordinal: usize) -> Result<Self>;

    /// What TensorFlow prints about the device.
    fn description(&self) -> Description {
        Description::default()
    }

    /// Returns the pointer for `SP_Device.ext`, which the header leaves to the plugin; null if it has
    /// no use.
    ///
    /// TensorFlow only carries it: whoever is passed the `SP_Device` finds it there. It is read once,
    /// after the device has moved to its final address, so it may point into `self`; it has to stay
    /// valid until the device is dropped.
    fn ext(&self) -> *mut c_void {
        ptr::null_mut()
    }

    /// Returns the pointer for `SP_Platform.ext`, which the header leaves to the plugin; null if it has
    /// no use.
    ///
    /// TensorFlow copies the platform and never destroys it, so the pointer has to stay valid for the
    /// life of the process.
    fn platform_ext() -> *mut c_void {
        ptr::null_mut()
    }
}

/// A device whose memory the host may use at the address that `allocate` gave.
///
/// # Safety
/// Every byte that `allocate` returns is readable and writable by the host at its `opaque` address,
/// and what a stream has done to it is visible once `block_host_until_done` has returned.
pub unsafe trait HostAddressable: Device {}

/// How TensorFlow manages the memory that `allocate` gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocator {
    /// One `allocate` for each tensor.
    PerTensor,
    /// Large blocks, divided by TensorFlow's best-fit allocator.
    BestFit {
        /// Whether it starts small and grows; else it takes nearly all memory at once.
        grow: bool,
    },
}

/// What TensorFlow prints about a device. All optional.
#[derive(Debug, Clone, Copy, Default)]
pub struct Description {
    /// The hardware's name.
    pub hardware_name: Option<&'static CStr>,
    /// Who made it.
    pub vendor: Option<&'static CStr>,
    /// Its PCI bus id, `0000:00:02.1`.
    pub pci_bus_id: Option<&'static CStr>,
}
