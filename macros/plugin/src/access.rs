//! How a kernel that computes on the host reaches a device's memory.
//!
//! The choice is a type, made once where the device is written: in place, which only a
//! [`HostAddressable`] device can choose, or staged through host memory.

use std::ffi::c_void;
use std::sync::LazyLock;

use sp_abi::stream_executor::SP_DeviceMemoryBase;
use sp_runtime::{Prefix, Versioned};

use crate::{Device, Error, HostAddressable, Result};

/// Closed for other crates: a [`Memory`] that is wrong about its addresses would turn them into slices.
mod sealed {
    pub trait Sealed {}
    impl Sealed for super::InPlace {}
    impl Sealed for super::Staged {}
    impl<D> Sealed for super::Staging<'_, D> {}
}

/// The access of host kernels to the memory of `D`: [`InPlace`] or [`Staged`].
pub trait Access<D: Device>: sealed::Sealed {
    /// The device's memory during one call of one kernel.
    type Memory<'a>: Memory;

    /// Waits until the work before this kernel is done, and gives access.
    ///
    /// # Errors
    /// Returns an error if the stream reports one, or if staging is forbidden.
    fn open<'a>(device: &'a D, stream: &D::Stream) -> Result<Self::Memory<'a>>;
}

/// The device's memory as a host kernel uses it during one call.
pub trait Memory: sealed::Sealed {
    /// True if the host reads and writes device memory through copies.
    const STAGED: bool;

    /// Copies `bytes` from device memory to the host.
    ///
    /// # Safety
    /// Both addresses are good for that many bytes, each on its side.
    unsafe fn fetch(&self, host: *mut c_void, device: *const c_void, bytes: usize) -> Result<()>;

    /// Copies `bytes` from the host to device memory.
    ///
    /// # Safety
    /// Both addresses are good for that many bytes, each on its side.
    unsafe fn store(&self, device: *mut c_void, host: *const c_void, bytes: usize) -> Result<()>;
}

/// Host kernels use the device's memory where it is.
pub struct InPlace;

impl<D: HostAddressable> Access<D> for InPlace {
    type Memory<'a> = InPlace;

    fn open(device: &D, stream: &D::Stream) -> Result<InPlace> {
        if !D::STREAMS_ARE_INLINE {
            device.block_host_until_done(stream)?;
        }
        Ok(InPlace)
    }
}

impl Memory for InPlace {
    const STAGED: bool = false;

    unsafe fn fetch(&self, host: *mut c_void, device: *const c_void, bytes: usize) -> Result<()> {
        // SAFETY: the device is host-addressable, and the caller vouches for both.
        unsafe { device.cast::<u8>().copy_to(host.cast(), bytes) };
        Ok(())
    }

    unsafe fn store(&self, device: *mut c_void, host: *const c_void, bytes: usize) -> Result<()> {
        // SAFETY: as above.
        unsafe { host.cast::<u8>().copy_to(device.cast(), bytes) };
        Ok(())
    }
}

/// Host kernels work on copies: out of the device before, back into it after. Each such call is
/// counted; with `SP_FORBID_STAGED=1` in the environment it is an error instead.
pub struct Staged;

impl<D: Device> Access<D> for Staged {
    type Memory<'a> = Staging<'a, D>;

    fn open<'a>(device: &'a D, stream: &D::Stream) -> Result<Staging<'a, D>> {
        static FORBIDDEN: LazyLock<bool> = LazyLock::new(|| {
            std::env::var_os("SP_FORBID_STAGED").is_some_and(|value| value == "1")
        });
        if *FORBIDDEN {
            return Err(Error::new(
                crate::Code::FAILED_PRECONDITION,
                "this kernel runs on the host through copies, which SP_FORBID_STAGED=1 forbids",
            ));
        }
        device.block_host_until_done(stream)?;
        Ok(Staging { device })
    }
}

/// Copies through the device's own synchronous slots.
pub struct Staging<'a, D> {
    device: &'a D,
}

impl<D: Device> Memory for Staging<'_, D> {
    const STAGED: bool = true;

    unsafe fn fetch(&self, host: *mut c_void, device: *const c_void, bytes: usize) -> Result<()> {
        let source = region(device.cast_mut(), bytes);
        // SAFETY: the caller vouches for both sides.
        unsafe {
            self.device
                .sync_memcpy_dtoh(host, Prefix::from_ref(&source), bytes as u64)
        }
    }

    unsafe fn store(&self, device: *mut c_void, host: *const c_void, bytes: usize) -> Result<()> {
        let target = region(device, bytes);
        // SAFETY: the caller vouches for both sides.
        unsafe {
            self.device
                .sync_memcpy_htod(Prefix::from_ref(&target), host, bytes as u64)
        }
    }
}

/// Device memory as the slots name it.
fn region(address: *mut c_void, bytes: usize) -> SP_DeviceMemoryBase {
    SP_DeviceMemoryBase {
        struct_size: SP_DeviceMemoryBase::STRUCT_SIZE,
        ext: std::ptr::null_mut(),
        opaque: address,
        size: bytes as u64,
        payload: 0,
    }
}
