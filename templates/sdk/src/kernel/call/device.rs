//! The device of a call.

use std::any::TypeId;
use std::ptr::NonNull;

use super::Call;
use super::context::device_of_stream;
use crate::tensor::{Tensor, address};
use crate::{Device, Error, HostAddressable, MemoryAccess, Result, platform};

impl<'c> Call<'c> {
    /// Returns the device and the stream, which TensorFlow is asked for once.
    ///
    /// # Errors
    /// Returns an error if the call runs on another device, or in a forked child.
    pub(in crate::kernel) fn device<D: Device>(&self) -> Result<(&'c D, &'c D::Stream)> {
        if self.device != TypeId::of::<D>() {
            return Err(Error::internal("the kernel is of another device"));
        }
        let stream = match self.stream.get() {
            Some(stream) => stream,
            None => self.context.stream()?,
        };
        self.stream.set(Some(stream));
        // SAFETY: `new` was called with the device of the driver, which is registered for the type of its platform.
        unsafe { device_of_stream::<D>(stream) }
    }

    /// Returns the device, for a kernel of device `D`.
    pub(in crate::kernel) fn own_device<D: Device>(&self) -> Result<&D> {
        self.device().map(|(device, _)| device)
    }

    /// Returns the elements of a tensor of `len` `T`s in the memory of the call's device, which the host can address.
    ///
    /// # Errors
    /// Returns an error if there are elements and the address is null or not aligned for `T`, or if the device is one of those whose memory the host
    /// cannot address.
    pub(in crate::kernel) fn addressable_elements<T, D: HostAddressable>(
        &self,
        tensor: &Tensor,
        len: usize,
    ) -> Result<NonNull<[T]>> {
        self.check_addressable::<D>()?;
        let start = address(tensor.data()?, len)?;
        Ok(NonNull::slice_from_raw_parts(start, len))
    }

    /// Checks that the host can address the memory of the call's device.
    fn check_addressable<D: HostAddressable>(&self) -> Result<()> {
        if self.device == TypeId::of::<D>() && platform::has_only_in_place_devices() {
            return Ok(());
        }
        let (device, _) = self.device::<D>()?;
        match device.memory_access() == MemoryAccess::Staged {
            false => Ok(()),
            true => Err(Error::unimplemented(
                "the host cannot address the memory of this device",
            )),
        }
    }
}
