//! Outputs in the memory of a device, of which the host knows address and length.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use sp_abi::tf_tensor::TF_Tensor;

use super::input::In;
use super::output::Out;
use crate::kernel::call::Call;
use crate::tensor::{Tensor, byte_len};
use crate::{Device, Element, HostAddressable, Result};

/// An output in the memory of device `D`.
pub struct DeviceOut<'c, T, D> {
    tensor: Tensor,
    len: usize,
    call: &'c Call<'c>,
    memory: PhantomData<fn() -> (T, D)>,
}

impl<'c, T: Element, D: Device> Out<'c, T, D> {
    /// Allocates the output in device memory. Its elements are uninitialized.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn uninit(self, dims: &[usize]) -> Result<DeviceOut<'c, T, D>> {
        let (call, len) = (self.target.call, byte_len::<T>(dims)? / size_of::<T>());
        let tensor = self.target.allocate(T::DTYPE, dims)?;
        call.check_type(&tensor, T::DTYPE)?;
        call.note_output(dims);
        Ok(DeviceOut::new(call, tensor, len))
    }

    /// Makes an input the output: both then have the same buffer.
    ///
    /// # Errors
    /// Returns an error if TensorFlow rejects the tensor.
    pub fn set(self, input: In<'c, T, D>) -> Result<()> {
        self.target
            .set(&input.fetched().source(), input.fetched().tensor())
    }

    /// Makes the input's buffer the output if nobody else uses it; otherwise allocates an output of the input's shape.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn forward(self, input: In<'c, T, D>) -> Result<DeviceForwarded<'c, T, D>> {
        let (source, dims, len) = (
            input.fetched().source(),
            input.fetched().dims().clone(),
            input.len(),
        );
        // Our reference would prevent the forwarding.
        drop(input);
        let call = self.target.call;
        let (tensor, is_forwarded) = self.target.forward(source.first, &dims)?;
        call.check_type(&tensor, T::DTYPE)?;
        call.note_output(&dims);
        let output = DeviceOut::new(call, tensor, len);
        match is_forwarded {
            true => Ok(DeviceForwarded::InPlace(output)),
            false => Ok(DeviceForwarded::Fresh {
                input: In::on_device(source)?,
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

impl<'c, T: Element, D: Device> DeviceOut<'c, T, D> {
    fn new(call: &'c Call<'c>, tensor: Tensor, len: usize) -> Self {
        let memory = PhantomData;
        Self {
            tensor,
            len,
            call,
            memory,
        }
    }

    /// Returns the device of the call.
    pub(crate) fn device(&self) -> Result<&D> {
        self.call.own_device()
    }

    len_methods!("elements", self => self.len);

    /// Returns the C object, for functions that the SDK does not wrap.
    ///
    /// # Safety
    /// The caller does not delete the tensor, and uses it only while `self` lives.
    pub unsafe fn as_raw(&self) -> *mut TF_Tensor {
        self.tensor.as_ptr()
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
    /// Returns an error if the address is not aligned for `T`, or if the device is one of those whose memory the host
    /// cannot address.
    ///
    /// # Safety
    /// No stream uses the tensor while the slice is alive.
    pub unsafe fn as_uninit_slice(&mut self) -> Result<&mut [MaybeUninit<T>]>
    where
        D: HostAddressable,
    {
        let mut elements = (self.call).addressable_elements::<_, D>(&self.tensor, self.len)?;
        // SAFETY: the tensor is an output that nobody else has, and the caller guarantees that no stream uses it.
        Ok(unsafe { elements.as_mut() })
    }
}
