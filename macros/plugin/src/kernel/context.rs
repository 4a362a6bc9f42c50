//! `TF_OpKernelContext`: one call of a kernel.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr;

use sp_abi::kernels::{
    TF_AllocateOutput, TF_ForwardInputOrAllocateOutput, TF_GetInput, TF_GetStream,
    TF_OpKernelContext, TF_OpKernelContext_Failure, TF_SetOutput,
};
use sp_abi::stream_executor::SP_Stream;
use sp_abi::tf_datatype::TF_DataType;
use sp_runtime::Status;

use super::status::with_status;
use crate::dims::Dims;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// A borrowed context.
#[derive(Clone, Copy)]
pub struct ContextRef<'c> {
    raw: *mut TF_OpKernelContext,
    borrowed: PhantomData<&'c ()>,
}

impl<'c> ContextRef<'c> {
    /// # Safety
    /// `raw` is the context of a call that does not end during `'c`.
    pub unsafe fn from_raw(raw: *mut TF_OpKernelContext) -> Self {
        Self {
            raw,
            borrowed: PhantomData,
        }
    }

    /// Returns the C object.
    pub fn as_ptr(self) -> *mut TF_OpKernelContext {
        self.raw
    }

    /// Returns tensor `index` of the inputs.
    ///
    /// # Errors
    /// Returns an error if there is no such input.
    pub fn input(self, index: usize) -> Result<Tensor> {
        let (get, index) = (TF_GetInput.get()?, c_index(index)?);
        let mut tensor = ptr::null_mut();
        // SAFETY: context and status are live, and TensorFlow checks the index.
        with_status(|status| unsafe { get(self.raw, index, &raw mut tensor, status) })?;
        // SAFETY: the caller of TF_GetInput owns the tensor.
        unsafe { Tensor::from_raw(tensor) }
    }

    /// Allocates output `index`. Its elements are uninitialized.
    ///
    /// # Errors
    /// Returns an error if there is no such output, or not enough memory.
    pub fn allocate_output(
        self,
        index: usize,
        dtype: TF_DataType,
        dims: &[usize],
    ) -> Result<Tensor> {
        let (allocate, index) = (TF_AllocateOutput.get()?, c_index(index)?);
        let (rank, dims) = (c_index(dims.len())?, Dims::from(dims));
        // The parameter is const from 2.7 on; TensorFlow reads it only.
        let dims = dims.as_ptr().cast_mut();
        // TensorFlow ignores the length, and takes the type from the op's definition.
        // SAFETY: context and status are live, and `dims` has `rank` items.
        let tensor = with_status(|status| unsafe {
            allocate(self.raw, index, dtype, dims, rank, 0, status)
        })?;
        // SAFETY: the caller owns the return value.
        unsafe { Tensor::from_raw(tensor) }
    }

    /// Makes the buffer of an input that nobody else uses output `index`, or allocates the output. Returns true
    /// with the tensor if it has the input's buffer.
    ///
    /// # Errors
    /// Returns an error if there is no such output, or not enough memory.
    pub fn forward_input_or_allocate_output(
        self,
        input: usize,
        output: usize,
        dims: &[usize],
    ) -> Result<(Tensor, bool)> {
        let forward = TF_ForwardInputOrAllocateOutput.get()?;
        let (candidate, output, dims) = (c_index(input)?, c_index(output)?, Dims::from(dims));
        let (rank, mut forwarded) = (c_index(dims.len())?, -1);
        let tensor = with_status(|status| {
            // The parameters are const from 2.7 on; TensorFlow reads them only.
            let (candidates, dims) = ((&raw const candidate).cast_mut(), dims.as_ptr().cast_mut());
            let forwarded = &raw mut forwarded;
            // SAFETY: context and status are live, `dims` has `rank` items, and there is one candidate.
            unsafe {
                forward(
                    self.raw, candidates, 1, output, dims, rank, forwarded, status,
                )
            }
        })?;
        // SAFETY: the caller owns the return value.
        Ok((unsafe { Tensor::from_raw(tensor)? }, forwarded == candidate))
    }

    /// Makes `tensor` output `index`.
    ///
    /// # Errors
    /// Returns an error if there is no such output, or if its type is another one.
    pub fn set_output(self, index: usize, tensor: &Tensor) -> Result<()> {
        let (set, index) = (TF_SetOutput.get()?, c_index(index)?);
        // SAFETY: context, tensor and status are live, and TensorFlow checks the index.
        with_status(|status| unsafe { set(self.raw, index, tensor.as_ptr(), status) })
    }

    /// Returns the stream of the call.
    ///
    /// # Errors
    /// Returns an error if the device has no stream.
    pub fn stream(self) -> Result<SP_Stream> {
        let get = TF_GetStream.get()?;
        // SAFETY: context and status are live.
        with_status(|status| unsafe { get(self.raw, status) })
    }

    /// Reports that the call failed.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow has no function for that.
    pub fn fail(self, error: &Error) -> Result<()> {
        let (fail, status) = (
            TF_OpKernelContext_Failure.get()?,
            Status::from_error(error)?,
        );
        // SAFETY: context and status are live; TensorFlow copies the status.
        unsafe { fail(self.raw, status.as_ptr()) };
        Ok(())
    }
}

/// Converts an index or a count for C.
pub(super) fn c_index(value: usize) -> Result<c_int> {
    let too_large = |_| Error::invalid_argument(format!("{value} is too large an index"));
    c_int::try_from(value).map_err(too_large)
}
