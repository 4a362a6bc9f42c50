//! `TF_OpKernelContext`: one call of a kernel.

use std::ptr;
use std::slice; // since 2.10

use sp_abi::kernels::TF_GetOpKernelName; // since 2.10
use sp_abi::kernels::{
    TF_AllocateTemp, TF_GetStream, TF_OpKernelContext, TF_OpKernelContext_Failure,
};
use sp_abi::stream_executor::SP_Stream;
use sp_abi::tf_datatype::TF_DataType;
use sp_abi::tf_tensor::TF_AllocatorAttributes;
use sp_runtime::{Status, Versioned, handle};

use super::detached::{self, Detached};
use crate::dims::Dims;
use crate::functions::functions;
use crate::limit::c_index;
use crate::small_shape::{SmallShape, check_shape};
use crate::status::CallStatus;
use crate::tensor::Tensor;
use crate::{Device, Error, Result};

/// A borrowed context.
#[derive(Clone, Copy)]
pub struct ContextRef<'c> {
    /// Null if the context is detached.
    raw: *mut TF_OpKernelContext,
    status: &'c CallStatus<'c>,
    detached: Option<&'c Detached<'c>>,
}

impl<'c> ContextRef<'c> {
    /// # Safety
    /// `raw` is the context of a call that does not end during `'c`.
    pub unsafe fn from_raw(raw: *mut TF_OpKernelContext, status: &'c CallStatus<'c>) -> Self {
        Self {
            raw,
            status,
            detached: None,
        }
    }

    /// Returns a context without TensorFlow's.
    pub fn from_detached(detached: &'c Detached<'c>, status: &'c CallStatus<'c>) -> Self {
        Self {
            raw: ptr::null_mut(),
            status,
            detached: Some(detached),
        }
    }

    /// Returns the C object, or null if the context is detached.
    pub fn as_ptr(self) -> *mut TF_OpKernelContext {
        self.raw
    }

    /// Returns the C object.
    ///
    /// # Errors
    /// Returns an error if the context is detached.
    pub fn to_raw(self) -> Result<*mut TF_OpKernelContext> {
        match self.detached {
            None => Ok(self.raw),
            Some(_) => Err(detached::unsupported()),
        }
    }

    /// Returns tensor `index` of the inputs.
    ///
    /// # Errors
    /// Returns an error if there is no such input.
    #[inline(always)]
    pub fn input(self, index: usize) -> Result<Tensor> {
        if let Some(detached) = self.detached {
            return detached.input(index);
        }
        let (get, index) = (functions()?.get_input, c_index(index)?);
        let tensor = self.status.object(|status| {
            let mut tensor = ptr::null_mut();
            // SAFETY: context and status are live, and TensorFlow checks the index. After an error it writes no tensor.
            unsafe { get(self.raw, index, &raw mut tensor, status) };
            tensor
        })?;
        // SAFETY: the caller of TF_GetInput owns the tensor.
        Ok(unsafe { Tensor::from_non_null(tensor) })
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
        check_shape(dims)?;
        if let Some(detached) = self.detached {
            return detached.output(index, dims, None);
        }
        let (allocate, index) = (functions()?.allocate_output, c_index(index)?);
        let rank = c_index(dims.len())?;
        let tensor = self.status.object(|status| {
            // TensorFlow ignores the length, and takes the type from the op's definition.
            // SAFETY: context and status are live, and `dims` has `rank` items.
            with_c_dims(dims, |dims| unsafe {
                allocate(self.raw, index, dtype, dims, rank, 0, status)
            })
        })?;
        // SAFETY: the caller owns the return value.
        Ok(unsafe { Tensor::from_non_null(tensor) })
    }

    /// Allocates output `index`, whose size has been checked. Its elements are uninitialized.
    ///
    /// # Errors
    /// Returns an error if there is no such output, or not enough memory.
    #[inline(always)]
    pub fn allocate_small_output(
        self,
        index: usize,
        dtype: TF_DataType,
        shape: SmallShape<'_>,
    ) -> Result<Tensor> {
        let Some(dims) = shape.c_dims().filter(|_| self.detached.is_none()) else {
            return self.allocate_output(index, dtype, shape.dims());
        };
        let (allocate, index) = (functions()?.allocate_output, c_index(index)?);
        let rank = c_index(dims.len())?;
        let tensor = self.status.object(|status| {
            // SAFETY: context and status are live, and `dims` has `rank` items, which TensorFlow reads only, also where the
            // parameter is mutable. TensorFlow checks the index.
            unsafe { allocate(self.raw, index, dtype, dims.as_ptr(), rank, 0, status) }
        })?;
        // SAFETY: the caller owns the return value.
        Ok(unsafe { Tensor::from_non_null(tensor) })
    }

    /// Allocates a tensor for this call. Its elements are uninitialized.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn allocate_temp(
        self,
        dtype: TF_DataType,
        dims: &[usize],
        is_host: bool,
    ) -> Result<Tensor> {
        check_shape(dims)?;
        if let Some(detached) = self.detached {
            return detached.temporary(dtype, dims);
        }
        let (allocate, rank) = (TF_AllocateTemp.get()?, c_index(dims.len())?);
        let mut attributes = TF_AllocatorAttributes {
            struct_size: TF_AllocatorAttributes::STRUCT_SIZE,
            on_host: is_host.into(),
        };
        let tensor = self.status.object(|status| {
            // SAFETY: context, attributes and status are live, and `dims` has `rank` items.
            with_c_dims(dims, |dims| unsafe {
                allocate(self.raw, dtype, dims, rank, &raw mut attributes, status)
            })
        })?;
        // SAFETY: the caller owns the return value.
        Ok(unsafe { Tensor::from_non_null(tensor) })
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
        check_shape(dims)?;
        if let Some(detached) = self.detached {
            let tensor = detached.output(output, dims, Some(input))?;
            return Ok((tensor, false));
        }
        let forward = functions()?.forward_input_or_allocate_output;
        let (candidate, output, dims) = (c_index(input)?, c_index(output)?, Dims::from(dims));
        let (rank, mut forwarded) = (c_index(dims.len())?, -1);
        let tensor = self.status.object(|status| {
            let (candidates, dims) = (&raw const candidate, dims.as_ptr());
            let forwarded = &raw mut forwarded;
            // SAFETY: context and status are live, `dims` has `rank` items, and there is one candidate.
            unsafe {
                forward(
                    self.raw, candidates, 1, output, dims, rank, forwarded, status,
                )
            }
        })?;
        // SAFETY: the caller owns the return value.
        let tensor = unsafe { Tensor::from_non_null(tensor) };
        Ok((tensor, forwarded == candidate))
    }

    /// Makes `tensor` output `index`.
    ///
    /// # Errors
    /// Returns an error if there is no such output, or if its type is another one.
    pub fn set_output(self, index: usize, tensor: &Tensor) -> Result<()> {
        let (set, index) = (functions()?.set_output, c_index(index)?);
        let raw = self.to_raw()?;
        // SAFETY: context, tensor and status are live, and TensorFlow checks the index.
        self.status
            .check(|status| unsafe { set(raw, index, tensor.as_ptr(), status) })
    }

    // since 2.10
    /// Returns the name of the node.
    ///
    /// # Errors
    /// Returns an error before 2.10, which has no function for it.
    pub fn node_name(self) -> Result<&'c str> {
        let (get, raw) = (TF_GetOpKernelName.get()?, self.to_raw()?);
        // SAFETY: the context is live.
        let name = unsafe { get(raw) };
        if name.data.is_null() {
            return Ok("");
        }
        // SAFETY: the name is the node's, which lives as long as the call.
        let bytes = unsafe { slice::from_raw_parts(name.data.cast(), name.len) };
        str::from_utf8(bytes).map_err(|_| Error::internal("the node's name is not UTF-8"))
    }

    /// Returns the stream of the call.
    ///
    /// # Errors
    /// Returns an error if the device has no stream.
    pub fn stream(self) -> Result<SP_Stream> {
        let (get, raw) = (TF_GetStream.get()?, self.to_raw()?);
        // SAFETY: context and status are live.
        let stream = self.status.object(|status| unsafe { get(raw, status).0 })?;
        Ok(SP_Stream(stream.as_ptr()))
    }
}

/// Reports that the call failed.
///
/// # Errors
/// Returns an error if the running TensorFlow has no function for that.
///
/// # Safety
/// `context` is that of a call that has not ended.
pub(in crate::kernel) unsafe fn fail(
    context: *mut TF_OpKernelContext,
    error: &Error,
) -> Result<()> {
    let (fail, status) = (
        TF_OpKernelContext_Failure.get()?,
        Status::from_error(error)?,
    );
    // SAFETY: the caller guarantees the context, and the status is live; TensorFlow copies it.
    unsafe { fail(context, status.as_ptr()) };
    Ok(())
}

/// Returns the device and the stream of a call.
///
/// # Errors
/// Returns an error in a forked child.
///
/// # Safety
/// The stream is that of a call on a device whose platform is that of `D`, and the call does not end during `'c`.
pub(in crate::kernel) unsafe fn device_of_stream<'c, D: Device>(
    stream: SP_Stream,
) -> Result<(&'c D, &'c D::Stream)> {
    // SAFETY: the caller guarantees that `create_stream` of a `D` returned the stream; TensorFlow destroys neither it nor
    // the device while their kernels run.
    let (device, stream) = unsafe {
        // Neither is used in a forked child.
        handle::process::<D::Stream>(stream.0).check("the device")?;
        let device = handle::owner::<D, D::Stream>(stream.0);
        (device, handle::borrow::<D::Stream>(stream.0))
    };
    let device = device.ok_or_else(|| Error::internal("the call's stream has no device"))?;
    Ok((device, stream))
}

/// Passes dimensions to a C function. The parameter is const from 2.7 on; TensorFlow reads it only.
#[inline]
fn with_c_dims<R>(dims: &[usize], call: impl FnOnce(*mut i64) -> R) -> R {
    let is_large = |dim: &usize| i64::try_from(*dim).is_err();
    match size_of::<usize>() == size_of::<i64>() && !dims.iter().any(is_large) {
        true => call(dims.as_ptr().cast::<i64>().cast_mut()),
        false => call(Dims::from(dims).as_ptr().cast_mut()),
    }
}
