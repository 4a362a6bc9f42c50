//! Memory for the duration of a call, from TensorFlow's allocators.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::slice;

use sp_abi::tf_tensor::TF_Tensor;

use super::placement::HostAccess;
use crate::kernel::call::Call;
use crate::tensor::{Tensor, address, byte_len};
use crate::{Device, Element, HostAddressable, Result};

/// Memory of `T`s that is freed when the value is dropped. Its elements are uninitialized.
///
/// `Temporary<'_, T>` is in host memory, `Temporary<'_, T, D>` in the memory of device `D`. Device memory may be dropped
/// when the work that uses it is enqueued: TensorFlow reuses it only for work that comes later on the stream.
pub struct Temporary<'c, T, S = HostAccess> {
    tensor: Tensor,
    len: usize,
    call: &'c Call<'c>,
    memory: PhantomData<fn() -> (T, S)>,
}

impl<'c, T: Element, S> Temporary<'c, T, S> {
    /// Allocates memory for the shape `dims`.
    pub(super) fn new(call: &'c Call<'c>, dims: &[usize], is_host: bool) -> Result<Self> {
        let len = byte_len::<T>(dims)? / size_of::<T>();
        let tensor = call.context().allocate_temp(T::DTYPE, dims, is_host)?;
        // The type of a temporary is the one that was passed.
        Ok(Self {
            tensor,
            len,
            call,
            memory: PhantomData,
        })
    }

    len_methods!("elements", self => self.len);

    /// Returns the C object, for functions that the SDK does not wrap.
    ///
    /// # Safety
    /// The caller does not delete the tensor, and uses it only while `self` lives.
    pub unsafe fn as_raw(&self) -> *mut TF_Tensor {
        self.tensor.as_ptr()
    }
}

impl<T: Element> Temporary<'_, T> {
    /// Returns the elements.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow has no function for their address.
    pub fn as_uninit_slice(&mut self) -> Result<&mut [MaybeUninit<T>]> {
        let start = address::<MaybeUninit<T>>(self.tensor.data()?, self.len)?;
        // SAFETY: `address` has checked the alignment. The tensor is in host memory, has `len` elements, which may be
        // uninitialized, and nobody else has it.
        Ok(unsafe { slice::from_raw_parts_mut(start.as_ptr(), self.len) })
    }

    /// Writes `value` to all elements, and returns them.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow has no function for their address.
    pub fn fill(&mut self, value: T) -> Result<&mut [T]> {
        let elements = self.as_uninit_slice()?;
        elements.iter_mut().for_each(|it| {
            it.write(value);
        });
        let (start, len) = (elements.as_mut_ptr().cast(), elements.len());
        // SAFETY: all elements of the slice are written.
        Ok(unsafe { slice::from_raw_parts_mut(start, len) })
    }
}

impl<T: Element, D: Device> Temporary<'_, T, D> {
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
    /// No stream uses the memory while the slice is alive.
    pub unsafe fn as_uninit_slice(&mut self) -> Result<&mut [MaybeUninit<T>]>
    where
        D: HostAddressable,
    {
        let mut elements = (self.call).addressable_elements::<_, D>(&self.tensor, self.len)?;
        // SAFETY: nobody else has the tensor, and the caller guarantees that no stream uses it.
        Ok(unsafe { elements.as_mut() })
    }
}
