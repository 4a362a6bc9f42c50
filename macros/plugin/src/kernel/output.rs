//! Outputs of kernels. Each is set once; setting it consumes the parameter.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;

use super::call::{Call, OutputTarget};
use super::input::{HostAccess, In};
use super::marker;
use super::sealed::Sealed;
use crate::buffer::Buffer;
use crate::tensor::{Tensor, address, byte_len};
use crate::{Device, Element, Error, Result};

/// A parameter of a kernel that is an output of type `E`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parameter for an output of type `{E}`",
    label = "the op's output is of type `{E}`",
    note = "`Out<'_, T>` is a tensor of `T`, `HostOut<'_, T>` one in host memory, `AnyOut<'_>` a tensor of any type, `OutList<'_, T>` several tensors"
)]
pub trait FromOutput<'c, E>: Sized + Sealed {
    /// True if TensorFlow has to place the output in host memory.
    const HOST: bool;

    /// True if the host writes the output in device memory, in place or through a copy.
    const HAS_HOST_ACCESS: bool;

    /// Creates the parameter.
    fn from_output(target: OutputTarget<'c>) -> Self;
}

/// An output: a tensor of `T`, of which the host writes the elements.
///
/// `Out<'_, T, D>` is a tensor in the memory of device `D`, of which the host knows only address and length.
#[must_use = "an output that is not set makes the call fail"]
pub struct Out<'c, T, S = HostAccess> {
    pub(super) target: OutputTarget<'c>,
    element: PhantomData<fn() -> (T, S)>,
}

/// An output in host memory: the parameter registers it so.
#[must_use = "an output that is not set makes the call fail"]
pub struct HostOut<'c, T>(Out<'c, T>);

impl<'c, T: Element> Out<'c, T> {
    /// Allocates the output. Its elements are uninitialized: for kernels that write all of them.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn uninit(self, dims: &[usize]) -> Result<OutData<'c, T>> {
        let (call, is_host) = (self.target.call, self.target.is_host);
        let tensor = self.target.allocate(T::DTYPE, dims)?;
        OutData::new(call, tensor, byte_len::<T>(dims)?, is_host)
    }

    /// Allocates the output with zeros.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn zeroed(self, dims: &[usize]) -> Result<OutSlice<'c, T>> {
        let mut data = self.uninit(dims)?;
        // SAFETY: the slice is valid for writes of its length.
        unsafe { data.as_uninit_slice().as_mut_ptr().write_bytes(0, data.len) };
        // Zeros are a value of any `Element`.
        Ok(OutSlice(data))
    }

    /// Allocates the output without elements.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn empty(self) -> Result<()> {
        self.uninit(&[0]).map(drop)
    }

    /// Makes an input the output: both then have the same buffer.
    ///
    /// # Errors
    /// Returns an error if TensorFlow rejects the tensor.
    pub fn set<S>(self, input: In<'c, T, S>) -> Result<()> {
        self.target.set(&input.tensor)
    }

    /// Makes the input's buffer the output if nobody else uses it; otherwise allocates an output of the input's shape.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn forward(self, input: In<'c, T>) -> Result<Forwarded<'c, T>> {
        let (call, is_host, source) = (self.target.call, self.target.is_host, input.source);
        let is_copied = !is_host && call.staged_memory()?.is_some();
        if is_host != source.is_host || is_copied || !call.can_forward() {
            let output = self.uninit(input.dims())?;
            return Ok(Forwarded::Fresh { input, output });
        }
        let (dims, bytes) = (input.dims.clone(), byte_len::<T>(&input.dims)?);
        // Our reference would prevent the forwarding.
        drop(input);
        let (tensor, is_forwarded) = self.target.forward(source.first, &dims)?;
        let output = OutData::new(call, tensor, bytes, true)?;
        match is_forwarded {
            true => {
                call.record_forwarded(output.start.as_ptr() as usize);
                Ok(Forwarded::InPlace(OutSlice(output)))
            }
            false => Ok(Forwarded::Fresh {
                input: In::new(source, true)?,
                output,
            }),
        }
    }

    /// Writes `f` of each element of the input, in the input's buffer if nobody else uses it.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn map_from(self, input: In<'c, T>, f: impl Fn(T) -> T) -> Result<()> {
        match self.forward(input)? {
            Forwarded::InPlace(mut data) => data.iter_mut().for_each(|it| *it = f(*it)),
            Forwarded::Fresh { input, output } => {
                output.write_with(|index| f(input.data()[index]));
            }
        }
        Ok(())
    }
}

impl<'c, T: Element> HostOut<'c, T> {
    /// Allocates the output. Its elements are uninitialized: for kernels that write all of them.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn uninit(self, dims: &[usize]) -> Result<OutData<'c, T>> {
        self.0.uninit(dims)
    }

    /// Allocates the output with zeros.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn zeroed(self, dims: &[usize]) -> Result<OutSlice<'c, T>> {
        self.0.zeroed(dims)
    }
}

/// The result of [`Out::forward`].
pub enum Forwarded<'c, T> {
    /// The output has the input's buffer, and its elements.
    InPlace(OutSlice<'c, T>),
    /// The output is a new tensor of the same shape.
    Fresh {
        /// The input.
        input: In<'c, T>,
        /// The output.
        output: OutData<'c, T>,
    },
}

/// The elements of an output, uninitialized. An element that is not written reaches TensorFlow as the memory's
/// former content.
pub struct OutData<'c, T> {
    call: &'c Call<'c>,
    tensor: Tensor,
    copy: Option<Buffer>,
    start: NonNull<MaybeUninit<T>>,
    len: usize,
}

impl<'c, T: Element> OutData<'c, T> {
    fn new(call: &'c Call<'c>, tensor: Tensor, bytes: usize, is_host: bool) -> Result<Self> {
        tensor.check_type(T::DTYPE)?;
        let copy = call.staging_buffer(bytes, is_host)?;
        let start = match &copy {
            Some(copy) => copy.start().cast(),
            None => address(tensor.data()?)?,
        };
        let len = bytes / size_of::<T>();
        Ok(Self {
            call,
            tensor,
            copy,
            start,
            len,
        })
    }

    /// Returns the elements.
    pub fn as_uninit_slice(&mut self) -> &mut [MaybeUninit<T>] {
        // SAFETY: `new` has checked the alignment. The tensor, or its copy, has `len` elements, which may be
        // uninitialized; it lives as long as `self`, and nobody else has the output.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// Writes `value` to all elements.
    pub fn fill(self, value: T) -> OutSlice<'c, T> {
        self.write_with(|_| value)
    }

    /// Writes `f(i)` to each element `i`.
    pub fn write_with(mut self, f: impl Fn(usize) -> T) -> OutSlice<'c, T> {
        for (index, element) in self.as_uninit_slice().iter_mut().enumerate() {
            element.write(f(index));
        }
        OutSlice(self)
    }

    /// Copies the elements of a slice.
    ///
    /// # Errors
    /// Returns an error if the lengths differ.
    pub fn copy_from_slice(self, source: &[T]) -> Result<OutSlice<'c, T>> {
        if self.len != source.len() {
            let message = format!("{} elements for an output of {}", source.len(), self.len);
            return Err(Error::invalid_argument(message));
        }
        Ok(self.write_with(|index| source[index]))
    }
}

impl<T> Drop for OutData<'_, T> {
    /// Copies the elements to the device if the host cannot address its memory.
    fn drop(&mut self) {
        if let Some(copy) = &self.copy {
            let memory = self.call.staged_memory();
            let stored = memory.and_then(|memory| {
                memory.map_or(Ok(()), |memory| self.call.store(memory, copy, &self.tensor))
            });
            if let Err(error) = stored {
                self.call.record_failure(error);
            }
        }
    }
}

/// The elements of an output, initialized.
pub struct OutSlice<'c, T>(OutData<'c, T>);

impl<T: Element> Deref for OutSlice<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: as in `as_uninit_slice`; all elements were written before the value was created.
        unsafe { slice::from_raw_parts(self.0.start.cast().as_ptr(), self.0.len) }
    }
}

impl<T: Element> DerefMut for OutSlice<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `as_uninit_slice`; all elements were written before the value was created.
        unsafe { slice::from_raw_parts_mut(self.0.start.cast().as_ptr(), self.0.len) }
    }
}

/// An output of several tensors of `T`, an iterator over them.
pub struct OutList<'c, T> {
    target: OutputTarget<'c>,
    element: PhantomData<fn() -> T>,
}

impl<T> OutList<'_, T> {
    /// Returns the number of tensors that are left.
    pub fn len(&self) -> usize {
        self.target.count
    }

    /// Returns true if no tensors are left.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'c, T: Element> Iterator for OutList<'c, T> {
    type Item = Out<'c, T>;

    fn next(&mut self) -> Option<Out<'c, T>> {
        let target = self.target.split_first()?;
        Some(Out {
            target,
            element: PhantomData,
        })
    }
}

impl<T, S> Sealed for Out<'_, T, S> {}
impl<T> Sealed for HostOut<'_, T> {}
impl<T> Sealed for OutList<'_, T> {}

macro_rules! outputs {
    ($([$($generics:tt)*] $ty:ty: $element:ty, $host:literal, $access:literal => |$target:ident| $make:expr;)*) => {$(
        impl<'c, $($generics)*> FromOutput<'c, $element> for $ty {
            const HOST: bool = $host;
            const HAS_HOST_ACCESS: bool = $access;

            fn from_output($target: OutputTarget<'c>) -> Self {
                $make
            }
        }
    )*};
}

outputs! {
    [T: Element] Out<'c, T>: T, false, true => |target| Self { target, element: PhantomData };
    [T: Element, D: Device] Out<'c, T, D>: T, false, false => |target| Self { target, element: PhantomData };
    [T: Element] HostOut<'c, T>: T, true, false => |target| Self(Out { target, element: PhantomData });
    [T: Element] OutList<'c, T>: marker::List<T>, false, true => |target| Self { target, element: PhantomData };
}
