//! Outputs as bytes.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::slice;

use sp_abi::tf_datatype::TF_DataType;

use super::BytesIn;
use crate::element::ElementLayout;
use crate::kernel::call::OutputTarget;
use crate::kernel::parameter::output_tensor::OutputTensor;
use crate::kernel::parameter::placement::{HostAccess, Placement};
use crate::kernel::sealed::Sealed;
use crate::tensor::{Tensor, address, byte_len_of};
use crate::{Device, Element, Result};

/// An output of numbers of any type, of which the host writes the bytes. `S` is [`HostAccess`] or
/// [`HostInt32`](crate::kernel::HostInt32).
///
/// `BytesOut<'_, D>` is a tensor in the memory of device `D`, of which the host knows only address and size.
#[must_use = "an output that is not set makes the call fail"]
pub struct BytesOut<'c, S = HostAccess> {
    target: OutputTarget<'c>,
    space: PhantomData<fn() -> S>,
}

impl<'c, S> BytesOut<'c, S> {
    pub(super) const fn new(target: OutputTarget<'c>) -> Self {
        let space = PhantomData;
        Self { target, space }
    }

    /// Makes an input the output: both then have the same buffer.
    ///
    /// # Errors
    /// Returns an error if TensorFlow rejects the tensor.
    pub fn set(self, input: &BytesIn<'c, S>) -> Result<()> {
        self.target
            .set(&input.fetched().source(), input.fetched().tensor())
    }

    /// Makes an input the output under another shape: both then have the same buffer.
    ///
    /// # Errors
    /// Returns an error if the shapes differ in their number of elements.
    pub fn set_with_dims(self, input: &BytesIn<'c, S>, dims: &[usize]) -> Result<()> {
        let source = input.fetched().source();
        let tensor = source.reshaped(input.fetched().tensor(), dims)?;
        self.target.set(&source, &tensor)
    }
}

impl<'c, S: Placement> BytesOut<'c, S> {
    /// Allocates the output. Its bytes are uninitialized: for kernels that write all of them.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory, or if the elements are no numbers.
    pub fn uninit(self, dims: &[usize]) -> Result<OutBytes<'c>> {
        match self.target.layout() {
            Some(layout) => {
                let output = OutputTensor::allocate(self.target, &layout.as_bytes(), dims)?;
                let layout = *layout;
                Ok(OutBytes { output, layout })
            }
            None => self.uninit_of_any_type(dims),
        }
    }

    fn uninit_of_any_type(self, dims: &[usize]) -> Result<OutBytes<'c>> {
        let (call, is_host) = (self.target.call, self.target.is_host());
        let (tensor, layout) = allocate_tensor(self.target, dims)?;
        let bytes = byte_len_of(dims, layout.width)?;
        // SAFETY: TensorFlow has just allocated the tensor for this shape, and the layout is that of its type.
        let output = unsafe { OutputTensor::from_tensor(call, tensor, bytes, 1, is_host)? };
        Ok(OutBytes { output, layout })
    }
}

impl<D: Device> BytesOut<'_, D> {
    /// Allocates the output in device memory, and returns the address of its uninitialized elements, and their size in
    /// bytes.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn allocate(self, dims: &[usize]) -> Result<(*mut c_void, usize)> {
        let (tensor, layout) = allocate_tensor(self.target, dims)?;
        Ok((tensor.data()?, byte_len_of(dims, layout.width)?))
    }
}

/// Allocates a tensor, whose type TensorFlow takes from the op's definition.
fn allocate_tensor(target: OutputTarget<'_>, dims: &[usize]) -> Result<(Tensor, ElementLayout)> {
    let (call, layout) = (target.call, target.layout());
    let dtype = layout.map_or(TF_DataType::TF_UINT8, |it| it.dtype);
    let tensor = target.allocate(dtype, dims)?;
    let layout = match layout {
        Some(layout) => call.check_type(&tensor, dtype).map(|()| *layout)?,
        None => ElementLayout::from_dtype(tensor.dtype()?)?,
    };
    Ok((tensor, layout))
}

/// The bytes of an output, uninitialized.
pub struct OutBytes<'c> {
    output: OutputTensor<'c>,
    layout: ElementLayout,
}

impl OutBytes<'_> {
    /// Returns the element type.
    pub fn dtype(&self) -> TF_DataType {
        self.layout.dtype
    }

    /// Returns the size of an element in bytes.
    pub fn width(&self) -> usize {
        self.layout.width
    }

    /// Returns the bytes of the elements.
    pub fn as_uninit_slice(&mut self) -> &mut [MaybeUninit<u8>] {
        self.output.as_uninit_bytes()
    }

    /// Returns the elements.
    ///
    /// # Errors
    /// Returns an error if they are of another type.
    pub fn data<T: Element>(&mut self) -> Result<&mut [MaybeUninit<T>]> {
        self.layout.check::<T>()?;
        let bytes = self.output.as_uninit_bytes();
        if bytes.is_empty() {
            return Ok(&mut []);
        }
        let start = address::<MaybeUninit<T>>(bytes.as_mut_ptr().cast(), bytes.len())?;
        // SAFETY: `address` has checked the alignment, and the elements are of type `T`; the slice has as many as fit
        // in the size in bytes. They may be uninitialized, and the slice borrows `self`.
        Ok(unsafe { slice::from_raw_parts_mut(start.as_ptr(), bytes.len() / size_of::<T>()) })
    }
}

/// An output of several tensors, of which the host writes the bytes: an iterator over them.
pub struct BytesOutList<'c, S = HostAccess> {
    target: OutputTarget<'c>,
    space: PhantomData<fn() -> S>,
}

impl<'c, S> BytesOutList<'c, S> {
    pub(super) fn new(target: OutputTarget<'c>) -> Self {
        let space = PhantomData;
        Self { target, space }
    }

    len_methods!("tensors that are left", self => self.target.count);
}

impl<'c, S> Iterator for BytesOutList<'c, S> {
    type Item = BytesOut<'c, S>;

    fn next(&mut self) -> Option<BytesOut<'c, S>> {
        let target = self.target.split_first()?;
        Some(BytesOut::new(target))
    }
}

impl<S> Sealed for BytesOut<'_, S> {}
impl<S> Sealed for BytesOutList<'_, S> {}
