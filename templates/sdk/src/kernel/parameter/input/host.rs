//! Inputs in host memory: elements, signed integers of any width, and text.

use std::convert::Infallible;

use sp_abi::tf_datatype::TF_DataType;

use super::{FromInput, In};
use crate::dims::Dims;
use crate::element::ElementLayout;
use crate::kernel::call::InputArgument;
use crate::kernel::marker;
use crate::kernel::parameter::fetched_input::FetchedInput;
use crate::kernel::sealed::Sealed;
use crate::{Element, Error, Result};

/// The element type of a [`HostIn`] that is a signed integer of any width.
pub struct Integer(());

/// An input in host memory: the parameter registers it so.
pub struct HostIn<'c, T: HostElement>(pub(in crate::kernel::parameter) T::Tensor<'c>);

impl<T: HostElement> Sealed for HostIn<'_, T> {}

/// The element type of a [`HostIn`]: an [`Element`], [`Integer`], or [`Text`](marker::Text).
pub trait HostElement {
    /// The tensor.
    type Tensor<'c>;
}

impl<T: Element> HostElement for T {
    type Tensor<'c> = In<'c, T>;
}

impl HostElement for Integer {
    type Tensor<'c> = Integers<'c>;
}

/// A tensor of signed integers.
pub enum Integers<'c> {
    /// int8.
    Int8(In<'c, i8>),
    /// int16.
    Int16(In<'c, i16>),
    /// int32.
    Int32(In<'c, i32>),
    /// int64.
    Int64(In<'c, i64>),
}

/// Evaluates an expression with the tensor, of whichever type it is.
macro_rules! with_tensor {
    ($integers:expr, $tensor:ident => $result:expr) => {
        match $integers {
            Integers::Int8($tensor) => $result,
            Integers::Int16($tensor) => $result,
            Integers::Int32($tensor) => $result,
            Integers::Int64($tensor) => $result,
        }
    };
}

impl<T: Element> HostIn<'_, T> {
    /// Returns the shape.
    pub fn dims(&self) -> &[usize] {
        self.0.dims()
    }

    /// Returns the elements in row-major order.
    pub fn data(&self) -> &[T] {
        self.0.data()
    }

    /// Returns the only element.
    ///
    /// # Errors
    /// Returns an error if there is not exactly one.
    pub fn scalar(&self) -> Result<T> {
        self.0.scalar()
    }
}

#[allow(clippy::useless_conversion)]
impl<'c, T: Element> HostIn<'c, T> {
    /// Returns the tensor, for functions of inputs in any memory that the host reads.
    pub fn into_input(self) -> In<'c, T> {
        self.0
    }
}

impl HostIn<'_, Integer> {
    /// Returns the shape.
    pub fn dims(&self) -> &[usize] {
        with_tensor!(&self.0, it => it.dims())
    }

    len_methods!("elements", self => with_tensor!(&self.0, it => it.len()));

    /// Returns element `index` in row-major order.
    ///
    /// # Panics
    /// Panics if there is no such element.
    pub fn get(&self, index: usize) -> i64 {
        with_tensor!(&self.0, it => widen(it.data()[index]))
    }

    /// Returns the elements in row-major order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = i64> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Copies the elements.
    pub fn to_vec(&self) -> Vec<i64> {
        sp_runtime::allocation::collect(self.iter())
    }

    /// Copies the elements, up to eight without an allocation: for axes, and for shapes.
    pub fn to_dims(&self) -> Dims<i64> {
        let Ok(dims) = Dims::try_new::<Infallible>(self.len(), |index| Ok(self.get(index)));
        dims
    }

    /// Returns the only element.
    ///
    /// # Errors
    /// Returns an error if there is not exactly one.
    pub fn scalar(&self) -> Result<i64> {
        with_tensor!(&self.0, it => it.scalar().map(widen))
    }
}

fn widen(value: impl Into<i64>) -> i64 {
    value.into()
}

// SAFETY: the input is fetched with the layout of `T`, and the host reads it.
unsafe impl<'c, T: Element> FromInput<'c, T> for HostIn<'c, T> {
    const HOST: bool = true;
    const HAS_HOST_ACCESS: bool = false;

    fn from_input(input: InputArgument<'c>) -> Result<Self> {
        In::read_argument(input).map(Self)
    }
}

impl<'c> Integers<'c> {
    #[inline(never)]
    fn read(argument: InputArgument<'c>) -> Result<Self> {
        let source = argument.to_source();
        let (input, layout) = match source.layout {
            Some(layout) => (FetchedInput::new(source, layout, true)?, *layout),
            None => FetchedInput::with_type_of_tensor(source, layout_of_integers, true)?,
        };
        // SAFETY: the host reads the input. `ElementLayout::new` made the layout, here or for the parameter, so that it is
        // that of the Rust type of each arm.
        unsafe {
            match layout.dtype {
                TF_DataType::TF_INT8 => Ok(Self::Int8(In::from_fetched(input))),
                TF_DataType::TF_INT16 => Ok(Self::Int16(In::from_fetched(input))),
                TF_DataType::TF_INT32 => Ok(Self::Int32(In::from_fetched(input))),
                TF_DataType::TF_INT64 => Ok(Self::Int64(In::from_fetched(input))),
                other => Err(not_integers(other)),
            }
        }
    }
}

/// Returns the layout of a type of signed integers.
fn layout_of_integers(dtype: TF_DataType) -> Result<ElementLayout> {
    const LAYOUTS: [ElementLayout; 4] = [
        ElementLayout::new::<i8>(),
        ElementLayout::new::<i16>(),
        ElementLayout::new::<i32>(),
        ElementLayout::new::<i64>(),
    ];
    let layout = LAYOUTS.iter().find(|it| it.dtype == dtype).copied();
    layout.ok_or_else(|| not_integers(dtype))
}

#[cold]
fn not_integers(dtype: TF_DataType) -> Error {
    Error::invalid_argument(format!("expected integers, got {dtype:?}"))
}

macro_rules! integer_inputs {
    ($($ty:ty, $layout:expr;)*) => {$(
        // SAFETY: the input is read as integers of the layout, or of the tensor's type.
        unsafe impl<'c> FromInput<'c, $ty> for HostIn<'c, Integer> {
            const HOST: bool = true;
            const HAS_HOST_ACCESS: bool = false;
            const LAYOUT: Option<ElementLayout> = $layout;

            fn from_input(input: InputArgument<'c>) -> Result<Self> {
                Integers::read(input).map(Self)
            }
        }
    )*};
}

integer_inputs! {
    i8, Some(ElementLayout::new::<i8>());
    i16, Some(ElementLayout::new::<i16>());
    i32, Some(ElementLayout::new::<i32>());
    i64, Some(ElementLayout::new::<i64>());
    marker::Integers, None;
}
