//! `TF_ShapeInferenceContext`: the shapes of a node's inputs and outputs. Every handle is owned by a value here.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr::NonNull;

use sp_abi::ops::{
    TF_DeleteDimensionHandle, TF_DeleteShapeHandle, TF_DimensionHandle, TF_DimensionHandleValue,
    TF_DimensionHandleValueKnown, TF_NewDimensionHandle, TF_NewShapeHandle, TF_ShapeHandle,
    TF_ShapeInferenceContext, TF_ShapeInferenceContext_GetAttrType,
    TF_ShapeInferenceContextConcatenateShapes, TF_ShapeInferenceContextDim,
    TF_ShapeInferenceContextGetInput, TF_ShapeInferenceContextNumInputs,
    TF_ShapeInferenceContextRank, TF_ShapeInferenceContextRankKnown,
    TF_ShapeInferenceContextScalar, TF_ShapeInferenceContextSetOutput,
    TF_ShapeInferenceContextSetUnknownShape, TF_ShapeInferenceContextSubshape,
    TF_ShapeInferenceContextVectorFromSize, TF_ShapeInferenceContextWithRank,
};
use sp_abi::tf_datatype::TF_DataType;
use sp_runtime::{Release, Releases};

use super::dim::Dim;
use super::shape::Shape;
use crate::release::is_running;
use crate::status::with_status;
use crate::{Error, Result};

/// The releases that have the shapes of inputs and outputs other than the first: 2.6 to 2.9 reject their indexes.
const EVERY_INDEX: Releases = Releases::from(Release::new(2, 10));

/// A node whose shapes TensorFlow infers.
pub struct ShapeContext<'c> {
    raw: *mut TF_ShapeInferenceContext,
    borrowed: PhantomData<&'c ()>,
}

impl ShapeContext<'_> {
    /// # Safety
    /// `raw` is live during the value's lifetime.
    pub(super) unsafe fn from_raw(raw: *mut TF_ShapeInferenceContext) -> Self {
        Self {
            raw,
            borrowed: PhantomData,
        }
    }

    /// Returns the C object, for functions that the SDK does not have.
    ///
    /// # Safety
    /// - The object is not used after the call of the shape function.
    /// - No output is set through it: the SDK sets them afterwards.
    pub unsafe fn as_raw(&self) -> *mut TF_ShapeInferenceContext {
        self.raw
    }

    /// Returns the number of input tensors.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow lacks the function.
    pub fn input_count(&self) -> Result<usize> {
        let count = TF_ShapeInferenceContextNumInputs.get()?;
        // SAFETY: the context is live.
        let count = unsafe { count(self.raw) };
        crate::limit::check_count("the inputs of a node", count)
    }

    /// Returns the shape of an input tensor. In 2.6 to 2.9 it is known for the first one only.
    ///
    /// # Errors
    /// Returns an error if there is no such input.
    pub fn input(&self, index: usize) -> Result<Shape> {
        let count = self.input_count()?;
        if index >= count {
            let message = format!("the node has {count} inputs, and no input {index}");
            return Err(Error::invalid_argument(message));
        }
        match index == 0 || is_running(&[EVERY_INDEX]) {
            true => self.read(&ShapeHandle::from_input(self, index)?, index),
            false => Ok(Shape::unknown()),
        }
    }

    /// Returns the shape of an input tensor, counted from the last one, which is 1.
    #[doc(hidden)]
    pub fn input_from_last(&self, position: usize) -> Result<Shape> {
        let count = self.input_count()?;
        self.input(count.checked_sub(position).unwrap_or(count))
    }

    /// Returns the shapes of the input tensors but the first `before` and the last `after`.
    #[doc(hidden)]
    pub fn input_list(&self, before: usize, after: usize) -> Result<Vec<Shape>> {
        let end = self.input_count()?.saturating_sub(after);
        (before..end).map(|index| self.input(index)).collect()
    }

    /// Returns the value of a type attribute.
    ///
    /// # Errors
    /// Returns an error if the op has no such attribute.
    pub fn type_attribute(&self, name: &CStr) -> Result<TF_DataType> {
        let (get, mut value) = (TF_ShapeInferenceContext_GetAttrType.get()?, TF_DataType(0));
        // SAFETY: context, name and status are live, and the value is of the function's type.
        with_status(|status| unsafe { get(self.raw, name.as_ptr(), &raw mut value, status) })?;
        Ok(value)
    }

    /// Reads the dimensions of an input.
    fn read(&self, handle: &ShapeHandle, index: usize) -> Result<Shape> {
        let (is_known, rank) = (
            TF_ShapeInferenceContextRankKnown.get()?,
            TF_ShapeInferenceContextRank.get()?,
        );
        // SAFETY: context and handle are live.
        let rank = match unsafe { is_known(self.raw, handle.as_ptr()) } {
            0 => return Ok(Shape::from_input(None, index)),
            // SAFETY: as above.
            _ => unsafe { rank(self.raw, handle.as_ptr()) },
        };
        let rank = crate::limit::check_count("the dimensions of a shape", rank)?;
        let dimension = DimensionHandle::new()?;
        let dims = (0..rank).map(|axis| {
            let size = dimension.read(self, handle, axis)?;
            Ok(Dim::from_input(size, index, axis))
        });
        Ok(Shape::from_input(Some(dims.collect::<Result<_>>()?), index))
    }
}

/// Sets every output to an unknown shape, calls the shape function and sets what it returns. In 2.6 to 2.9 all outputs
/// but the first remain unknown.
pub(super) fn run(
    context: &ShapeContext<'_>,
    infer: fn(&ShapeContext<'_>) -> Result<Vec<Vec<Shape>>>,
) -> Result<()> {
    let set_unknown = TF_ShapeInferenceContextSetUnknownShape.get()?;
    // SAFETY: context and status are live.
    with_status(|status| unsafe { set_unknown(context.raw, status) })?;
    let shapes = infer(context)?;
    for (index, shape) in (0_i32..).zip(shapes.iter().flatten()) {
        if index == 0 || is_running(&[EVERY_INDEX]) {
            set_output(context, index, shape)?;
        }
    }
    Ok(())
}

fn set_output(context: &ShapeContext<'_>, index: i32, shape: &Shape) -> Result<()> {
    let Some(handle) = ShapeHandle::from_shape(context, shape)? else {
        return Ok(());
    };
    let set = TF_ShapeInferenceContextSetOutput.get()?;
    // SAFETY: context, handle and status are live.
    with_status(|status| unsafe { set(context.raw, index, handle.as_ptr(), status) })
}

/// An owned shape.
struct ShapeHandle(NonNull<TF_ShapeHandle>);

impl ShapeHandle {
    fn new() -> Result<Self> {
        let new = TF_NewShapeHandle.get()?;
        // SAFETY: the function has no arguments.
        Self::from_raw(unsafe { new() })
    }

    fn from_raw(raw: *mut TF_ShapeHandle) -> Result<Self> {
        let none = || Error::resource_exhausted("TensorFlow created no shape");
        NonNull::new(raw).map(Self).ok_or_else(none)
    }

    fn as_ptr(&self) -> *mut TF_ShapeHandle {
        self.0.as_ptr()
    }

    fn from_input(context: &ShapeContext<'_>, index: usize) -> Result<Self> {
        let (handle, get) = (Self::new()?, TF_ShapeInferenceContextGetInput.get()?);
        let index = i32::try_from(index).unwrap_or(i32::MAX);
        // SAFETY: context, handle and status are live.
        with_status(|status| unsafe { get(context.raw, index, handle.as_ptr(), status) })?;
        Ok(handle)
    }

    /// Returns the shape in TensorFlow, or `None` for an unknown one that is not an input's.
    fn from_shape(context: &ShapeContext<'_>, shape: &Shape) -> Result<Option<Self>> {
        let Some(dims) = shape.dims() else {
            let input = shape.input().map(|index| Self::from_input(context, index));
            return input.transpose();
        };
        let mut whole: Option<Self> = None;
        for piece in dims.chunk_by(|left, right| are_adjacent(*left, *right)) {
            let piece = Self::from_dims(context, piece)?;
            whole = Some(match whole {
                Some(first) => first.concatenate(context, &piece)?,
                None => piece,
            });
        }
        match whole {
            Some(whole) => Ok(Some(whole)),
            None => Self::scalar(context).map(Some),
        }
    }

    /// Returns adjacent dimensions of one input, or one dimension.
    fn from_dims(context: &ShapeContext<'_>, dims: &[Dim]) -> Result<Self> {
        let first = dims.first().copied().unwrap_or(Dim::UNKNOWN);
        match (first.origin(), first.size()) {
            (Some(origin), _) => {
                let (start, end) = (origin.axis, origin.axis + dims.len());
                Self::from_input(context, origin.input)?.subshape(context, start, end)
            }
            (None, Some(size)) => Self::vector(context, size),
            (None, None) => Self::new()?.with_rank(context, dims.len()),
        }
    }

    fn scalar(context: &ShapeContext<'_>) -> Result<Self> {
        let scalar = TF_ShapeInferenceContextScalar.get()?;
        // SAFETY: the context is live.
        Self::from_raw(unsafe { scalar(context.raw) })
    }

    fn vector(context: &ShapeContext<'_>, size: u64) -> Result<Self> {
        let vector = TF_ShapeInferenceContextVectorFromSize.get()?;
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        // SAFETY: the context is live.
        Self::from_raw(unsafe { vector(context.raw, size) })
    }

    fn with_rank(&self, context: &ShapeContext<'_>, rank: usize) -> Result<Self> {
        let (result, with_rank) = (Self::new()?, TF_ShapeInferenceContextWithRank.get()?);
        let rank = i64::try_from(rank).unwrap_or(i64::MAX);
        with_status(|status| {
            // SAFETY: context, both handles and status are live.
            unsafe {
                with_rank(context.raw, self.as_ptr(), rank, result.as_ptr(), status);
            }
        })?;
        Ok(result)
    }

    fn subshape(&self, context: &ShapeContext<'_>, start: usize, end: usize) -> Result<Self> {
        let (result, subshape) = (Self::new()?, TF_ShapeInferenceContextSubshape.get()?);
        let [start, end] = [start, end].map(|it| i64::try_from(it).unwrap_or(i64::MAX));
        with_status(|status| {
            let (from, to) = (self.as_ptr(), result.as_ptr());
            // SAFETY: context, both handles and status are live.
            unsafe { subshape(context.raw, from, start, end, to, status) }
        })?;
        Ok(result)
    }

    fn concatenate(&self, context: &ShapeContext<'_>, other: &Self) -> Result<Self> {
        let (result, concatenate) = (
            Self::new()?,
            TF_ShapeInferenceContextConcatenateShapes.get()?,
        );
        with_status(|status| {
            let (first, second) = (self.as_ptr(), other.as_ptr());
            // SAFETY: context, the three handles and status are live.
            unsafe { concatenate(context.raw, first, second, result.as_ptr(), status) }
        })?;
        Ok(result)
    }
}

/// Returns true if both are dimensions of one input, the second after the first.
fn are_adjacent(left: Dim, right: Dim) -> bool {
    let (Some(left), Some(right)) = (left.origin(), right.origin()) else {
        return false;
    };
    left.input == right.input && left.axis + 1 == right.axis
}

impl Drop for ShapeHandle {
    fn drop(&mut self) {
        if let Ok(delete) = TF_DeleteShapeHandle.get() {
            // SAFETY: owned, live, and not used again.
            unsafe { delete(self.as_ptr()) }
        }
    }
}

/// An owned dimension.
struct DimensionHandle(NonNull<TF_DimensionHandle>);

impl DimensionHandle {
    fn new() -> Result<Self> {
        let new = TF_NewDimensionHandle.get()?;
        let none = || Error::resource_exhausted("TensorFlow created no dimension");
        // SAFETY: the function has no arguments.
        NonNull::new(unsafe { new() }).map(Self).ok_or_else(none)
    }

    /// Returns the size of a dimension of `shape`, or `None` if it is unknown.
    fn read(
        &self,
        context: &ShapeContext<'_>,
        shape: &ShapeHandle,
        axis: usize,
    ) -> Result<Option<u64>> {
        let (dim, is_known, value) = (
            TF_ShapeInferenceContextDim.get()?,
            TF_DimensionHandleValueKnown.get()?,
            TF_DimensionHandleValue.get()?,
        );
        let axis = i64::try_from(axis).unwrap_or(i64::MAX);
        // SAFETY: context and both handles are live.
        let value = unsafe {
            dim(context.raw, shape.as_ptr(), axis, self.0.as_ptr());
            (is_known(self.0.as_ptr()) != 0).then(|| value(self.0.as_ptr()))
        };
        Ok(value.and_then(|it| u64::try_from(it).ok()))
    }
}

impl Drop for DimensionHandle {
    fn drop(&mut self) {
        if let Ok(delete) = TF_DeleteDimensionHandle.get() {
            // SAFETY: owned, live, and not used again.
            unsafe { delete(self.0.as_ptr()) }
        }
    }
}
