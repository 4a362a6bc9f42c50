//! `TF_Tensor`: an owned handle of a tensor.

use std::ffi::c_void;
use std::ptr::NonNull;

use sp_abi::tf_datatype::TF_DataType;
use sp_abi::tf_tensor::{
    TF_DeleteTensor, TF_Dim, TF_NumDims, TF_Tensor, TF_TensorByteSize, TF_TensorData, TF_TensorType,
};
use sp_runtime::Host;

use crate::dims::Dims;
use crate::{Error, Result};

/// Largest size of an object, and so of a slice.
const MAX_BYTES: usize = isize::MAX as usize;

/// The highest rank of TensorFlow's shapes.
const MAX_RANK: i32 = 254;

/// An owned tensor. Dropping it deletes the handle.
pub(crate) struct Tensor(NonNull<TF_Tensor>);

impl Tensor {
    /// Takes ownership of a tensor.
    ///
    /// # Errors
    /// Returns an error if `tensor` is null.
    ///
    /// # Safety
    /// `tensor` is null, or a live tensor that the caller owns.
    pub unsafe fn from_raw(tensor: *mut TF_Tensor) -> Result<Self> {
        let none = || Error::internal("TensorFlow returned no tensor");
        NonNull::new(tensor).map(Self).ok_or_else(none)
    }

    /// Returns the tensor for a C call. It stays owned.
    pub fn as_ptr(&self) -> *mut TF_Tensor {
        self.0.as_ptr()
    }

    /// Returns the element type.
    pub fn dtype(&self) -> Result<TF_DataType> {
        // SAFETY: the tensor is live.
        Ok(unsafe { TF_TensorType.get()?(self.as_ptr()) })
    }

    /// Checks the element type. In a known release the registration guarantees it, so only debug builds check there;
    /// in a later release the op may have gained types.
    #[inline]
    pub fn check_type(&self, expected: TF_DataType) -> Result<()> {
        match cfg!(debug_assertions) || !Host::running().is_known() {
            true => self.require_type(expected),
            false => Ok(()),
        }
    }

    /// Checks the element type.
    pub fn require_type(&self, expected: TF_DataType) -> Result<()> {
        let found = self.dtype()?;
        let message = || format!("expected a tensor of {expected:?}, got {found:?}");
        match found == expected {
            true => Ok(()),
            false => Err(Error::invalid_argument(message())),
        }
    }

    /// Returns the shape.
    pub fn dims(&self) -> Result<Dims> {
        let (rank, dim) = (TF_NumDims.get()?, TF_Dim.get()?);
        // SAFETY: the tensor is live.
        let rank = unsafe { rank(self.as_ptr()) };
        if rank > MAX_RANK {
            return Err(Error::internal(format!("a tensor of rank {rank}")));
        }
        // The rank of a tensor is not negative.
        Dims::try_new(usize::try_from(rank).unwrap_or(0), |index| {
            // SAFETY: the tensor is live, and the index is below its rank, which is at most 254.
            let dim = unsafe { dim(self.as_ptr(), index as i32) };
            usize::try_from(dim).map_err(|_| Error::internal(format!("a dimension of {dim}")))
        })
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> Result<usize> {
        // SAFETY: the tensor is live.
        Ok(unsafe { TF_TensorByteSize.get()?(self.as_ptr()) })
    }

    /// Returns the address of the elements; null is possible for an empty tensor.
    pub fn data(&self) -> Result<*mut c_void> {
        // SAFETY: the tensor is live.
        Ok(unsafe { TF_TensorData.get()?(self.as_ptr()) })
    }
}

#[cfg(test)]
thread_local! {
    /// Number of tensors that this thread has dropped, since no TensorFlow deletes them.
    pub(crate) static DROPPED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl Drop for Tensor {
    fn drop(&mut self) {
        #[cfg(test)]
        DROPPED.set(DROPPED.get() + 1);
        if let Ok(delete) = TF_DeleteTensor.get() {
            // SAFETY: owned, live, and not used again.
            unsafe { delete(self.as_ptr()) }
        }
    }
}

/// Returns the size in bytes of a tensor of `T`s with this shape.
///
/// # Errors
/// Returns an error if no object can have this size.
pub(crate) fn byte_len<T>(dims: &[usize]) -> Result<usize> {
    let mut factors = dims.iter();
    let bytes = factors.try_fold(size_of::<T>(), |bytes, dim| bytes.checked_mul(*dim));
    let too_large = || Error::invalid_argument(format!("a tensor of shape {dims:?} is too large"));
    match dims.contains(&0) {
        true => Ok(0),
        false => bytes
            .filter(|bytes| *bytes <= MAX_BYTES)
            .ok_or_else(too_large),
    }
}

/// Returns the address of `data`; a dangling one for an empty tensor that has none.
///
/// # Errors
/// Returns an error if it is not aligned for `T`: a bitcast of a part of a tensor may give such.
pub(crate) fn address<T>(data: *mut c_void) -> Result<NonNull<T>> {
    let start = NonNull::new(data.cast()).unwrap_or(NonNull::dangling());
    match start.is_aligned() {
        true => Ok(start),
        false => Err(misaligned(data, align_of::<T>())),
    }
}

#[cold]
fn misaligned(data: *mut c_void, alignment: usize) -> Error {
    let message = format!("a tensor begins at {data:?}, expected a multiple of {alignment} bytes");
    Error::invalid_argument(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_shapes_larger_than_any_object() {
        assert_eq!(byte_len::<f32>(&[2, 3]).unwrap(), 24);
        assert_eq!(byte_len::<f32>(&[]).unwrap(), 4);
        assert_eq!(byte_len::<f32>(&[usize::MAX, usize::MAX, 0]).unwrap(), 0);
        assert!(byte_len::<f32>(&[usize::MAX, 2]).is_err());
        assert!(byte_len::<u8>(&[MAX_BYTES + 1]).is_err());
    }
}
