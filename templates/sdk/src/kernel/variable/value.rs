//! The value of a locked variable.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;

use crate::buffer::Buffer;
use crate::dims::Dims;
use crate::kernel::call::Call;
use crate::kernel::parameter::short_copy;
use crate::tensor::{Tensor, address, byte_len};
use crate::{Device, Element, HostAddressable, Result};

/// The elements of a locked variable in row-major order. Changes are the variable's.
pub struct VariableValue<'l, T> {
    call: &'l Call<'l>,
    tensor: Tensor,
    dims: Dims,
    copy: Option<Buffer>,
    start: NonNull<T>,
    len: usize,
    is_changed: bool,
}

impl<'l, T: Element> VariableValue<'l, T> {
    pub(super) fn new(call: &'l Call<'_>, tensor: Tensor, is_reference: bool) -> Result<Self> {
        let (dims, copy) = (tensor.dims()?, call.variable_copy(&tensor, is_reference)?);
        let bytes = byte_len::<T>(&dims)?;
        let len = bytes / size_of::<T>();
        let start = match &copy {
            Some(copy) if copy.byte_len() < bytes => return Err(short_copy()),
            Some(copy) => copy.start().cast(),
            None => address(tensor.data()?, len)?,
        };
        Ok(Self {
            call,
            tensor,
            dims,
            copy,
            start,
            len,
            is_changed: false,
        })
    }

    /// Returns the shape.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }
}

impl<T: Element> Deref for VariableValue<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `new` has checked the alignment. The tensor, or its copy, has `len` elements and lives as long as
        // `self`. Any bytes are values of an `Element`. The variable is locked, and the tensor of a resource has no other
        // user; a reference has a copy.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Element> DerefMut for VariableValue<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.is_changed = true;
        // SAFETY: as in `deref`.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T> Drop for VariableValue<'_, T> {
    /// Copies the elements to the variable if they were changed in a copy.
    fn drop(&mut self) {
        let Some(copy) = self.copy.take().filter(|_| self.is_changed) else {
            return;
        };
        if let Err(error) = self.call.store_variable(copy, &self.tensor) {
            self.call.record_failure(error);
        }
    }
}

/// The value of a locked variable in the memory of device `D`.
///
/// Work of the call's stream may use it after the call: TensorFlow's later work on it is ordered after that.
pub struct DeviceVariableValue<'l, T, D> {
    call: &'l Call<'l>,
    tensor: Tensor,
    dims: Dims,
    len: usize,
    lock: PhantomData<(&'l mut T, D)>,
}

impl<'l, T: Element, D: Device> DeviceVariableValue<'l, T, D> {
    pub(super) fn new(call: &'l Call<'_>, tensor: Tensor) -> Result<Self> {
        let dims = tensor.dims()?;
        let len = byte_len::<T>(&dims)? / size_of::<T>();
        Ok(Self {
            call,
            tensor,
            dims,
            len,
            lock: PhantomData,
        })
    }

    /// Returns the shape.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    len_methods!("elements", self => self.len);

    /// Returns the address on the device.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow has no function for it.
    pub fn address(&mut self) -> Result<*mut T> {
        Ok(self.tensor.data()?.cast())
    }

    /// Returns the device of the call.
    pub(crate) fn device(&self) -> Result<&D> {
        self.call.own_device()
    }

    /// Returns the elements, for a device whose memory the host can address.
    ///
    /// # Errors
    /// Returns an error if the address is not aligned for `T`, or if the device is one of those whose memory the host
    /// cannot address.
    ///
    /// # Safety
    /// - No stream uses the variable while the slice is alive.
    /// - If it is a reference, no other slice has its buffer: none of an input, and none of another value.
    pub unsafe fn as_slice_mut(&mut self) -> Result<&mut [T]>
    where
        D: HostAddressable,
    {
        let mut elements = (self.call).addressable_elements::<_, D>(&self.tensor, self.len)?;
        // SAFETY: the variable is locked and its tensor has no other user, and the caller guarantees that no stream
        // uses it. Any bytes are values of an `Element`.
        Ok(unsafe { elements.as_mut() })
    }
}
