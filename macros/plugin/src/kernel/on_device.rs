//! What a kernel of one device sees: its device, its stream, and tensors in device memory.

use std::marker::PhantomData;

use sp_runtime::handle;

use super::call::Call;
use super::host_argument::Argument;
use crate::tensor::address;
use crate::{Device, DeviceTensor, DeviceTensorMut, Element, Error, HostTensor, Result, platform};

/// One call of a kernel of device `D`.
pub struct OnDevice<'a, D: Device> {
    call: &'a Call,
    device: &'a D,
    stream: &'a D::Stream,
}

impl<'a, D: Device> OnDevice<'a, D> {
    pub(super) fn new(call: &'a Call) -> Result<Self> {
        let stream = call.stream()?.0;
        // SAFETY: `create_stream` of a `D` gave the stream; TensorFlow destroys neither it nor the device while
        // their kernels run.
        let (device, stream) = unsafe {
            // Neither is touched in a forked child.
            handle::process::<D::Stream>(stream).check("the device")?;
            let device = handle::owner::<D, D::Stream>(stream);
            (device, handle::borrow::<D::Stream>(stream))
        };
        let device = device.ok_or_else(|| Error::internal("the call's stream has no device"))?;
        Ok(Self {
            call,
            device,
            stream,
        })
    }

    /// The device that the call runs on.
    pub fn device(&self) -> &'a D {
        self.device
    }

    /// Returns the number of the device among those of its type.
    pub(super) fn ordinal(&self) -> Option<i32> {
        platform::ordinal(self.device)
    }

    /// The stream to enqueue on. Memory that TensorFlow frees after the call is reused only by work
    /// that comes later on this stream.
    pub fn stream(&self) -> &'a D::Stream {
        self.stream
    }

    /// How many inputs the call has.
    ///
    /// # Errors
    /// Where the running TensorFlow lacks a function for it.
    pub fn inputs(&self) -> Result<usize> {
        self.call.inputs()
    }

    /// Input `index`, in device memory.
    ///
    /// # Errors
    /// Where there is no such input, or its type is another.
    pub fn input<T: Element>(&self, index: usize) -> Result<DeviceTensor<'a, D, T>> {
        let raw = self.call.input(index)?;
        raw.len::<T>()?;
        Ok(DeviceTensor {
            raw,
            of: PhantomData,
        })
    }

    /// Input `index`, which the registration asked for in host memory (`host = [..]`): its shape
    /// and a copy of its elements.
    ///
    /// # Errors
    /// Returns an error if there is no such input, it has another type, or the registration has it in
    /// device memory.
    pub fn host_input<T: Element>(&self, index: usize) -> Result<(Vec<usize>, Vec<T>)> {
        let host = self.call.host_arguments()?;
        host.check(self.call, Argument::Input(index))?;
        let raw = self.call.input(index)?;
        let (start, len) = (address::<T>(raw.data()?)?, raw.len::<T>()?);
        // SAFETY: the tensor is live and in host memory, as just checked, and TensorFlow changes no
        // input during a call.
        let data = unsafe { std::slice::from_raw_parts(start.as_ptr(), len) };
        let tensor = HostTensor {
            dims: raw.dims()?,
            data,
        };
        Ok((tensor.dims, data.to_vec()))
    }

    /// Output `index`, freshly allocated in device memory with shape `dims`.
    ///
    /// # Errors
    /// Where there is no such output, or memory is out.
    pub fn output<T: Element>(
        &self,
        index: usize,
        dims: &[usize],
    ) -> Result<DeviceTensorMut<'a, D, T>> {
        let raw = self.call.output(index, T::DTYPE, dims)?;
        raw.len::<T>()?;
        Ok(DeviceTensorMut {
            tensor: DeviceTensor {
                raw,
                of: PhantomData,
            },
        })
    }

    pub(super) fn call(&self) -> &'a Call {
        self.call
    }
}
