//! The parameter of a kernel that is no tensor: what TensorFlow states about the call.

use sp_abi::kernels::{TF_IsHostMemoryInput, TF_IsHostMemoryOutput}; // since 2.11
use sp_abi::kernels::{TF_OpKernelContext, TF_StepId};

use super::device_context::ContextParameter;
use super::temporary::Temporary;
use crate::kernel::call::Call;
use crate::kernel::sealed::Sealed;
use crate::limit::c_index;
use crate::status::with_status;
use crate::{Element, Result};

/// Node, step and memory spaces of a call.
#[derive(Clone, Copy)]
pub struct CallInfo<'c> {
    call: &'c Call<'c>,
}

impl Sealed for CallInfo<'_> {}

impl<'c> ContextParameter<'c> for CallInfo<'c> {
    fn from_call(call: &'c Call<'c>) -> Result<Self> {
        Ok(Self { call })
    }
}

impl<'c> CallInfo<'c> {
    /// Allocates host memory for a tensor of this shape, which is freed when the value is dropped.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn temporary<T: Element>(&self, dims: &[usize]) -> Result<Temporary<'c, T>> {
        Temporary::new(self.call, dims, true)
    }

    /// Returns the C object, for functions that the SDK does not wrap.
    ///
    /// # Safety
    /// The caller uses it during the call only, as the C API documents. It is null in a kernel that runs behind its call.
    pub unsafe fn as_raw(&self) -> *mut TF_OpKernelContext {
        self.call.context().as_ptr()
    }

    // since 2.10
    /// Returns the name of the node.
    ///
    /// # Errors
    /// Returns an error before 2.10, which has no function for it.
    pub fn node_name(&self) -> Result<&'c str> {
        self.call.context().node_name()
    }

    /// Returns the number of the step: calls of one step belong to the same run of a graph.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow has no function for it.
    pub fn step_id(&self) -> Result<i64> {
        // SAFETY: the context is live.
        Ok(unsafe { TF_StepId.get()?(self.call.context().to_raw()?) })
    }

    // since 2.11
    /// Returns true if tensor `index` of the inputs is in host memory.
    ///
    /// # Errors
    /// Returns an error if there is no such input, and before 2.11, which has no function for it.
    pub fn is_host_input(&self, index: usize) -> Result<bool> {
        let (get, index) = (TF_IsHostMemoryInput.get()?, c_index(index)?);
        let context = self.call.context().to_raw()?;
        // SAFETY: context and status are live, and TensorFlow checks the index.
        with_status(|status| unsafe { get(context, index, status) })
    }

    // since 2.11
    /// Returns true if tensor `index` of the outputs is in host memory.
    ///
    /// # Errors
    /// Returns an error if there is no such output, and before 2.11, which has no function for it.
    pub fn is_host_output(&self, index: usize) -> Result<bool> {
        let (get, index) = (TF_IsHostMemoryOutput.get()?, c_index(index)?);
        let context = self.call.context().to_raw()?;
        // SAFETY: context and status are live, and TensorFlow checks the index.
        with_status(|status| unsafe { get(context, index, status) })
    }
}
