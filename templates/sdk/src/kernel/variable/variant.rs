//! Outputs that are variants, such as lists of tensors. Core computes them from the inputs, whatever these contain, and
//! calls the plugin for each tensor in them.

use std::ptr::NonNull;
use std::slice;

use sp_abi::kernels_experimental::{TF_AddNVariant, TF_ZerosLikeVariant};
use sp_abi::tf_datatype::TF_DataType;

use super::callback::{add, fill_with_zeros, with_callback};
use crate::buffer::Buffer;
use crate::element::size_of_element;
use crate::kernel::call::{Call, OutputTarget};
use crate::kernel::marker;
use crate::kernel::parameter::{AnyIn, AnyInList, FromOutput};
use crate::kernel::sealed::Sealed;
use crate::kernel::spec::optional::needs;
use crate::status::with_status;
use crate::tensor::{Tensor, address};
use crate::{Element, Error, Result};

/// An output that is a variant.
#[must_use = "an output that is not set makes the call fail"]
pub struct VariantOut<'c>(OutputTarget<'c>);

impl Sealed for VariantOut<'_> {}

// SAFETY: core writes the variant, and elements of a type that is checked.
unsafe impl<'c> FromOutput<'c, marker::Variant> for VariantOut<'c> {
    const HOST: bool = false;
    const HAS_HOST_ACCESS: bool = true;

    needs!(TF_ZerosLikeVariant, TF_AddNVariant);

    fn from_output(target: OutputTarget<'c>) -> Self {
        Self(target)
    }
}

impl<'c> VariantOut<'c> {
    /// Sets the op's first output to a variant like its first input, with zeros in each tensor.
    ///
    /// # Errors
    /// Returns an error if the variant is neither a list of tensors nor an optional, or if a tensor's elements have no
    /// size.
    pub fn zeros_like(self, input: AnyIn<'c>) -> Result<()> {
        drop(input);
        let zeros_like = TF_ZerosLikeVariant.get()?;
        self.0.set_first_with(|call| {
            with_callback(&|tensors| write_zeros(call, tensors), || {
                let context = call.context().as_ptr();
                // SAFETY: context and status are live, and the op has an input and an output.
                with_status(|status| unsafe { zeros_like(context, Some(fill_with_zeros), status) })
            })
        })
    }

    /// Sets the op's first output to the sum of the op's inputs; `add` adds each pair of tensors.
    ///
    /// # Errors
    /// Returns an error if the variants have no sum, or if `add` does.
    pub fn sum(
        self,
        inputs: AnyInList<'c>,
        add_tensors: impl Fn(Addition<'_>) -> Result<()>,
    ) -> Result<()> {
        let _ = inputs;
        let add_n = TF_AddNVariant.get()?;
        self.0.set_first_with(|call| {
            let callback = |tensors: &[&Tensor]| match tensors {
                [x, y, sum] => add_tensors(Addition { call, x, y, sum }),
                _ => Err(Error::internal("an addition has three tensors")),
            };
            with_callback(&callback, || {
                let context = call.context().as_ptr();
                // SAFETY: context and status are live, and the op has inputs and an output.
                with_status(|status| unsafe { add_n(context, Some(add), status) })
            })
        })
    }
}

/// Two tensors of variants, and their sum.
pub struct Addition<'a> {
    call: &'a Call<'a>,
    x: &'a Tensor,
    y: &'a Tensor,
    sum: &'a Tensor,
}

impl Addition<'_> {
    /// Returns the element type.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow has no function for it.
    pub fn dtype(&self) -> Result<TF_DataType> {
        self.sum.dtype()
    }

    /// Writes `f(x, y)` of each pair of elements.
    ///
    /// # Errors
    /// Returns an error if the tensors are not of `T`, or if their sizes differ.
    pub fn sum_with<T: Element>(self, f: impl Fn(T, T) -> T) -> Result<()> {
        let bytes = self.sum.bytes()?;
        for tensor in [self.x, self.y, self.sum] {
            tensor.require_type(T::DTYPE)?;
            if tensor.bytes()? != bytes {
                return Err(Error::invalid_argument("variants of different shapes"));
            }
        }
        let [x, y] = [
            self.call.staging_copy(self.x, false)?,
            self.call.staging_copy(self.y, false)?,
        ];
        let copy = self.call.staging_buffer(bytes, false)?;
        let len = bytes / size_of::<T>();
        // SAFETY: each has `len` elements, and core has just allocated the sum. Any bytes are values of an `Element`.
        let (xs, ys, sums) = unsafe {
            (
                slice::from_raw_parts(start::<T>(self.x, x.as_ref())?.as_ptr(), len),
                slice::from_raw_parts(start::<T>(self.y, y.as_ref())?.as_ptr(), len),
                start::<T>(self.sum, copy.as_ref())?,
            )
        };
        for (index, (x, y)) in xs.iter().zip(ys).enumerate() {
            // SAFETY: the index is below `len`.
            unsafe { sums.add(index).write(f(*x, *y)) };
        }
        match (self.call.staged_memory()?, copy) {
            (Some(memory), Some(copy)) => self.call.store(memory, copy, self.sum),
            _ => Ok(()),
        }
    }
}

/// Returns the address of the copy, or of the tensor.
fn start<T>(tensor: &Tensor, copy: Option<&Buffer>) -> Result<NonNull<T>> {
    match copy {
        Some(copy) => Ok(copy.start().cast()),
        None => address(tensor.data()?, tensor.bytes()?),
    }
}

/// Fills the last tensor, which core has allocated like the first one.
fn write_zeros(call: &Call<'_>, tensors: &[&Tensor]) -> Result<()> {
    let [_, tensor] = tensors else {
        return Err(Error::internal("zeros like one tensor have two tensors"));
    };
    let (bytes, dtype) = (tensor.bytes()?, tensor.dtype()?);
    if size_of_element(dtype).is_none() {
        return fail!(unimplemented, "zeros of {dtype:?}");
    }
    let copy = call.staging_buffer(bytes, false)?;
    let start = start::<u8>(tensor, copy.as_ref())?;
    // SAFETY: the copy, or the tensor that the host can address, has `bytes` bytes and no other user.
    unsafe { start.write_bytes(0, bytes) };
    match (call.staged_memory()?, copy) {
        (Some(memory), Some(zeros)) => call.store(memory, zeros, tensor),
        _ => Ok(()),
    }
}
