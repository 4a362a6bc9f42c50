//! Inputs as bytes.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::slice;

use sp_abi::tf_datatype::TF_DataType;
use sp_abi::tf_tensor::TF_Tensor;

use crate::element::ElementLayout;
use crate::kernel::call::{InputArgument, InputSource};
use crate::kernel::parameter::fetched_input::FetchedInput;
use crate::kernel::parameter::inputs::Inputs;
use crate::kernel::parameter::placement::{HostAccess, Placement};
use crate::kernel::sealed::Sealed;
use crate::tensor::address;
use crate::{Device, Element, Result};

/// An input of numbers of any type, of which the host reads the bytes. `S` is [`HostAccess`] or
/// [`HostInt32`](crate::kernel::HostInt32).
///
/// The function needs no type parameter: `T = [f32, i64]` registers it for both types.
///
/// `BytesIn<'_, D>` is a tensor in the memory of device `D`, of which the host knows only type, address and size.
pub struct BytesIn<'c, S = HostAccess> {
    // Fetched with `layout`. The host reads it if `S` is a `Placement`.
    input: FetchedInput<'c>,
    layout: ElementLayout,
    space: PhantomData<fn() -> S>,
}

impl<'c, S> BytesIn<'c, S> {
    /// Fetches the tensor of an argument. `is_read` is true if the host reads the bytes.
    #[inline(never)]
    fn from_argument(argument: InputArgument<'c>, is_read: bool) -> Result<Self> {
        Self::fetch(argument.to_source(), is_read)
    }

    /// Fetches a tensor. `is_read` is true if the host reads the bytes.
    fn fetch(source: InputSource<'c>, is_read: bool) -> Result<Self> {
        let (input, layout) = match source.layout {
            Some(layout) => {
                let layout = layout.as_bytes();
                (FetchedInput::new(source, &layout, is_read)?, layout)
            }
            None => FetchedInput::with_type_of_tensor(source, ElementLayout::from_dtype, is_read)?,
        };
        let space = PhantomData;
        Ok(Self {
            input,
            layout,
            space,
        })
    }

    /// Returns the tensor.
    #[inline]
    pub(super) fn fetched(&self) -> &FetchedInput<'c> {
        &self.input
    }

    /// Returns the element type.
    pub fn dtype(&self) -> TF_DataType {
        self.layout.dtype
    }

    /// Returns the shape.
    pub fn dims(&self) -> &[usize] {
        self.input.dims()
    }

    /// Returns the size of an element in bytes.
    pub fn width(&self) -> usize {
        self.layout.width
    }

    /// Returns the C object, for functions that the SDK does not wrap.
    ///
    /// # Safety
    /// - The caller does not delete the tensor, and uses it only while `self` lives.
    /// - The caller does not write to it.
    pub unsafe fn as_raw(&self) -> *mut TF_Tensor {
        self.input.tensor().as_ptr()
    }

    /// Returns the bytes of the elements in row-major order.
    pub fn bytes(&self) -> &[u8]
    where
        S: Placement,
    {
        // SAFETY: the host reads the input, since `S` is a `Placement`: `start` has as many initialized bytes, which live as
        // long as `self`, and nobody changes them.
        unsafe { slice::from_raw_parts(self.input.start().as_ptr(), self.input.bytes()) }
    }

    /// Returns the bytes of the elements with the type of an output's bytes, so that they can be copied to it.
    pub fn as_uninit_slice(&self) -> &[MaybeUninit<u8>]
    where
        S: Placement,
    {
        let bytes = self.bytes();
        // SAFETY: an initialized byte is a value of `MaybeUninit<u8>` too.
        unsafe { slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
    }

    /// Returns the elements in row-major order.
    ///
    /// # Errors
    /// Returns an error if they are of another type.
    pub fn data<T: Element>(&self) -> Result<&[T]>
    where
        S: Placement,
    {
        self.layout.check::<T>()?;
        let bytes = self.bytes();
        if bytes.is_empty() {
            return Ok(&[]);
        }
        let start = address::<T>(self.input.start().as_ptr().cast(), bytes.len())?;
        // SAFETY: `address` has checked the alignment. The elements are of type `T`, of which any bytes are values; the
        // rest is as in `bytes`.
        Ok(unsafe { slice::from_raw_parts(start.as_ptr(), bytes.len() / size_of::<T>()) })
    }
}

impl<'c, S: Placement> BytesIn<'c, S> {
    /// Fetches a tensor that the host reads.
    pub(super) fn read(argument: InputArgument<'c>) -> Result<Self> {
        Self::from_argument(argument, true)
    }
}

impl<'c, D: Device> BytesIn<'c, D> {
    /// Fetches a tensor of which the host knows address and size.
    pub(super) fn on_device(argument: InputArgument<'c>) -> Result<Self> {
        Self::from_argument(argument, false)
    }

    /// Returns the address on the device.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow has no function for it.
    pub fn address(&self) -> Result<*const c_void> {
        Ok(self.input.tensor().data()?.cast_const())
    }

    /// Returns the size in bytes.
    pub fn byte_len(&self) -> usize {
        self.input.bytes()
    }
}

/// An input of several tensors, of which the host reads the bytes.
#[derive(Clone, Copy)]
pub struct BytesInList<'c, S = HostAccess> {
    source: InputSource<'c>,
    space: PhantomData<fn() -> S>,
}

impl<'c, S: Placement> BytesInList<'c, S> {
    pub(super) fn new(source: InputSource<'c>) -> Self {
        let space = PhantomData;
        Self { source, space }
    }

    len_methods!("tensors", self => self.source.count);

    /// Fetches each tensor.
    pub fn iter(&self) -> impl Iterator<Item = Result<BytesIn<'c, S>>> + use<'c, S> {
        let source = self.source;
        (0..source.count).map(move |index| BytesIn::fetch(source.tensor_source(index), true))
    }

    /// Fetches all tensors, up to 16 without an allocation.
    ///
    /// # Errors
    /// Returns an error if one of them cannot be copied to the host.
    pub fn fetch(&self) -> Result<Inputs<BytesIn<'c, S>>> {
        Inputs::collect(self.iter())
    }
}

impl<S> Sealed for BytesIn<'_, S> {}
impl<S> Sealed for BytesInList<'_, S> {}
