//! Arguments of any type, which a kernel passes on: for functions that are written once for all types.

use std::marker::PhantomData;

use sp_abi::tf_datatype::TF_DataType;
use sp_abi::tf_tensor::TF_Tensor;

use super::input::FromInput;
use super::output::FromOutput;
use super::placement::{HostAccess, Placement, is_host};
use crate::dims::Dims;
use crate::kernel::call::{InputArgument, InputSource, OutputTarget};
use crate::kernel::marker;
use crate::kernel::sealed::Sealed;
use crate::tensor::Tensor;
use crate::{Element, Result};

/// An input of any type: its type and shape. [`AnyOut::set`](super::AnyOut::set) passes it on.
/// `S` is [`HostAccess`] or [`HostInt32`](super::HostInt32).
pub struct AnyIn<'c, S = HostAccess> {
    source: InputSource<'c>,
    pub(super) tensor: Tensor,
    dims: Dims,
    space: PhantomData<fn() -> S>,
}

impl<'c, S> AnyIn<'c, S> {
    fn new(source: InputSource<'c>) -> Result<Self> {
        let tensor = source.tensor()?;
        let (dims, space) = (tensor.dims()?, PhantomData);
        Ok(Self {
            source,
            tensor,
            dims,
            space,
        })
    }

    /// Returns the element type.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow has no function for it.
    pub fn dtype(&self) -> Result<TF_DataType> {
        self.tensor.dtype()
    }

    /// Returns the shape.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Returns the C object, for functions that the SDK does not wrap.
    ///
    /// # Safety
    /// - The caller does not delete the tensor, and uses it only while `self` lives.
    /// - The caller does not write to it.
    pub unsafe fn as_raw(&self) -> *mut TF_Tensor {
        self.tensor.as_ptr()
    }
}

impl<S> Sealed for AnyIn<'_, S> {}
impl<S> Sealed for AnyInList<'_, S> {}
impl<S> Sealed for AnyOut<'_, S> {}
impl Sealed for AnyOutList<'_> {}

/// An input of several tensors, each of any type. `S` is [`HostAccess`] or [`HostInt32`](super::HostInt32).
#[derive(Clone, Copy)]
pub struct AnyInList<'c, S = HostAccess>(InputSource<'c>, PhantomData<fn() -> S>);

impl<'c, S> AnyInList<'c, S> {
    len_methods!("tensors", self => self.0.count);

    /// Fetches each tensor.
    pub fn iter(&self) -> impl Iterator<Item = Result<AnyIn<'c, S>>> + use<'c, S> {
        let source = self.0;
        (0..source.count).map(move |index| AnyIn::new(source.tensor_source(index)))
    }
}

macro_rules! any_lists {
    ($([$($element:ident $(: $bound:ident)?)?] $ty:ty, $host:expr;)*) => {$(
        // SAFETY: each tensor is read as its own type, which is checked.
        unsafe impl<'c, $($element $(: $bound)?,)? S: Placement> FromInput<'c, $ty> for AnyInList<'c, S> {
            const HOST: bool = $host;
            const HAS_HOST_ACCESS: bool = false;

            fn from_input(input: InputArgument<'c>) -> Result<Self> {
                Ok(Self(input.source(), PhantomData))
            }
        }
    )*};
}

any_lists! {
    [E: Element] marker::List<E>, is_host::<E, S>();
    [] marker::List<marker::AnyType>, false;
    [] marker::List<marker::Integers>, false;
    [] marker::List<marker::OtherType>, false;
    [] marker::List<marker::Variant>, false;
    [] marker::AnyList, false;
}

/// An output of any type, which passes an input on. `S` is [`HostAccess`] or [`HostInt32`](super::HostInt32).
#[must_use = "an output that is not set makes the call fail"]
pub struct AnyOut<'c, S = HostAccess>(OutputTarget<'c>, PhantomData<fn() -> S>);

impl<'c, S> AnyOut<'c, S> {
    /// Makes an input the output: both then have the same buffer.
    ///
    /// # Errors
    /// Returns an error if TensorFlow rejects the tensor.
    pub fn set(self, input: AnyIn<'c, S>) -> Result<()> {
        self.0.set(&input.source, &input.tensor)
    }

    /// Makes an input the output under another shape: both then have the same buffer.
    ///
    /// # Errors
    /// Returns an error if the shapes differ in their number of elements.
    pub fn set_with_dims(self, input: AnyIn<'c, S>, dims: &[usize]) -> Result<()> {
        let tensor = input.source.reshaped(&input.tensor, dims)?;
        self.0.set(&input.source, &tensor)
    }
}

/// An output of several tensors, each of any type: an iterator over them.
pub struct AnyOutList<'c>(OutputTarget<'c>);

impl AnyOutList<'_> {
    len_methods!("tensors that are left", self => self.0.count);
}

impl<'c> Iterator for AnyOutList<'c> {
    type Item = AnyOut<'c>;

    fn next(&mut self) -> Option<AnyOut<'c>> {
        let target = self.0.split_first()?;
        Some(AnyOut(target, PhantomData))
    }
}

macro_rules! any_output_lists {
    ($([$($element:ident)?] $ty:ty;)*) => {$(
        // SAFETY: each tensor is written as its own type, which is checked.
        unsafe impl<'c, $($element)?> FromOutput<'c, $ty> for AnyOutList<'c> {
            const HOST: bool = false;
            const HAS_HOST_ACCESS: bool = false;

            fn from_output(target: OutputTarget<'c>) -> Self {
                Self(target)
            }
        }
    )*};
}

any_output_lists! {
    [E] marker::List<E>;
    [] marker::AnyList;
}

macro_rules! parameters {
    ($([$($element:ident)?] $ty:ty, $host:expr;)*) => {$(
        // SAFETY: the tensor is read as its own type, which is checked.
        unsafe impl<'c, $($element: Element,)? S: Placement> FromInput<'c, $ty> for AnyIn<'c, S> {
            const HOST: bool = $host;
            const HAS_HOST_ACCESS: bool = false;

            fn from_input(input: InputArgument<'c>) -> Result<Self> {
                Self::new(input.source())
            }
        }

        // SAFETY: the tensor is written as its own type, which is checked.
        unsafe impl<'c, $($element: Element,)? S: Placement> FromOutput<'c, $ty> for AnyOut<'c, S> {
            const HOST: bool = $host;
            const HAS_HOST_ACCESS: bool = false;

            fn from_output(target: OutputTarget<'c>) -> Self {
                Self(target, PhantomData)
            }
        }
    )*};
}

parameters! {
    [E] E, is_host::<E, S>();
    [] marker::Integers, false;
    [] marker::AnyType, false;
    [] marker::OtherType, false;
    [] marker::Variant, false;
    [] marker::Resource, true;
    [] marker::Text, true;
}
