//! One call of a kernel, as TensorFlow describes it.

use std::cell::Cell;
use std::ffi::c_int;
use std::ptr;

use sp_abi::kernels::{
    TF_AllocateOutput, TF_GetInput, TF_GetStream, TF_NumInputs, TF_NumOutputs, TF_OpKernelContext,
};
use sp_abi::stream_executor::SP_Stream;
use sp_abi::tf_datatype::TF_DataType;
use sp_runtime::Status;

use super::calls::Calls;
use super::host_argument::HostArguments;
use crate::tensor::Raw;
use crate::{Error, Result};

/// TensorFlow's context of one call, and a status for the questions asked of it.
pub struct Call {
    context: *mut TF_OpKernelContext,
    status: Status,
    staged: Cell<bool>,
    kernel: Cell<Option<&'static Calls>>,
}

impl Call {
    /// # Safety
    /// `context` is the context of a call that outlives this value.
    pub unsafe fn new(context: *mut TF_OpKernelContext) -> Result<Self> {
        Ok(Self {
            context,
            status: Status::new()?,
            staged: Cell::new(false),
            kernel: Cell::new(None),
        })
    }

    /// Sets the registered kernel whose call this is.
    pub fn set_kernel(&self, kernel: &'static Calls) {
        self.kernel.set(Some(kernel));
    }

    /// Returns the host arguments of the kernel's registration.
    pub fn host_arguments(&self) -> Result<&'static HostArguments> {
        let unknown = || Error::internal("the call's kernel is not known");
        self.kernel.get().map(Calls::host).ok_or_else(unknown)
    }

    pub fn inputs(&self) -> Result<usize> {
        // SAFETY: the context is live.
        Ok(unsafe { TF_NumInputs.get()?(self.context) }
            .try_into()
            .unwrap_or(0))
    }

    pub fn outputs(&self) -> Result<usize> {
        // SAFETY: the context is live.
        Ok(unsafe { TF_NumOutputs.get()?(self.context) }
            .try_into()
            .unwrap_or(0))
    }

    pub fn input(&self, index: usize) -> Result<Raw> {
        let mut tensor = ptr::null_mut();
        let get = TF_GetInput.get()?;
        // SAFETY: the context is live, and the index is checked by TensorFlow.
        unsafe {
            get(
                self.context,
                int(index)?,
                &raw mut tensor,
                self.status.as_ptr(),
            )
        };
        self.status.check()?;
        // SAFETY: TensorFlow passes the tensor's ownership to us.
        unsafe { Raw::new(tensor) }
    }

    /// A fresh output. Its elements hold whatever the memory held.
    pub fn output(&self, index: usize, dtype: TF_DataType, dims: &[usize]) -> Result<Raw> {
        let allocate = TF_AllocateOutput.get()?;
        let dims: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
        // TensorFlow ignores the length, and takes the type from the op's definition. `dims` is read only; the
        // parameter is const from 2.7 on.
        // SAFETY: the context is live, and `dims` holds as many as it says.
        let tensor = unsafe {
            let (index, rank) = (int(index)?, int(dims.len())?);
            allocate(
                self.context,
                index,
                dtype,
                dims.as_ptr().cast_mut(),
                rank,
                0,
                self.status.as_ptr(),
            )
        };
        self.status.check()?;
        // SAFETY: the caller owns what TF_AllocateOutput returns.
        unsafe { Raw::new(tensor) }
    }

    pub fn stream(&self) -> Result<SP_Stream> {
        let get = TF_GetStream.get()?;
        // SAFETY: the context is live.
        let stream = unsafe { get(self.context, self.status.as_ptr()) };
        self.status.check()?;
        Ok(stream)
    }

    pub(super) fn context(&self) -> *mut TF_OpKernelContext {
        self.context
    }

    pub(super) fn status(&self) -> &Status {
        &self.status
    }

    /// Whether device memory was copied to the host for this call.
    pub fn staged(&self) -> &Cell<bool> {
        &self.staged
    }
}

pub(super) fn int(value: usize) -> Result<c_int> {
    value
        .try_into()
        .map_err(|_| Error::invalid_argument(format!("{value} is too large an index")))
}
