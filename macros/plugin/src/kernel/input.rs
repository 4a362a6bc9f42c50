//! Inputs of kernels: parameters whose memory space is in their type.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::slice;

use sp_abi::tf_datatype::TF_DataType;

use super::call::InputSource;
use super::marker;
use super::sealed::Sealed;
use crate::buffer::Buffer;
use crate::dims::Dims;
use crate::tensor::{Tensor, address, byte_len};
use crate::{Device, Element, Error, HostAddressable, Result};

/// A parameter of a kernel that is an input of type `E`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parameter for an input of type `{E}`",
    label = "the op's input is of type `{E}`",
    note = "`In<'_, T>` is a tensor of `T`, `HostIn<'_, Integer>` an int32 or int64 tensor in host memory, `AnyIn<'_>` a tensor of any type, `InList<'_, T>` several tensors, `Variable<'_, T>` a resource"
)]
pub trait FromInput<'c, E>: Sized + Sealed {
    /// True if TensorFlow has to place the input in host memory.
    const HOST: bool;

    /// True if the host reads the input in device memory, in place or through a copy.
    const HAS_HOST_ACCESS: bool;

    /// Fetches the input.
    ///
    /// # Errors
    /// Returns an error if TensorFlow has no such input, or if it cannot be copied to the host.
    fn from_input(source: InputSource<'c>) -> Result<Self>;
}

/// The memory space of tensors that the host reads and writes, in place or through a copy.
pub struct HostAccess(());

/// An input: a tensor of `T`, of which the host reads the elements.
///
/// `In<'_, T, D>` is a tensor in the memory of device `D`, of which the host knows only address and length.
pub struct In<'c, T, S = HostAccess> {
    pub(super) source: InputSource<'c>,
    pub(super) tensor: Tensor,
    pub(super) dims: Dims,
    len: usize,
    /// The first element, for a tensor that the host reads.
    start: NonNull<T>,
    _copy: Option<Buffer>,
    space: PhantomData<fn() -> S>,
}

impl<'c, T: Element, S> In<'c, T, S> {
    /// Fetches a tensor. `is_read` is true if the host reads the elements.
    pub(super) fn new(source: InputSource<'c>, is_read: bool) -> Result<Self> {
        let tensor = source.tensor()?;
        tensor.check_type(T::DTYPE)?;
        let (dims, copy) = (
            tensor.dims()?,
            match is_read {
                true => source.staging_copy(&tensor)?,
                false => None,
            },
        );
        let start = match (&copy, is_read) {
            (Some(copy), _) => copy.start().cast(),
            (None, true) => address(tensor.data()?)?,
            (None, false) => NonNull::dangling(),
        };
        let len = byte_len::<T>(&dims)? / size_of::<T>();
        Ok(Self {
            source,
            tensor,
            dims,
            len,
            start,
            _copy: copy,
            space: PhantomData,
        })
    }

    /// Returns the shape.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T: Element> In<'_, T> {
    /// Returns the elements in row-major order.
    pub fn data(&self) -> &[T] {
        // SAFETY: `new` has checked the alignment. The tensor, or its copy, has as many elements as its shape, and
        // lives as long as `self`. Any bytes are values of an `Element`, and TensorFlow changes no input during a call.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// Returns the only element.
    ///
    /// # Errors
    /// Returns an error if there is not exactly one.
    pub fn scalar(&self) -> Result<T> {
        scalar(self.data(), &self.dims)
    }
}

impl<T: Element, D: Device> In<'_, T, D> {
    /// Returns the address on the device.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow has no function for it.
    pub fn address(&self) -> Result<*const T> {
        Ok(self.tensor.data()?.cast_const().cast())
    }

    /// Returns the elements, for a device whose memory the host can address.
    ///
    /// # Errors
    /// Returns an error if the address is not aligned for `T`.
    ///
    /// # Safety
    /// - Work on streams that writes the tensor has completed.
    /// - Nothing writes to it while the slice is alive: no stream, and no slice of an output with the same buffer.
    pub unsafe fn as_slice(&self) -> Result<&[T]>
    where
        D: HostAddressable,
    {
        let start = address::<T>(self.tensor.data()?)?;
        // SAFETY: the device is host-addressable, the tensor lives as long as `self`, and the caller guarantees that
        // nobody writes.
        Ok(unsafe { slice::from_raw_parts(start.as_ptr(), self.len) })
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
        Self::new(source, true)
    }
}

impl<'c, T: Element, D: Device> FromInput<'c, T> for In<'c, T, D> {
    const HOST: bool = false;
    const HAS_HOST_ACCESS: bool = false;

    fn from_input(source: InputSource<'c>) -> Result<Self> {
        Self::new(source, false)
    }
}

/// The element type of a [`HostIn`] that is int32 or int64.
pub struct Integer(());

/// An input in host memory: the parameter registers it so.
pub struct HostIn<'c, T: HostElement>(T::Tensor<'c>);

/// The element type of a [`HostIn`]: an [`Element`], or [`Integer`].
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

/// A tensor of int32 or int64.
pub enum Integers<'c> {
    /// int32.
    Int32(In<'c, i32>),
    /// int64.
    Int64(In<'c, i64>),
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

impl HostIn<'_, Integer> {
    /// Returns the shape.
    pub fn dims(&self) -> &[usize] {
        match &self.0 {
            Integers::Int32(it) => it.dims(),
            Integers::Int64(it) => it.dims(),
        }
    }

    /// Returns the elements in row-major order.
    pub fn iter(&self) -> impl Iterator<Item = i64> {
        let (narrow, wide): (&[i32], &[i64]) = match &self.0 {
            Integers::Int32(it) => (it.data(), &[]),
            Integers::Int64(it) => (&[], it.data()),
        };
        narrow
            .iter()
            .map(|it| i64::from(*it))
            .chain(wide.iter().copied())
    }

    /// Copies the elements.
    pub fn to_vec(&self) -> Vec<i64> {
        self.iter().collect()
    }

    /// Returns the only element.
    ///
    /// # Errors
    /// Returns an error if there is not exactly one.
    pub fn scalar(&self) -> Result<i64> {
        match &self.0 {
            Integers::Int32(it) => it.scalar().map(i64::from),
            Integers::Int64(it) => it.scalar(),
        }
    }
}

impl<'c, T: Element> FromInput<'c, T> for HostIn<'c, T> {
    const HOST: bool = true;
    const HAS_HOST_ACCESS: bool = false;

    fn from_input(source: InputSource<'c>) -> Result<Self> {
        In::new(source, true).map(Self)
    }
}

macro_rules! integer_inputs {
    ($($ty:ty => |$source:ident| $tensor:expr;)*) => {$(
        impl<'c> FromInput<'c, $ty> for HostIn<'c, Integer> {
            const HOST: bool = true;
            const HAS_HOST_ACCESS: bool = false;

            fn from_input($source: InputSource<'c>) -> Result<Self> {
                Ok(Self($tensor))
            }
        }
    )*};
}

integer_inputs! {
    i32 => |source| Integers::Int32(In::new(source, true)?);
    i64 => |source| Integers::Int64(In::new(source, true)?);
    marker::Integers => |source| match source.tensor()?.dtype()? {
        TF_DataType::TF_INT32 => Integers::Int32(In::new(source, true)?),
        _ => Integers::Int64(In::new(source, true)?),
    };
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
        In::new(self.source, true)
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
        (0..source.count).map(move |index| In::new(source.tensor_source(index), true))
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
