//! Inputs of kernels: parameters whose memory space is in their type.

mod deferred;
mod host;

use std::marker::PhantomData;
use std::slice;

use sp_abi::tf_tensor::TF_Tensor;

use super::fetched_input::FetchedInput;
use super::placement::{HostAccess, HostInt32, Placement, is_host};
use crate::element::ElementLayout;
use crate::kernel::call::{InputArgument, InputSource};
use crate::kernel::sealed::Sealed;
use crate::kernel::spec::Needs;
use crate::kernel::spec::optional::FunctionNames;
use crate::{Device, Element, HostAddressable, Result};

pub use deferred::{InList, LazyIn, ResourceHandle};
pub use host::{HostElement, HostIn, Integer, Integers};

/// A parameter of a kernel that is an input of type `E`.
///
/// # Safety
/// - The value accesses the input as elements of `E` only, or as those of the type that it checks.
/// - The constants state the memory that the value accesses.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parameter for an input of type `{E}`",
    label = "the op's input is of type `{E}`",
    note = "`In<'_, T>` is a tensor of `T`, `HostIn<'_, Integer>` signed integers in host memory, `HostIn<'_, Text>` a tensor of strings, `AnyIn<'_>` a tensor of any type, `InList<'_, T>` several tensors, `Variable<'_, T>` a resource or a reference"
)]
pub unsafe trait FromInput<'c, E>: Sized + Sealed {
    parameter_items!("input", "reads");

    /// Fetches the input. For a parameter that serves several types this is the same code for all of them: what depends
    /// on the type is in the specification of `input`. The kernels of these types share one of these functions.
    ///
    /// # Errors
    /// Returns an error if TensorFlow has no such input, or if it cannot be copied to the host.
    fn from_input(input: InputArgument<'c>) -> Result<Self>;
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
        let input = FetchedInput::new(source, &const { ElementLayout::new::<T>() }, true)?;
        // SAFETY: fetched with the layout of `T`, and the host reads it.
        Ok(unsafe { Self::from_fetched(input) })
    }

    /// Fetches the tensor of an argument that the host reads.
    #[inline]
    fn read_argument(argument: InputArgument<'c>) -> Result<Self> {
        let layout = &const { ElementLayout::new::<T>() };
        let input = FetchedInput::from_argument(argument, layout, true)?;
        // SAFETY: fetched with the layout of `T`, and the host reads it.
        Ok(unsafe { Self::from_fetched(input) })
    }
}

impl<'c, T: Element, D: Device> In<'c, T, D> {
    /// Fetches a tensor of which the host knows address and length.
    #[inline]
    pub(super) fn on_device(source: InputSource<'c>) -> Result<Self> {
        let input = FetchedInput::new(source, &const { ElementLayout::new::<T>() }, false)?;
        // SAFETY: fetched with the layout of `T`. A device is no `Placement`, which is a sealed trait.
        Ok(unsafe { Self::from_fetched(input) })
    }

    /// Fetches the tensor of an argument, of which the host knows address and length.
    #[inline]
    fn argument_on_device(argument: InputArgument<'c>) -> Result<Self> {
        let layout = &const { ElementLayout::new::<T>() };
        let input = FetchedInput::from_argument(argument, layout, false)?;
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
        _ => fail!(
            invalid_argument,
            "expected one element, got a tensor of shape {dims:?}"
        ),
    }
}

impl<T, S> Sealed for In<'_, T, S> {}

// SAFETY: the input is fetched with the layout of `T`, and the host reads it.
unsafe impl<'c, T: Element> FromInput<'c, T> for In<'c, T> {
    const HOST: bool = false;
    const HAS_HOST_ACCESS: bool = true;

    fn from_input(input: InputArgument<'c>) -> Result<Self> {
        Self::read_argument(input)
    }
}

// SAFETY: as above.
unsafe impl<'c, T: Element> FromInput<'c, T> for In<'c, T, HostInt32> {
    const HOST: bool = is_host::<T, HostInt32>();
    const HAS_HOST_ACCESS: bool = !is_host::<T, HostInt32>();

    fn from_input(input: InputArgument<'c>) -> Result<Self> {
        Self::read_argument(input)
    }
}

// SAFETY: the input is fetched with the layout of `T`, and the host does not read it.
unsafe impl<'c, T: Element, D: Device> FromInput<'c, T> for In<'c, T, D> {
    const HOST: bool = false;
    const HAS_HOST_ACCESS: bool = false;

    fn from_input(input: InputArgument<'c>) -> Result<Self> {
        Self::argument_on_device(input)
    }
}

impl<P: Sealed> Sealed for Option<P> {}

/// `None` if the running release's op does not have the input, or if it is a list without tensors.
// SAFETY: everything is that of `P`.
unsafe impl<'c, E, P: FromInput<'c, E>> FromInput<'c, E> for Option<P> {
    const HOST: bool = P::HOST;
    const HAS_HOST_ACCESS: bool = P::HAS_HOST_ACCESS;
    const LAYOUT: Option<ElementLayout> = P::LAYOUT;
    const FUNCTIONS: FunctionNames = P::FUNCTIONS;

    fn needs() -> Needs {
        P::needs()
    }

    fn from_input(input: InputArgument<'c>) -> Result<Self> {
        match input.source().count {
            0 => Ok(None),
            _ => P::from_input(input).map(Some),
        }
    }
}
