//! Arguments of any type, which a kernel passes on: for functions that are written once for all types.

use std::marker::PhantomData;

use sp_abi::tf_datatype::TF_DataType;

use super::call::{InputSource, OutputTarget};
use super::input::FromInput;
use super::marker;
use super::output::FromOutput;
use super::sealed::Sealed;
use crate::dims::Dims;
use crate::tensor::Tensor;
use crate::{Element, Result};

/// An input of any type: its type and shape. [`AnyOut::set`](super::AnyOut::set) passes it on.
pub struct AnyIn<'c> {
    pub(super) tensor: Tensor,
    dims: Dims,
    call: PhantomData<&'c ()>,
}

impl<'c> AnyIn<'c> {
    fn new(source: InputSource<'c>) -> Result<Self> {
        let tensor = source.tensor()?;
        let (dims, call) = (tensor.dims()?, PhantomData);
        Ok(Self { tensor, dims, call })
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
}

impl Sealed for AnyIn<'_> {}
impl Sealed for AnyInList<'_> {}
impl Sealed for AnyOut<'_> {}
impl Sealed for AnyOutList<'_> {}

macro_rules! any_inputs {
    ($([$($element:ident)?] $ty:ty;)*) => {$(
        impl<'c, $($element: Element)?> FromInput<'c, $ty> for AnyIn<'c> {
            const HOST: bool = false;
            const HAS_HOST_ACCESS: bool = false;

            fn from_input(source: InputSource<'c>) -> Result<Self> {
                Self::new(source)
            }
        }
    )*};
}

any_inputs! {
    [E] E;
    [] marker::Integers;
    [] marker::AnyType;
    [] marker::OtherType;
    [] marker::Variant;
}

/// An input of several tensors, each of any type.
#[derive(Clone, Copy)]
pub struct AnyInList<'c>(InputSource<'c>);

impl<'c> AnyInList<'c> {
    /// Returns the number of tensors.
    pub fn len(&self) -> usize {
        self.0.count
    }

    /// Returns true if there are no tensors.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fetches each tensor.
    pub fn iter(&self) -> impl Iterator<Item = Result<AnyIn<'c>>> + use<'c> {
        let source = self.0;
        (0..source.count).map(move |index| AnyIn::new(source.tensor_source(index)))
    }
}

macro_rules! any_lists {
    ($([$($element:ident)?] $ty:ty;)*) => {$(
        impl<'c, $($element)?> FromInput<'c, $ty> for AnyInList<'c> {
            const HOST: bool = false;
            const HAS_HOST_ACCESS: bool = false;

            fn from_input(source: InputSource<'c>) -> Result<Self> {
                Ok(Self(source))
            }
        }
    )*};
}

any_lists! {
    [E] marker::List<E>;
    [] marker::AnyList;
}

/// An output of any type, which passes an input on.
#[must_use = "an output that is not set makes the call fail"]
pub struct AnyOut<'c>(OutputTarget<'c>);

impl<'c> AnyOut<'c> {
    /// Makes an input the output: both then have the same buffer.
    ///
    /// # Errors
    /// Returns an error if TensorFlow rejects the tensor.
    pub fn set(self, input: AnyIn<'c>) -> Result<()> {
        self.0.set(&input.tensor)
    }
}

macro_rules! any_outputs {
    ($([$($element:ident)?] $ty:ty;)*) => {$(
        impl<'c, $($element: Element)?> FromOutput<'c, $ty> for AnyOut<'c> {
            const HOST: bool = false;
            const HAS_HOST_ACCESS: bool = false;

            fn from_output(target: OutputTarget<'c>) -> Self {
                Self(target)
            }
        }
    )*};
}

any_outputs! {
    [E] E;
    [] marker::Integers;
    [] marker::AnyType;
    [] marker::OtherType;
    [] marker::Variant;
}

/// An output of several tensors, each of any type: an iterator over them.
pub struct AnyOutList<'c>(OutputTarget<'c>);

impl AnyOutList<'_> {
    /// Returns the number of tensors that are left.
    pub fn len(&self) -> usize {
        self.0.count
    }

    /// Returns true if no tensors are left.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'c> Iterator for AnyOutList<'c> {
    type Item = AnyOut<'c>;

    fn next(&mut self) -> Option<AnyOut<'c>> {
        self.0.split_first().map(AnyOut)
    }
}

macro_rules! any_output_lists {
    ($([$($element:ident)?] $ty:ty;)*) => {$(
        impl<'c, $($element)?> FromOutput<'c, $ty> for AnyOutList<'c> {
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
