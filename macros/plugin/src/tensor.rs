//! Tensors of one kernel call, by memory space.
//!
//! [`HostTensor`] yields a slice. [`DeviceTensor`] yields an address and a length, and a slice only
//! where its device is [`HostAddressable`].

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::slice;

use sp_abi::tf_datatype::TF_DataType;
use sp_abi::tf_tensor::{
    TF_DeleteTensor, TF_Dim, TF_NumDims, TF_Tensor, TF_TensorByteSize, TF_TensorData, TF_TensorType,
};

use crate::{Element, Error, HostAddressable, Result};

/// No object is larger, so no slice may be.
const LARGEST: usize = isize::MAX as usize;

/// The highest rank that TensorFlow's shapes have.
const HIGHEST_RANK: i32 = 254;

/// A tensor that TensorFlow gave us; deleted when dropped, as each must be.
pub(crate) struct Raw(NonNull<TF_Tensor>);

impl Raw {
    /// # Safety
    /// `tensor` is null or a live tensor that is ours to delete.
    pub unsafe fn new(tensor: *mut TF_Tensor) -> Result<Self> {
        NonNull::new(tensor)
            .map(Self)
            .ok_or_else(|| Error::internal("TensorFlow gave no tensor"))
    }

    pub fn as_ptr(&self) -> *mut TF_Tensor {
        self.0.as_ptr()
    }

    pub fn dtype(&self) -> Result<TF_DataType> {
        // SAFETY: the tensor is live.
        Ok(unsafe { TF_TensorType.get()?(self.as_ptr()) })
    }

    pub fn dims(&self) -> Result<Vec<usize>> {
        let (rank, dim) = (TF_NumDims.get()?, TF_Dim.get()?);
        // SAFETY: the tensor is live.
        let rank = unsafe { rank(self.as_ptr()) };
        if rank > HIGHEST_RANK {
            return Err(Error::internal(format!("a tensor of rank {rank}")));
        }
        // SAFETY: the tensor is live, and every index is below its rank.
        unsafe { (0..rank).map(|i| length(dim(self.as_ptr(), i))).collect() }
    }

    pub fn bytes(&self) -> Result<usize> {
        // SAFETY: the tensor is live.
        Ok(unsafe { TF_TensorByteSize.get()?(self.as_ptr()) })
    }

    /// Where its elements lie; null is possible for an empty tensor.
    pub fn data(&self) -> Result<*mut c_void> {
        // SAFETY: the tensor is live.
        Ok(unsafe { TF_TensorData.get()?(self.as_ptr()) })
    }

    /// Returns the number of elements, after checking that they are `T`s and fit the address space.
    pub fn len<T: Element>(&self) -> Result<usize> {
        let found = self.dtype()?;
        if found != T::DTYPE {
            let message = format!("expected a tensor of {:?}, got {found:?}", T::DTYPE);
            return Err(Error::invalid_argument(message));
        }
        match self.bytes()? {
            bytes if bytes <= LARGEST => Ok(bytes / size_of::<T>()),
            bytes => Err(Error::internal(format!("a tensor of {bytes} bytes"))),
        }
    }
}

#[cfg(test)]
thread_local! {
    /// How many this thread has dropped, where no TensorFlow deletes them.
    pub(crate) static DROPPED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl Drop for Raw {
    fn drop(&mut self) {
        #[cfg(test)]
        DROPPED.set(DROPPED.get() + 1);
        if let Ok(delete) = TF_DeleteTensor.get() {
            // SAFETY: ours, live, and not used again.
            unsafe { delete(self.as_ptr()) }
        }
    }
}

fn length(dim: i64) -> Result<usize> {
    usize::try_from(dim).map_err(|_| Error::internal(format!("a dimension of {dim}")))
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

/// A tensor in host memory, or one that the host may use in place: dims, and elements in row-major
/// order.
#[derive(Debug, Clone)]
pub struct HostTensor<'a, T> {
    pub(crate) dims: Vec<usize>,
    pub(crate) data: &'a [T],
}

impl<'a, T> HostTensor<'a, T> {
    /// Its shape.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Its elements.
    pub fn data(&self) -> &'a [T] {
        self.data
    }

    /// Its only element.
    ///
    /// # Errors
    /// Where it has not exactly one.
    pub fn scalar(&self) -> Result<T>
    where
        T: Copy,
    {
        match self.data {
            [value] => Ok(*value),
            _ => Err(Error::invalid_argument(format!(
                "expected one element, got {:?}",
                self.dims
            ))),
        }
    }
}

/// A tensor in the memory of device `D`, to read.
pub struct DeviceTensor<'a, D, T> {
    pub(crate) raw: Raw,
    pub(crate) of: PhantomData<(&'a D, T)>,
}

impl<D, T: Element> DeviceTensor<'_, D, T> {
    /// Its shape.
    ///
    /// # Errors
    /// Where the running TensorFlow lacks a function for it.
    pub fn dims(&self) -> Result<Vec<usize>> {
        self.raw.dims()
    }

    /// How many elements it has.
    ///
    /// # Errors
    /// Where its type is not `T`.
    pub fn len(&self) -> Result<usize> {
        self.raw.len::<T>()
    }

    /// Whether it has none.
    ///
    /// # Errors
    /// Where its type is not `T`.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Its address on the device.
    ///
    /// # Errors
    /// Where the running TensorFlow lacks a function for it.
    pub fn address(&self) -> Result<*const T> {
        Ok(self.raw.data()?.cast_const().cast())
    }

    /// Its elements, for a device whose memory the host may use. What streams still do to it is the
    /// caller's to wait for.
    ///
    /// # Errors
    /// Where its type is not `T`.
    ///
    /// # Safety
    /// No stream writes to it while the slice lives, and what wrote it last is done.
    pub unsafe fn as_slice(&self) -> Result<&[T]>
    where
        D: HostAddressable,
    {
        let (start, len) = (address::<T>(self.raw.data()?)?, self.len()?);
        // SAFETY: the device is host-addressable, the tensor lives as long as `self`, and the
        // caller vouches that nobody writes.
        Ok(unsafe { slice::from_raw_parts(start.as_ptr(), len) })
    }
}

/// A tensor in the memory of device `D`, to write.
pub struct DeviceTensorMut<'a, D, T> {
    pub(crate) tensor: DeviceTensor<'a, D, T>,
}

impl<D, T: Element> DeviceTensorMut<'_, D, T> {
    /// The same tensor, to read.
    pub fn as_tensor(&self) -> &DeviceTensor<'_, D, T> {
        &self.tensor
    }

    /// How many elements it has.
    ///
    /// # Errors
    /// Where its type is not `T`.
    pub fn len(&self) -> Result<usize> {
        self.tensor.len()
    }

    /// Whether it has none.
    ///
    /// # Errors
    /// Where its type is not `T`.
    pub fn is_empty(&self) -> Result<bool> {
        self.tensor.is_empty()
    }

    /// Its address on the device.
    ///
    /// # Errors
    /// Where the running TensorFlow lacks a function for it.
    pub fn address(&mut self) -> Result<*mut T> {
        Ok(self.tensor.raw.data()?.cast())
    }

    /// Its elements, for a device whose memory the host may use. They hold whatever the memory held.
    ///
    /// # Errors
    /// Where its type is not `T`.
    ///
    /// # Safety
    /// - No stream uses it while the slice lives.
    /// - Every element is written before it is read.
    pub unsafe fn as_mut_slice(&mut self) -> Result<&mut [T]>
    where
        D: HostAddressable,
    {
        let (start, len) = (address::<T>(self.tensor.raw.data()?)?, self.len()?);
        // SAFETY: the device is host-addressable, the tensor is a fresh output that nobody else
        // has, and the caller vouches for the rest.
        Ok(unsafe { slice::from_raw_parts_mut(start.as_ptr(), len) })
    }
}
