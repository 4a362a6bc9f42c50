//! Inputs of kernels: parameters whose memory space is in their type.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::slice;

use sp_abi::tf_datatype::TF_DataType;
use sp_abi::tf_tensor::TF_Tensor;

use super::call::InputSource;
use super::fetched_input::FetchedInput;
use super::inputs::Inputs;
use super::marker;
use super::placement::{HostAccess, HostInt32, Placement, is_host};
use super::sealed::Sealed;
use super::spec::{Needs, ParameterSpec, no_needs};
use crate::dims::Dims;
use crate::element::ElementLayout;
use crate::{Device, Element, Error, HostAddressable, Result};

/// A parameter of a kernel that is an input of type `E`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parameter for an input of type `{E}`",
    label = "the op's input is of type `{E}`",
    note = "`In<'_, T>` is a tensor of `T`, `HostIn<'_, Integer>` signed integers in host memory, `HostIn<'_, Text>` a tensor of strings, `AnyIn<'_>` a tensor of any type, `InList<'_, T>` several tensors, `Variable<'_, T>` a resource or a reference"
)]
pub trait FromInput<'c, E>: Sized + Sealed {
    /// True if TensorFlow has to place the input in host memory.
    const HOST: bool;

    /// True if the host reads the input in device memory, in place or through a copy.
    const HAS_HOST_ACCESS: bool;

    /// Returns the functions that the host has to export for this parameter. Without them the kernel is not registered.
    fn needs() -> Needs {
        no_needs()
    }

    /// The type of the elements, for a parameter that serves several types.
    const LAYOUT: Option<ElementLayout> = None;

    /// The specification of the parameter.
    const SPEC: ParameterSpec = ParameterSpec {
        is_host: Self::HOST,
        has_host_access: Self::HAS_HOST_ACCESS,
        needs: Self::needs,
        layout: Self::LAYOUT,
    };

    /// Fetches the input. For a parameter that serves several types this is the same code for all of them: what depends
    /// on the type is in `source`. The kernels of these types share one of these functions.
    ///
    /// # Errors
    /// Returns an error if TensorFlow has no such input, or if it cannot be copied to the host.
    fn from_input(source: InputSource<'c>) -> Result<Self>;
}

/// An input: a tensor of `T`, of which the host reads the elements.
///
/// `In<'_, T, D>` is a tensor in the memory of device `D`, of which the host knows only address and length.
/// `In<'_, T, HostInt32>` is in host memory if `T` is `i32`.
pub struct In<'c, T, S = HostAccess> {
    input: FetchedInput<'c>,
    element: PhantomData<fn() -> (T, S)>,
}

impl<'c, T: Element, S> In<'c, T, S> {
    /// Wraps an input whose elements are `T`s.
    ///
    /// # Safety
    /// - `input` was fetched with the layout of `T`.
    /// - If `S` is a [`Placement`], the host reads `input`.
    #[inline]
    unsafe fn from_fetched(input: FetchedInput<'c>) -> Self {
        let element = PhantomData;
        Self { input, element }
    }

    /// Returns the tensor.
    #[inline]
    pub(super) fn fetched(&self) -> &FetchedInput<'c> {
        &self.input
    }

    /// Returns the shape.
    #[inline]
    pub fn dims(&self) -> &[usize] {
        self.input.dims()
    }

    /// Returns the number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.input.bytes() / size_of::<T>()
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.input.bytes() == 0
    }

    /// Returns the C object, for functions that the SDK does not wrap.
    ///
    /// # Safety
    /// - The caller does not delete the tensor, and uses it only while `self` lives.
    /// - The caller does not write to it.
    pub unsafe fn as_raw(&self) -> *mut TF_Tensor {
        self.input.tensor().as_ptr()
    }

    /// Returns the elements in row-major order.
    #[inline]
    pub fn data(&self) -> &[T]
    where
        S: Placement,
    {
        // SAFETY: `from_fetched` guarantees that the host reads the input, and its layout: `start` is aligned, and has
        // `len` elements that live as long as `self`. Any bytes are values of an `Element`, and nobody changes them.
        unsafe { slice::from_raw_parts(self.input.start().as_ptr().cast(), self.len()) }
    }

    /// Returns the only element.
    ///
    /// # Errors
    /// Returns an error if there is not exactly one.
    pub fn scalar(&self) -> Result<T>
    where
        S: Placement,
    {
        scalar(self.data(), self.dims())
    }
}

impl<'c, T: Element, S: Placement> In<'c, T, S> {
    /// Fetches a tensor that the host reads.
    #[inline]
    pub(super) fn read(source: InputSource<'c>) -> Result<Self> {
        let input = FetchedInput::new(source, ElementLayout::new::<T>(), true)?;
        // SAFETY: fetched with the layout of `T`, and the host reads it.
        Ok(unsafe { Self::from_fetched(input) })
    }
}

impl<'c, T: Element, D: Device> In<'c, T, D> {
    /// Fetches a tensor of which the host knows address and length.
    #[inline]
    pub(super) fn on_device(source: InputSource<'c>) -> Result<Self> {
        let input = FetchedInput::new(source, ElementLayout::new::<T>(), false)?;
        // SAFETY: fetched with the layout of `T`. A device is no `Placement`, which is a sealed trait.
        Ok(unsafe { Self::from_fetched(input) })
    }
}

impl<T: Element, D: Device> In<'_, T, D> {
    /// Returns the device of the call.
    pub(crate) fn device(&self) -> Result<&D> {
        self.input.call().own_device()
    }

    /// Returns the address on the device.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow has no function for it.
    pub fn address(&self) -> Result<*const T> {
        Ok(self.input.tensor().data()?.cast_const().cast())
    }

    /// Returns the elements, for a device whose memory the host can address.
    ///
    /// # Errors
    /// Returns an error if the address is not aligned for `T`, or if the device is one of those whose memory the host
    /// cannot address.
    ///
    /// # Safety
    /// - Work on streams that writes the tensor has completed.
    /// - Nothing writes to it while the slice is alive: no stream, and no slice of an output with the same buffer.
    pub unsafe fn as_slice(&self) -> Result<&[T]>
    where
        D: HostAddressable,
    {
        let tensor = self.input.tensor();
        let elements = (self.input.call()).addressable_elements::<_, D>(tensor, self.len())?;
        // SAFETY: the tensor lives as long as `self`, and the caller guarantees that nobody writes. Any bytes are values
        // of an `Element`.
        Ok(unsafe { elements.as_ref() })
    }
}

fn scalar<T: Copy>(data: &[T], dims: &[usize]) -> Result<T> {
    match data {
        [value] => Ok(*value),
        _ => Err(Error::invalid_argument(format!(
            "expected one element, got a tensor of shape {dims:?}"
        ))),
    }
}

impl<T, S> Sealed for In<'_, T, S> {}
impl<T: HostElement> Sealed for HostIn<'_, T> {}
impl<T> Sealed for LazyIn<'_, T> {}
impl Sealed for ResourceHandle<'_> {}
impl<T> Sealed for InList<'_, T> {}

impl<'c, T: Element> FromInput<'c, T> for In<'c, T> {
    const HOST: bool = false;
    const HAS_HOST_ACCESS: bool = true;

    fn from_input(source: InputSource<'c>) -> Result<Self> {
        Self::read(source)
    }
}

impl<'c, T: Element> FromInput<'c, T> for In<'c, T, HostInt32> {
    const HOST: bool = is_host::<T, HostInt32>();
    const HAS_HOST_ACCESS: bool = !is_host::<T, HostInt32>();

    fn from_input(source: InputSource<'c>) -> Result<Self> {
        Self::read(source)
    }
}

impl<'c, T: Element, D: Device> FromInput<'c, T> for In<'c, T, D> {
    const HOST: bool = false;
    const HAS_HOST_ACCESS: bool = false;

    fn from_input(source: InputSource<'c>) -> Result<Self> {
        Self::on_device(source)
    }
}

/// The element type of a [`HostIn`] that is a signed integer of any width.
pub struct Integer(());

/// An input in host memory: the parameter registers it so.
pub struct HostIn<'c, T: HostElement>(pub(super) T::Tensor<'c>);

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
impl HostIn<'_, Integer> {
    /// Returns the shape.
    pub fn dims(&self) -> &[usize] {
        with_tensor!(&self.0, it => it.dims())
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        with_tensor!(&self.0, it => it.len())
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns element `index` in row-major order.
    ///
    /// # Panics
    /// Panics if there is no such element.
    pub fn get(&self, index: usize) -> i64 {
        with_tensor!(&self.0, it => it.data()[index].into())
    }

    /// Returns the elements in row-major order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = i64> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Copies the elements.
    pub fn to_vec(&self) -> Vec<i64> {
        self.iter().collect()
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
        with_tensor!(&self.0, it => it.scalar().map(i64::from))
    }
}

impl<'c, T: Element> FromInput<'c, T> for HostIn<'c, T> {
    const HOST: bool = true;
    const HAS_HOST_ACCESS: bool = false;

    fn from_input(source: InputSource<'c>) -> Result<Self> {
        In::read(source).map(Self)
    }
}

impl<'c> Integers<'c> {
    fn read(source: InputSource<'c>) -> Result<Self> {
        let (input, layout) = match source.layout {
            Some(layout) => (FetchedInput::new(source, *layout, true)?, *layout),
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
        impl<'c> FromInput<'c, $ty> for HostIn<'c, Integer> {
            const HOST: bool = true;
            const HAS_HOST_ACCESS: bool = false;
            const LAYOUT: Option<ElementLayout> = $layout;

            fn from_input(source: InputSource<'c>) -> Result<Self> {
                Integers::read(source).map(Self)
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

impl<P: Sealed> Sealed for Option<P> {}

/// `None` if the running release's op does not have the input, or if it is a list without tensors.
impl<'c, E, P: FromInput<'c, E>> FromInput<'c, E> for Option<P> {
    const HOST: bool = P::HOST;
    const HAS_HOST_ACCESS: bool = P::HAS_HOST_ACCESS;
    const LAYOUT: Option<ElementLayout> = P::LAYOUT;

    fn needs() -> Needs {
        P::needs()
    }

    fn from_input(source: InputSource<'c>) -> Result<Self> {
        match source.count {
            0 => Ok(None),
            _ => P::from_input(source).map(Some),
        }
    }
}

/// An input that is not fetched before [`read`](LazyIn::read), such as the new value of a variable.
pub struct LazyIn<'c, T> {
    pub(super) source: InputSource<'c>,
    element: PhantomData<fn() -> T>,
}

impl<'c, T: Element> LazyIn<'c, T> {
    /// Fetches the input.
    ///
    /// # Errors
    /// Returns an error if it cannot be copied to the host.
    pub fn read(self) -> Result<In<'c, T>> {
        In::read(self.source)
    }
}

impl<'c, T: Element> FromInput<'c, T> for LazyIn<'c, T> {
    const HOST: bool = false;
    const HAS_HOST_ACCESS: bool = true;

    fn from_input(source: InputSource<'c>) -> Result<Self> {
        let element = PhantomData;
        Ok(Self { source, element })
    }
}

/// The handle of a resource, which the kernel does not use.
pub struct ResourceHandle<'c>(PhantomData<&'c ()>);

impl<'c> FromInput<'c, marker::Resource> for ResourceHandle<'c> {
    const HOST: bool = true;
    const HAS_HOST_ACCESS: bool = false;

    fn from_input(_: InputSource<'c>) -> Result<Self> {
        Ok(Self(PhantomData))
    }
}

/// An input of several tensors of `T`.
#[derive(Clone, Copy)]
pub struct InList<'c, T> {
    source: InputSource<'c>,
    element: PhantomData<fn() -> T>,
}

impl<'c, T: Element> InList<'c, T> {
    /// Returns the number of tensors.
    pub fn len(&self) -> usize {
        self.source.count
    }

    /// Returns true if there are no tensors.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fetches each tensor.
    pub fn iter(&self) -> impl Iterator<Item = Result<In<'c, T>>> + use<'c, T> {
        let source = self.source;
        (0..source.count).map(move |index| In::read(source.tensor_source(index)))
    }

    /// Fetches all tensors, up to 16 without an allocation.
    ///
    /// # Errors
    /// Returns an error if one of them cannot be copied to the host.
    pub fn fetch(&self) -> Result<Inputs<In<'c, T>>> {
        Inputs::collect(self.iter())
    }
}

impl<'c, T: Element> FromInput<'c, marker::List<T>> for InList<'c, T> {
    const HOST: bool = false;
    const HAS_HOST_ACCESS: bool = true;

    fn from_input(source: InputSource<'c>) -> Result<Self> {
        let element = PhantomData;
        Ok(Self { source, element })
    }
}
