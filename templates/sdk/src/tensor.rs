//! `TF_Tensor`: an owned handle of a tensor.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::num::NonZero;
use std::ptr::{self, NonNull};

use sp_abi::tf_datatype::TF_DataType;
use sp_abi::tf_tensor::{
    TF_NewTensor, TF_Tensor, TF_TensorBitcastFrom, TF_TensorByteSize, TF_TensorIsAligned,
    TF_TensorType,
};
use sp_runtime::guard;

use crate::dims::Dims;
use crate::functions::{Functions, functions};
use crate::host_memory::HostMemory;
use crate::small_shape::{MAX_RANK, check_shape};
use crate::status::with_status;
use crate::{Error, Result};

/// Largest size of an object, and so of a slice.
const MAX_BYTES: usize = isize::MAX as usize;

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

    /// Takes ownership of a tensor.
    ///
    /// # Safety
    /// `tensor` is a live tensor that the caller owns.
    #[inline]
    pub unsafe fn from_non_null(tensor: NonNull<TF_Tensor>) -> Self {
        Self(tensor)
    }

    /// Creates a tensor in host memory, which is dropped once: when nobody has the buffer any more, or at once if TensorFlow
    /// copies it, since it is not aligned.
    ///
    /// # Errors
    /// Returns an error if the memory has fewer bytes than the shape, or if TensorFlow cannot represent the shape. The memory is
    /// dropped; if TensorFlow creates no tensor, it is leaked, since TensorFlow may have it.
    ///
    /// # Safety
    /// - An element of the type has `width` bytes, and any bytes are a value of it.
    pub unsafe fn in_memory(
        (dtype, width): (TF_DataType, usize),
        dims: &[usize],
        memory: HostMemory,
    ) -> Result<Self> {
        check_shape(dims)?;
        let (create, bytes) = (TF_NewTensor.get()?, byte_len_of(dims, width)?);
        if memory.len() < bytes {
            let message = format!("{} bytes of memory for {bytes}", memory.len());
            return Err(Error::invalid_argument(message));
        }
        let dims = Dims::from(dims);
        let (start, owner) = (memory.start().as_ptr(), Box::into_raw(Box::new(memory)));
        // SAFETY: `dims` has as many items, at most 254. The memory has `bytes` bytes, which live until `drop_memory` has got the
        // box. TensorFlow calls it once: with the last tensor that has the buffer, or when it has copied the bytes.
        let tensor = unsafe {
            create(
                dtype,
                dims.as_ptr(),
                dims.len() as i32,
                start.cast(),
                bytes,
                Some(drop_memory),
                owner.cast(),
            )
        };
        // SAFETY: a new tensor is this function's.
        unsafe { Self::from_raw(tensor) }
    }

    /// Creates a handle of a tensor in host memory, which it does not own. TensorFlow copies the bytes if they are not aligned.
    ///
    /// # Errors
    /// Returns an error if TensorFlow cannot represent the shape.
    ///
    /// # Safety
    /// - `start` is the address of `bytes` bytes that live longer than each handle of the tensor: those of the shape and type.
    /// - Any bytes are a value of the type.
    pub unsafe fn at_address(
        dtype: TF_DataType,
        dims: &[usize],
        start: NonNull<u8>,
        bytes: usize,
    ) -> Result<Self> {
        check_shape(dims)?;
        let (create, dims, no_owner) = (TF_NewTensor.get()?, Dims::from(dims), ptr::null_mut());
        // SAFETY: `dims` has as many items, at most 254. The caller guarantees the memory.
        let tensor = unsafe {
            create(
                dtype,
                dims.as_ptr(),
                dims.len() as i32,
                start.as_ptr().cast(),
                bytes,
                Some(leave_memory),
                no_owner,
            )
        };
        // SAFETY: a new tensor is this function's.
        unsafe { Self::from_raw(tensor) }
    }

    /// Returns true if the elements have the alignment that TensorFlow prefers.
    pub fn is_aligned(&self) -> Result<bool> {
        // SAFETY: the tensor is live.
        Ok(unsafe { TF_TensorIsAligned.get()?(self.as_ptr()) })
    }

    /// Transfers the tensor to the caller, who deletes it.
    pub fn into_raw(self) -> *mut TF_Tensor {
        ManuallyDrop::new(self).as_ptr()
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
    #[inline]
    pub fn dims(&self) -> Result<Dims> {
        let functions = functions()?;
        // SAFETY: the tensor is live.
        let rank = unsafe { (functions.num_dims)(self.as_ptr()) };
        if usize::try_from(rank).is_ok_and(|rank| rank > MAX_RANK) {
            return Err(invalid_size("a tensor of rank", rank.into()));
        }
        // The rank of a tensor is not negative.
        Dims::try_new(usize::try_from(rank).unwrap_or(0), |index| {
            // SAFETY: the tensor is live, and the index is below its rank, which is at most 254.
            let dim = unsafe { (functions.dim)(self.as_ptr(), index as i32) };
            usize::try_from(dim).map_err(|_| invalid_size("a dimension of", dim))
        })
    }

    /// Returns the shape and the size in bytes of a tensor whose elements have `width` bytes; `None` if the shape has more
    /// than eight dimensions, or if no object can have the size.
    #[inline(always)]
    pub fn inline_dims(&self, functions: &Functions, width: usize) -> Option<(Dims, usize)> {
        // SAFETY: the tensor is live.
        let rank = unsafe { (functions.num_dims)(self.as_ptr()) };
        let mut bytes = width;
        let dims = Dims::try_inline(usize::try_from(rank).ok()?, |index| {
            // SAFETY: the tensor is live, and the index is below its rank, which is at most eight.
            let dim = unsafe { (functions.dim)(self.as_ptr(), index as i32) };
            let dim = usize::try_from(dim).ok()?;
            bytes = bytes.checked_mul(dim)?;
            Some(dim)
        })?;
        (bytes <= MAX_BYTES).then_some((dims, bytes))
    }

    /// Makes the tensor share the buffer of `source`, under another shape of as many elements.
    ///
    /// # Errors
    /// Returns an error if the numbers of elements differ, or if TensorFlow cannot represent the shape.
    pub fn share_buffer(&mut self, source: &Self, dims: &[usize]) -> Result<()> {
        check_shape(dims)?;
        let (share, dtype, dims) = (
            TF_TensorBitcastFrom.get()?,
            source.dtype()?,
            Dims::from(dims),
        );
        // The rank of the shape is at most 254.
        let rank = dims.len() as i32;
        // SAFETY: tensors and status are live, and `dims` has `rank` items.
        let share = |status| unsafe {
            share(
                source.as_ptr(),
                dtype,
                self.as_ptr(),
                dims.as_ptr(),
                rank,
                status,
            );
        };
        with_status(share)
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> Result<usize> {
        // SAFETY: the tensor is live.
        Ok(unsafe { TF_TensorByteSize.get()?(self.as_ptr()) })
    }

    /// Returns the address of the elements; null is possible for an empty tensor.
    #[inline]
    pub fn data(&self) -> Result<*mut c_void> {
        // SAFETY: the tensor is live.
        Ok(unsafe { (functions()?.data)(self.as_ptr()) })
    }
}

/// Drops the memory of a tensor of [`Tensor::in_memory`].
unsafe extern "C" fn drop_memory(_: *mut c_void, _: usize, owner: *mut c_void) {
    // SAFETY: `in_memory` made the box, and TensorFlow calls this function once.
    let memory = unsafe { Box::from_raw(owner.cast::<HostMemory>()) };
    guard::run_with_default("the owner of a tensor's memory", (), || drop(memory));
}

/// Does nothing: the memory of a tensor of [`Tensor::at_address`] has another owner.
unsafe extern "C" fn leave_memory(_: *mut c_void, _: usize, _: *mut c_void) {}

#[cfg(test)]
thread_local! {
    /// Number of tensors that this thread has dropped, since no TensorFlow deletes them.
    pub(crate) static DROPPED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl Drop for Tensor {
    #[inline]
    fn drop(&mut self) {
        #[cfg(test)]
        DROPPED.set(DROPPED.get() + 1);
        if let Ok(functions) = functions() {
            // SAFETY: owned, live, and not used again.
            unsafe { (functions.delete)(self.as_ptr()) }
        }
    }
}

#[cold]
fn invalid_size(what: &str, size: i64) -> Error {
    Error::internal(format!("{what} {size}"))
}

/// Returns the size in bytes of a tensor of `T`s with this shape.
///
/// # Errors
/// Returns an error if no object can have this size.
#[inline]
pub(crate) fn byte_len<T>(dims: &[usize]) -> Result<usize> {
    byte_len_of(dims, size_of::<T>())
}

/// Returns the size in bytes of a tensor with this shape, whose elements have `width` bytes.
///
/// # Errors
/// Returns an error if no object can have this size.
#[inline]
pub(crate) fn byte_len_of(dims: &[usize], width: usize) -> Result<usize> {
    let mut bytes = width;
    for dim in dims {
        match bytes.checked_mul(*dim) {
            Some(product) => bytes = product,
            None => return empty_or_too_large(dims),
        }
    }
    match bytes <= MAX_BYTES {
        true => Ok(bytes),
        false => empty_or_too_large(dims),
    }
}

/// Returns 0 for a shape without elements, whose other dimensions may be of any size.
#[cold]
fn empty_or_too_large(dims: &[usize]) -> Result<usize> {
    let too_large = || Error::invalid_argument(format!("a tensor of shape {dims:?} is too large"));
    dims.contains(&0).then_some(0).ok_or_else(too_large)
}

/// Returns the address of `len` elements at `data`; a dangling one for an empty tensor that has none, or one that is not aligned.
///
/// # Errors
/// As for [`aligned_address`]: a bitcast of a part of a tensor may be at an address that is not aligned for `T`.
#[inline]
pub(crate) fn address<T>(data: *mut c_void, len: usize) -> Result<NonNull<T>> {
    aligned_address(data, len, align_of::<T>()).map(NonNull::cast)
}

/// Returns the address of `len` bytes or elements at `data`; one without memory for an empty tensor that has none, or one that is not aligned.
///
/// # Errors
/// Returns an error if there are elements, and it is null or not a multiple of `alignment`.
#[inline]
pub(crate) fn aligned_address(
    data: *mut c_void,
    len: usize,
    alignment: usize,
) -> Result<NonNull<u8>> {
    // An alignment is a power of two.
    match NonNull::new(data.cast::<u8>()) {
        Some(start) if start.addr().get() & (alignment - 1) == 0 => Ok(start),
        _ if len == 0 => Ok(without_memory(alignment)),
        Some(start) => Err(misaligned(start, alignment)),
        None => Err(Error::internal("a tensor with elements has no memory")),
    }
}

#[cold]
fn without_memory(alignment: usize) -> NonNull<u8> {
    // The alignment of a type is not 0.
    NonNull::without_provenance(NonZero::new(alignment).unwrap_or(NonZero::<usize>::MIN))
}

#[cold]
fn misaligned(start: NonNull<u8>, alignment: usize) -> Error {
    let message = format!("a tensor begins at {start:?}, expected a multiple of {alignment} bytes");
    Error::invalid_argument(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_of_elements_is_aligned_and_not_null() {
        let at = |address| ptr::without_provenance_mut(address);
        assert_eq!(address::<u32>(at(8), 1).unwrap().addr().get(), 8);
        assert_eq!(address::<u32>(at(0), 0).unwrap().addr().get(), 4);
        assert_eq!(address::<u32>(at(6), 0).unwrap().addr().get(), 4);
        assert!(address::<u32>(at(6), 1).is_err());
        assert!(address::<u32>(at(0), 1).is_err());
    }

    #[test]
    fn rejects_shapes_larger_than_any_object() {
        assert_eq!(byte_len::<f32>(&[2, 3]).unwrap(), 24);
        assert_eq!(byte_len::<f32>(&[]).unwrap(), 4);
        assert_eq!(byte_len::<f32>(&[usize::MAX, usize::MAX, 0]).unwrap(), 0);
        assert_eq!(byte_len::<f32>(&[0, usize::MAX]).unwrap(), 0);
        assert!(byte_len::<f32>(&[usize::MAX, 2]).is_err());
        assert!(byte_len::<u8>(&[MAX_BYTES + 1]).is_err());
    }
}
