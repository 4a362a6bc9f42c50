//! Shapes and types of a graph's tensors, as TensorFlow infers them.

use std::ffi::{CString, c_char};
use std::marker::PhantomData;
use std::ptr::NonNull;

use sp_abi::grappler::{
    TF_DeleteGraphProperties, TF_GetInputPropertiesList, TF_GetInputPropertiesListSize,
    TF_GetOutputPropertiesList, TF_GetOutputPropertiesListSize, TF_GraphProperties,
    TF_GrapplerItem, TF_InferStatically, TF_NewGraphProperties,
};
use sp_abi::tf_buffer::TF_Buffer;
use sp_abi::tf_datatype::TF_DataType;
use sp_abi::tf_status::TF_Status;
use sp_runtime::{Function, Status};

use super::buffer;
use crate::proto::{self, Value};
use crate::{Error, Result, limit};

type Size = unsafe extern "C" fn(*mut TF_GraphProperties, *const c_char, *mut i32, *mut TF_Status);
type List = unsafe extern "C" fn(
    *mut TF_GraphProperties,
    *const c_char,
    *mut *mut TF_Buffer,
    i32,
    *mut TF_Status,
);

/// How hard TensorFlow tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Inference {
    /// Whether what is fed has the shape that its placeholder says.
    pub assume_valid_feeds: bool,
    /// Whether to look into values for shapes, which takes longer.
    pub aggressive: bool,
}

/// What is known of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorProperties {
    /// Its type.
    pub dtype: TF_DataType,
    /// Its shape, where the rank is known; each dimension, where that is known.
    pub dims: Option<Vec<Option<u64>>>,
}

/// The shapes and types of a graph's tensors.
pub struct Properties<'a> {
    raw: NonNull<TF_GraphProperties>,
    item: PhantomData<&'a TF_GrapplerItem>,
}

impl Properties<'_> {
    /// # Safety
    /// `item` is live for the value's life.
    pub(super) unsafe fn infer(item: *const TF_GrapplerItem, how: Inference) -> Result<Self> {
        let (new, infer, status) = (
            TF_NewGraphProperties.get()?,
            TF_InferStatically.get()?,
            Status::new()?,
        );
        // SAFETY: the caller vouches for the item.
        let made = NonNull::new(unsafe { new(item) });
        let made = Self {
            raw: made.ok_or_else(|| Error::internal("TensorFlow made no properties"))?,
            item: PhantomData,
        };
        let (feeds, hard) = (how.assume_valid_feeds.into(), how.aggressive.into());
        // SAFETY: the properties are live. Values of tensors are not asked for.
        unsafe { infer(made.raw.as_ptr(), feeds, hard, 0, 0, status.as_ptr()) };
        status.check()?;
        Ok(made)
    }

    /// What is known of a node's inputs, in order; nothing where TensorFlow knows nothing.
    ///
    /// # Errors
    /// What TensorFlow says.
    pub fn inputs(&self, node: &str) -> Result<Vec<TensorProperties>> {
        self.ask(
            node,
            &TF_GetInputPropertiesListSize,
            &TF_GetInputPropertiesList,
        )
    }

    /// What is known of a node's outputs, in order; nothing where TensorFlow knows nothing.
    ///
    /// # Errors
    /// What TensorFlow says.
    pub fn outputs(&self, node: &str) -> Result<Vec<TensorProperties>> {
        self.ask(
            node,
            &TF_GetOutputPropertiesListSize,
            &TF_GetOutputPropertiesList,
        )
    }

    fn ask(
        &self,
        node: &str,
        size: &Function<Size>,
        list: &Function<List>,
    ) -> Result<Vec<TensorProperties>> {
        let name = CString::new(node);
        let name = name.map_err(|_| Error::invalid_argument("a node's name has a NUL in it"))?;
        let (raw, status, mut count) = (self.raw.as_ptr(), Status::new()?, 0);
        // SAFETY: properties and name are live, and the place is ours.
        unsafe { size.get()?(raw, name.as_ptr(), &mut count, status.as_ptr()) };
        status.check()?;
        limit::count("a list of properties", count)?;
        let buffers = (0..count).map(|_| buffer::Own::new());
        let buffers: Vec<buffer::Own> = buffers.collect::<Result<_>>()?;
        let mut places: Vec<_> = buffers.iter().map(buffer::Own::as_ptr).collect();
        let (first, status_ptr) = (places.as_mut_ptr(), status.as_ptr());
        // SAFETY: as above; there are `count` empty buffers.
        unsafe { list.get()?(raw, name.as_ptr(), first, count, status_ptr) };
        status.check()?;
        buffers.iter().map(|it| tensor(it.bytes())).collect()
    }
}

impl Drop for Properties<'_> {
    fn drop(&mut self) {
        if let Ok(delete) = TF_DeleteGraphProperties.get() {
            // SAFETY: ours, live, and not used again.
            unsafe { delete(self.raw.as_ptr()) }
        }
    }
}

/// An `OpInfo.TensorProperties` (tensorflow/core/grappler/costs/op_performance_data.proto).
fn tensor(bytes: &[u8]) -> Result<TensorProperties> {
    let mut found = TensorProperties {
        dtype: TF_DataType(0),
        // An absent shape is an empty one, which is a scalar's.
        dims: Some(Vec::new()),
    };
    for field in proto::fields(bytes) {
        let field = field?;
        match (field.number, field.value) {
            (1, Value::Number(dtype)) => {
                found.dtype = TF_DataType(dtype.try_into().map_err(|_| proto::damaged())?);
            }
            (2, Value::Bytes(shape)) => found.dims = dims(shape)?,
            _ => {}
        }
    }
    Ok(found)
}

/// A `TensorShapeProto`.
fn dims(shape: &[u8]) -> Result<Option<Vec<Option<u64>>>> {
    let (mut dims, mut ranked) = (Vec::new(), true);
    for field in proto::fields(shape) {
        let field = field?;
        match (field.number, field.value) {
            (2, Value::Bytes(dim)) => dims.push(length(dim)?),
            (3, Value::Number(unknown)) => ranked = unknown == 0,
            _ => {}
        }
    }
    Ok(ranked.then_some(dims))
}

/// A dimension; those below 0 are unknown.
fn length(dim: &[u8]) -> Result<Option<u64>> {
    let mut size = 0_i64;
    for field in proto::fields(dim) {
        let field = field?;
        if let (1, Value::Number(number)) = (field.number, field.value) {
            size = number.cast_signed();
        }
    }
    Ok(size.try_into().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::Message;

    #[test]
    fn unknown_dimensions_and_ranks_are_told_from_0() {
        let dim = |size: i64| Message::default().number(1, size.cast_unsigned()).done();
        let shape = Message::default()
            .bytes(2, dim(3))
            .bytes(2, dim(-1))
            .bytes(2, dim(0));
        let shape = shape.done();
        assert_eq!(dims(&shape).unwrap(), Some(vec![Some(3), None, Some(0)]));
        assert_eq!(dims(&[]).unwrap(), Some(vec![]));
        let bytes = Message::default()
            .number(1, 1)
            .bytes(2, Message::default().number(3, 1).done());
        let found = tensor(&bytes.done()).unwrap();
        assert_eq!((found.dtype, found.dims), (TF_DataType::TF_FLOAT, None));
        assert_eq!(tensor(&[8, 1]).unwrap().dims, Some(vec![]));
    }
}
