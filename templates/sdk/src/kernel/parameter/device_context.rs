//! The parameter of a kernel of one device that is no tensor: the device and the stream.

use sp_abi::kernels::TF_OpKernelContext;

use super::temporary::Temporary;
use crate::kernel::call::Call;
use crate::kernel::sealed::Sealed;
use crate::{Device, Element, Result};

/// The device and the stream of a call, for a kernel with `device = D`.
pub struct Context<'c, D: Device> {
    pub(crate) call: &'c Call<'c>,
    device: &'c D,
    stream: &'c D::Stream,
}

/// A parameter of a kernel with `#[context]`.
// Sealed, since the call yields inputs of any type, and outputs any number of times.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parameter for the context of a call",
    note = "`&Context<'_, D>` is the device and the stream, `&CallInfo<'_>` node, step and memory spaces"
)]
pub trait ContextParameter<'c>: Sized + Sealed {
    /// Returns the context of a call.
    ///
    /// # Errors
    /// Returns an error if the call runs on another device.
    fn from_call(call: &'c Call<'c>) -> Result<Self>;
}

impl<D: Device> Sealed for Context<'_, D> {}

impl<'c, D: Device> ContextParameter<'c> for Context<'c, D> {
    fn from_call(call: &'c Call<'c>) -> Result<Self> {
        let (device, stream) = call.device::<D>()?;
        Ok(Self {
            call,
            device,
            stream,
        })
    }
}

impl<'c, D: Device> Context<'c, D> {
    /// Returns the device.
    pub fn device(&self) -> &'c D {
        self.device
    }

    /// Returns the stream to enqueue on. Memory that TensorFlow frees after the call is reused only by work that comes
    /// later on this stream.
    pub fn stream(&self) -> &'c D::Stream {
        self.stream
    }

    /// Allocates device memory for a tensor of this shape, which is freed when the value is dropped.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn temporary<T: Element>(&self, dims: &[usize]) -> Result<Temporary<'c, T, D>> {
        Temporary::new(self.call, dims, false)
    }

    /// Allocates host memory for a tensor of this shape, which is freed when the value is dropped.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn host_temporary<T: Element>(&self, dims: &[usize]) -> Result<Temporary<'c, T>> {
        Temporary::new(self.call, dims, true)
    }

    /// Returns the C object, for functions that the SDK does not wrap.
    ///
    /// # Safety
    /// The caller uses it during the call only, as the C API documents.
    pub unsafe fn as_raw(&self) -> *mut TF_OpKernelContext {
        self.call.context().as_ptr()
    }
}
