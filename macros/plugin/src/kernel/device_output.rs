//! Outputs in the memory of a device, of which the host knows address and length.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::slice;

use super::input::In;
use super::output::Out;
use crate::tensor::{Tensor, address, byte_len};
use crate::{Device, Element, HostAddressable, Result};

/// An output in the memory of device `D`.
pub struct DeviceOut<'c, T, D> {
    tensor: Tensor,
    len: usize,
    call: PhantomData<&'c T>,
    device: PhantomData<D>,
}

impl<'c, T: Element, D: Device> Out<'c, T, D> {
    /// Allocates the output in device memory. Its elements are uninitialized.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn uninit(self, dims: &[usize]) -> Result<DeviceOut<'c, T, D>> {
        let len = byte_len::<T>(dims)? / size_of::<T>();
        let tensor = self.target.allocate(T::DTYPE, dims)?;
        tensor.check_type(T::DTYPE)?;
        Ok(DeviceOut::new(tensor, len))
    }

    /// Makes an input the output: both then have the same buffer.
    ///
    /// # Errors
    /// Returns an error if TensorFlow rejects the tensor.
    pub fn set(self, input: In<'c, T, D>) -> Result<()> {
        self.target.set(&input.tensor)
    }

    /// Makes the input's buffer the output if nobody else uses it; otherwise allocates an output of the input's shape.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn forward(self, input: In<'c, T, D>) -> Result<DeviceForwarded<'c, T, D>> {
        let (source, dims, len) = (input.source, input.dims.clone(), input.len());
        // Our reference would prevent the forwarding.
        drop(input);
        let (tensor, is_forwarded) = self.target.forward(source.first, &dims)?;
        let output = DeviceOut::new(tensor, len);
        match is_forwarded {
            true => Ok(DeviceForwarded::InPlace(output)),
            false => Ok(DeviceForwarded::Fresh {
                input: In::new(source, false)?,
                output,
            }),
        }
    }
}

/// The result of [`Out::forward`] in device memory.
pub enum DeviceForwarded<'c, T, D> {
    /// The output has the input's buffer, and its elements.
    InPlace(DeviceOut<'c, T, D>),
    /// The output is a new tensor of the same shape.
    Fresh {
        /// The input.
        input: In<'c, T, D>,
        /// The output.
        output: DeviceOut<'c, T, D>,
    },
}

impl<T: Element, D: Device> DeviceOut<'_, T, D> {
    fn new(tensor: Tensor, len: usize) -> Self {
        let (call, device) = (PhantomData, PhantomData);
        Self {
            tensor,
            len,
            call,
            device,
        }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the address on the device.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow has no function for it.
    pub fn address(&mut self) -> Result<*mut T> {
        Ok(self.tensor.data()?.cast())
    }

    /// Returns the elements, for a device whose memory the host can address.
    ///
    /// # Errors
    /// Returns an error if the address is not aligned for `T`.
    ///
    /// # Safety
    /// No stream uses the tensor while the slice is alive.
    pub unsafe fn as_uninit_slice(&mut self) -> Result<&mut [MaybeUninit<T>]>
    where
        D: HostAddressable,
    {
        let start = address::<MaybeUninit<T>>(self.tensor.data()?)?;
        // SAFETY: the device is host-addressable, the tensor is an output that nobody else has, and the caller
        // guarantees that no stream uses it.
        Ok(unsafe { slice::from_raw_parts_mut(start.as_ptr(), self.len) })
    }
}
