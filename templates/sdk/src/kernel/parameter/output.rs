//! Outputs of kernels. Each is set once; setting it consumes the parameter.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::slice;

use sp_abi::tf_tensor::TF_Tensor;

use super::input::In;
use super::output_tensor::OutputTensor;
use super::placement::{HostAccess, HostInt32, is_host};
use crate::element::ElementLayout;
use crate::kernel::call::OutputTarget;
use crate::kernel::marker;
use crate::kernel::sealed::Sealed;
use crate::{Device, Element, Error, Result};

/// A parameter of a kernel that is an output of type `E`.
///
/// # Safety
/// - The value accesses the output as elements of `E` only, or as those of the type that it checks.
/// - The constants state the memory that the value accesses.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parameter for an output of type `{E}`",
    label = "the op's output is of type `{E}`",
    note = "`Out<'_, T>` is a tensor of `T`, `HostOut<'_, T>` one in host memory, `HostOut<'_, Text>` one of strings, `AnyOut<'_>` a tensor of any type, `OutList<'_, T>` several tensors, `RefOut<'_, T>` a reference to a variable"
)]
pub unsafe trait FromOutput<'c, E>: Sized + Sealed {
    parameter_items!("output", "writes");

    /// Creates the parameter. For a parameter that serves several types this is the same code for all of them, as in
    /// [`FromInput`](super::FromInput::from_input).
    fn from_output(target: OutputTarget<'c>) -> Self;
}

/// An output: a tensor of `T`, of which the host writes the elements.
///
/// `Out<'_, T, D>` is a tensor in the memory of device `D`, of which the host knows only address and length.
/// `Out<'_, T, HostInt32>` is in host memory if `T` is `i32`.
#[must_use = "an output that is not set makes the call fail"]
pub struct Out<'c, T, S = HostAccess> {
    pub(in crate::kernel) target: OutputTarget<'c>,
    element: PhantomData<fn() -> (T, S)>,
}

/// An output in host memory: the parameter registers it so.
#[must_use = "an output that is not set makes the call fail"]
pub struct HostOut<'c, T>(Out<'c, T>);

macro_rules! written_by_host {
    ($($space:ty)*) => {$(
        impl<'c, T: Element> Out<'c, T, $space> {
            /// Allocates the output. Its elements are uninitialized: for kernels that write all of them.
            ///
            /// # Errors
            /// Returns an error if there is not enough memory.
            pub fn uninit(self, dims: &[usize]) -> Result<OutData<'c, T>> {
                let output = OutputTensor::allocate(self.target, &const { ElementLayout::new::<T>() }, dims)?;
                // SAFETY: allocated with the alignment of `T`.
                Ok(unsafe { OutData::from_output(output) })
            }

            /// Allocates the output with zeros.
            ///
            /// # Errors
            /// Returns an error if there is not enough memory.
            pub fn zeroed(self, dims: &[usize]) -> Result<OutSlice<'c, T>> {
                let mut data = self.uninit(dims)?;
                data.output.as_uninit_bytes().fill(MaybeUninit::new(0));
                // Zeros are a value of any `Element`.
                Ok(OutSlice(data))
            }

            /// Allocates the output with unspecified elements, for functions that overwrite all of them. Writing zeros
            /// first takes as long as such a function on a large tensor. An element that is not overwritten reaches
            /// TensorFlow as the memory's former content, or as bytes `0xa5` in builds with debug assertions.
            ///
            /// # Errors
            /// Returns an error if there is not enough memory.
            pub fn unspecified(self, dims: &[usize]) -> Result<OutSlice<'c, T>> {
                let mut data = self.uninit(dims)?;
                initialize(data.output.as_uninit_bytes());
                // All bits are a value of any `Element`.
                Ok(OutSlice(data))
            }

            /// Allocates the output without elements.
            ///
            /// # Errors
            /// Returns an error if there is not enough memory.
            pub fn empty(self) -> Result<()> {
                self.uninit(&[0]).map(drop)
            }
        }
    )*};
}

written_by_host!(HostAccess HostInt32);

/// Makes uninitialized bytes initialized, of unspecified values.
#[cfg(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(debug_assertions, miri))
))]
#[inline]
fn initialize(bytes: &mut [MaybeUninit<u8>]) {
    // SAFETY: the code is empty. For the compiler it may write any bytes through the pointer, which is valid for writes, so
    // they are initialized after it. They keep their values, since TensorFlow's allocators do not return memory to the
    // system while a tensor has it.
    unsafe {
        std::arch::asm!("/* {0} */", in(reg) bytes.as_mut_ptr(), options(nostack, preserves_flags));
    }
}

/// Makes uninitialized bytes initialized, of a value that a test notices.
#[cfg(not(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(debug_assertions, miri))
)))]
fn initialize(bytes: &mut [MaybeUninit<u8>]) {
    bytes.fill(MaybeUninit::new(0xa5));
}

impl<'c, T: Element> Out<'c, T> {
    /// Makes an input the output: both then have the same buffer.
    ///
    /// # Errors
    /// Returns an error if TensorFlow rejects the tensor, or if only one of both is in host memory.
    pub fn set<S>(self, input: In<'c, T, S>) -> Result<()> {
        self.target
            .set(&input.fetched().source(), input.fetched().tensor())
    }

    /// Makes the input's buffer the output if nobody else uses it; otherwise allocates an output of the input's shape.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn forward(self, input: In<'c, T>) -> Result<Forwarded<'c, T>> {
        let (call, is_host, source) = (
            self.target.call,
            self.target.is_host(),
            input.fetched().source(),
        );
        let is_copied = !is_host && call.staged_memory()?.is_some();
        if is_copied && !source.is_host {
            return self.forward_copied(input);
        }
        if is_host != source.is_host || !call.can_forward() {
            let output = self.uninit(input.dims())?;
            return Ok(Forwarded::Fresh { input, output });
        }
        let (dims, bytes) = (input.fetched().dims().clone(), input.fetched().bytes());
        // Our reference would prevent the forwarding.
        drop(input);
        let (tensor, is_forwarded) = self.target.forward(source.first, &dims)?;
        call.check_type(&tensor, T::DTYPE)?;
        // SAFETY: the tensor is the output, of the input's shape and type. It is new, or has the buffer of an input that
        // nobody else uses and that cannot be fetched again. `OutData` gets the alignment of `T`.
        let output = unsafe {
            let output = OutputTensor::from_tensor(call, tensor, bytes, align_of::<T>(), is_host)?;
            OutData::from_output(output)
        };
        match is_forwarded {
            true => {
                call.record_forwarded(output.output.start().addr().get());
                Ok(Forwarded::InPlace(OutSlice(output)))
            }
            false => Ok(Forwarded::Fresh {
                input: In::read(source)?,
                output,
            }),
        }
    }

    /// Returns the staging copy of the input, and one for the output. TensorFlow forwards the buffer of the device if it
    /// requires so.
    fn forward_copied(self, input: In<'c, T>) -> Result<Forwarded<'c, T>> {
        let (call, fetched) = (self.target.call, input.fetched());
        let (tensor, is_forwarded) = self
            .target
            .forward(fetched.source().first, fetched.dims())?;
        call.check_type(&tensor, T::DTYPE)?;
        if is_forwarded {
            call.record_forwarded(tensor.data()? as usize);
        }
        // SAFETY: the tensor is the output in device memory, of the input's shape and type. The host uses copies of both,
        // and copies the output to the device when it is dropped. `OutData` gets the alignment of `T`.
        let output = unsafe {
            let bytes = fetched.bytes();
            let output = OutputTensor::from_tensor(call, tensor, bytes, align_of::<T>(), false)?;
            OutData::from_output(output)
        };
        Ok(Forwarded::Fresh { input, output })
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

impl<'c, T> HostOut<'c, T> {
    pub(super) fn new(target: OutputTarget<'c>) -> Self {
        let element = PhantomData;
        Self(Out { target, element })
    }

    pub(super) fn target(self) -> OutputTarget<'c> {
        self.0.target
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

    /// Returns the output, for functions of outputs in any memory that the host writes.
    pub fn into_output(self) -> Out<'c, T> {
        self.0
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
    output: OutputTensor<'c>,
    element: PhantomData<fn() -> T>,
}

impl<'c, T> OutData<'c, T> {
    /// Returns the elements of an output.
    ///
    /// # Safety
    /// `output` was created with the alignment of `T`.
    #[inline]
    unsafe fn from_output(output: OutputTensor<'c>) -> Self {
        let element = PhantomData;
        Self { output, element }
    }

    #[inline]
    fn len(&self) -> usize {
        self.output.bytes() / size_of::<T>()
    }
}

impl<'c, T: Element> OutData<'c, T> {
    /// Returns the C object, for functions that the SDK does not wrap.
    ///
    /// # Safety
    /// - The caller does not delete the tensor, and uses it only while `self` lives.
    /// - It does not write to elements that have a slice.
    pub unsafe fn as_raw(&self) -> *mut TF_Tensor {
        self.output.tensor().as_ptr()
    }

    /// Returns the elements.
    pub fn as_uninit_slice(&mut self) -> &mut [MaybeUninit<T>] {
        // SAFETY: `from_output` guarantees the alignment. The output has `len` elements, which may be uninitialized. They
        // live as long as `self`, and nobody else uses them.
        unsafe { slice::from_raw_parts_mut(self.output.start().as_ptr().cast(), self.len()) }
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
        if self.len() != source.len() {
            let message = format!("{} elements for an output of {}", source.len(), self.len());
            return Err(Error::invalid_argument(message));
        }
        Ok(self.write_with(|index| source[index]))
    }
}

/// The elements of an output, initialized.
pub struct OutSlice<'c, T>(OutData<'c, T>);

impl<T: Element> Deref for OutSlice<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: as in `as_uninit_slice`; all elements were written before the value was created.
        unsafe { slice::from_raw_parts(self.0.output.start().as_ptr().cast(), self.0.len()) }
    }
}

impl<T: Element> DerefMut for OutSlice<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `as_uninit_slice`; all elements were written before the value was created.
        unsafe { slice::from_raw_parts_mut(self.0.output.start().as_ptr().cast(), self.0.len()) }
    }
}

/// An output of several tensors of `T`, an iterator over them.
pub struct OutList<'c, T> {
    target: OutputTarget<'c>,
    element: PhantomData<fn() -> T>,
}

impl<T> OutList<'_, T> {
    len_methods!("tensors that are left", self => self.target.count);
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

/// An output of several tensors of `T` in host memory, an iterator over them: the parameter registers it so.
pub struct HostOutList<'c, T>(OutList<'c, T>);

impl<'c, T: Element> Iterator for HostOutList<'c, T> {
    type Item = HostOut<'c, T>;

    fn next(&mut self) -> Option<HostOut<'c, T>> {
        self.0.next().map(HostOut)
    }
}

impl<T, S> Sealed for Out<'_, T, S> {}
impl<T> Sealed for HostOutList<'_, T> {}
impl<T> Sealed for HostOut<'_, T> {}
impl<T> Sealed for OutList<'_, T> {}

macro_rules! outputs {
    ($([$($generics:tt)*] $ty:ty: $element:ty, $host:expr, $access:expr => |$target:ident| $make:expr;)*) => {$(
        // SAFETY: the element of `$ty` is that of the output, and the invocation states its memory.
        unsafe impl<'c, $($generics)*> FromOutput<'c, $element> for $ty {
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
    [T: Element] Out<'c, T, HostInt32>: T, is_host::<T, HostInt32>(), !is_host::<T, HostInt32>() =>
        |target| Self { target, element: PhantomData };
    [T: Element, D: Device] Out<'c, T, D>: T, false, false => |target| Self { target, element: PhantomData };
    [T: Element] HostOut<'c, T>: T, true, false => |target| Self::new(target);
    [T: Element] HostOutList<'c, T>: marker::List<T>, true, false =>
        |target| Self(OutList { target, element: PhantomData });
    [T: Element] OutList<'c, T>: marker::List<T>, false, true => |target| Self { target, element: PhantomData };
}
