//! Fetched inputs, independent of their element types: compiled once for all kernels.
//!
//! A parameter refers to its tensor, which is in the call, so that the parameter itself is moved at no cost.
//!
//! A parameter that is leaked keeps its slot, and from the 17th tensor on a slot is an allocation (`slots.rs`).

use std::ptr::NonNull;

use sp_abi::tf_datatype::TF_DataType;

use crate::buffer::Buffer;
use crate::dims::Dims;
use crate::element::ElementLayout;
use crate::functions::functions;
use crate::kernel::call::slots::Stored;
use crate::kernel::call::{Call, InputArgument, InputSource, InputTensor};
use crate::tensor::{Tensor, aligned_address, byte_len_of};
use crate::{Error, Result};

/// A fetched input. Dropping it drops the tensor.
///
/// If the host reads it, [`start`](Self::start) is the address of [`bytes`](Self::bytes) initialized bytes, which has the
/// alignment of the layout. They live as long as the value, and nobody changes them.
pub(super) struct FetchedInput<'c> {
    call: &'c Call<'c>,
    // In `call.inputs()`, which cannot be moved while the call is borrowed.
    stored: Stored<InputTensor>,
}

impl<'c> FetchedInput<'c> {
    /// Fetches the tensor of an argument, whose elements have this layout. `is_read` is true if the host reads the elements.
    ///
    /// # Errors
    /// Returns an error if TensorFlow has no such input, or if it cannot be copied to the host.
    #[inline(never)]
    pub fn from_argument(
        argument: InputArgument<'c>,
        layout: &ElementLayout,
        is_read: bool,
    ) -> Result<Self> {
        Self::fetch(argument.to_source(), layout, is_read)
    }

    /// Fetches a tensor, as [`from_argument`](Self::from_argument).
    ///
    /// # Errors
    /// Returns an error if TensorFlow has no such input, or if it cannot be copied to the host.
    #[inline(never)]
    pub fn new(source: InputSource<'c>, layout: &ElementLayout, is_read: bool) -> Result<Self> {
        Self::fetch(source, layout, is_read)
    }

    /// Fetches a tensor. The usual case is short: a tensor in place, of up to eight dimensions.
    #[inline(always)]
    fn fetch(source: InputSource<'c>, layout: &ElementLayout, is_read: bool) -> Result<Self> {
        if source.count == 0 || !source.call.fetches_in_place(is_read && !source.is_host) {
            return Self::fetch_in_any_case(source, layout, is_read);
        }
        let tensor = source.call.context().input(source.first)?;
        source.call.note_input(&tensor);
        source.call.check_type(&tensor, layout.dtype)?;
        Self::from_tensor_in_place(source, tensor, layout, is_read)
    }

    #[cold]
    fn fetch_in_any_case(
        source: InputSource<'c>,
        layout: &ElementLayout,
        is_read: bool,
    ) -> Result<Self> {
        let tensor = source.tensor()?;
        source.call.check_type(&tensor, layout.dtype)?;
        Self::from_tensor(source, tensor, layout, is_read)
    }

    /// Fetches a tensor of a type that only the tensor knows. `layout` returns the layout of its elements.
    ///
    /// # Errors
    /// Returns the error of `layout`, or an error if TensorFlow has no such input, or if it cannot be copied to the host.
    pub fn with_type_of_tensor(
        source: InputSource<'c>,
        layout: fn(TF_DataType) -> Result<ElementLayout>,
        is_read: bool,
    ) -> Result<(Self, ElementLayout)> {
        let tensor = source.tensor()?;
        let layout = layout(tensor.dtype()?)?;
        let input = match source.call.fetches_in_place(is_read && !source.is_host) {
            true => Self::from_tensor_in_place(source, tensor, &layout, is_read),
            false => Self::from_tensor(source, tensor, &layout, is_read),
        };
        Ok((input?, layout))
    }

    /// Reads a tensor in place, or does not read it.
    #[inline(always)]
    fn from_tensor_in_place(
        source: InputSource<'c>,
        tensor: Tensor,
        layout: &ElementLayout,
        is_read: bool,
    ) -> Result<Self> {
        let functions = functions()?;
        let Some((dims, bytes)) = tensor.inline_dims(functions, layout.width) else {
            return Self::from_tensor(source, tensor, layout, is_read);
        };
        let mut start = NonNull::dangling();
        if is_read {
            // SAFETY: the tensor is live.
            let data = unsafe { (functions.data)(tensor.as_ptr()) };
            start = aligned_address(data, bytes, layout.alignment)?;
        }
        Ok(Self::insert(source, tensor, dims, bytes, start, None))
    }

    #[inline(never)]
    fn from_tensor(
        source: InputSource<'c>,
        tensor: Tensor,
        layout: &ElementLayout,
        is_read: bool,
    ) -> Result<Self> {
        let dims = tensor.dims()?;
        let bytes = byte_len_of(&dims, layout.width)?;
        let copy = source.copy_if_read(&tensor, is_read)?;
        let start = match (&copy, is_read) {
            (Some(copy), _) if copy.byte_len() < bytes => return Err(short_copy()),
            (Some(copy), _) => copy.start(),
            (None, true) => aligned_address(tensor.data()?, bytes, layout.alignment)?,
            (None, false) => NonNull::dangling(),
        };
        Ok(Self::insert(source, tensor, dims, bytes, start, copy))
    }

    /// Stores the tensor in the call.
    #[inline]
    fn insert(
        source: InputSource<'c>,
        tensor: Tensor,
        dims: Dims,
        bytes: usize,
        start: NonNull<u8>,
        copy: Option<Buffer>,
    ) -> Self {
        let call = source.call;
        let stored = call.inputs().insert(InputTensor {
            tensor,
            index: source.first,
            is_host: source.is_host,
            layout: source.layout,
            bytes,
            start,
            dims,
            _copy: copy,
        });
        Self { call, stored }
    }

    #[inline]
    fn get(&self) -> &InputTensor {
        // SAFETY: `insert` stored the tensor in this call, which is borrowed and so cannot be moved. Only the drop of this
        // value removes the tensor, and the reference borrows the value.
        unsafe { self.call.inputs().get(self.stored) }
    }

    /// Returns the call of which the tensor is an input.
    #[inline]
    pub fn call(&self) -> &'c Call<'c> {
        self.call
    }

    /// Returns the source of the tensor.
    #[inline]
    pub fn source(&self) -> InputSource<'c> {
        let (call, tensor) = (self.call, self.get());
        InputSource {
            call,
            first: tensor.index,
            count: 1,
            is_host: tensor.is_host,
            layout: tensor.layout,
        }
    }

    /// Returns the tensor.
    #[inline]
    pub fn tensor(&self) -> &Tensor {
        &self.get().tensor
    }

    /// Returns the shape.
    #[inline]
    pub fn dims(&self) -> &Dims {
        &self.get().dims
    }

    /// Returns the size of the elements.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.get().bytes
    }

    /// Returns the address of the first byte; without meaning for an input that the host does not read.
    #[inline]
    pub fn start(&self) -> NonNull<u8> {
        self.get().start
    }
}

impl Drop for FetchedInput<'_> {
    #[inline(never)]
    fn drop(&mut self) {
        // SAFETY: `insert` stored the tensor in this call, which is borrowed and so was not moved. A value is dropped once,
        // nobody else has a copy of `stored`, and a reference from `get` borrows the value.
        unsafe { self.call.inputs().remove(self.stored) }
    }
}

#[cold]
pub(in crate::kernel) fn short_copy() -> Error {
    Error::internal("the copy of a tensor has fewer bytes than its shape and type")
}
