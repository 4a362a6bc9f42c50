//! The shapes and types of a graph's tensors, as TensorFlow infers them.

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

type Size =
    unsafe extern "C-unwind" fn(*mut TF_GraphProperties, *const c_char, *mut i32, *mut TF_Status);
type List = unsafe extern "C-unwind" fn(
    *mut TF_GraphProperties,
    *const c_char,
    *mut *mut TF_Buffer,
    i32,
    *mut TF_Status,
);

/// Options of the inference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Inference {
    /// True to assume that fed tensors have the shapes of their placeholders.
    pub assume_valid_feeds: bool,
    /// True to infer shapes from the values of tensors too, which takes longer.
    pub aggressive: bool,
}

/// The inferred properties of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorProperties {
    /// The type of the elements.
    pub dtype: TF_DataType,
    /// The dimensions, or `None` if the rank is not known.
    pub dims: Option<Vec<InferredDim>>,
}

/// A dimension, as far as TensorFlow can infer it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InferredDim {
    /// A dimension of this size.
    Known(u64),
    /// A dimension of unknown size, which is that of all dimensions of the graph with this number.
    Symbol(i64),
    /// A dimension of unknown size.
    Unknown,
}

impl InferredDim {
    /// Returns the size, or `None` if it is not known.
    pub fn size(self) -> Option<u64> {
        match self {
            Self::Known(size) => Some(size),
            Self::Symbol(_) | Self::Unknown => None,
        }
    }
}

/// The shapes and types of a graph's tensors.
pub struct Properties<'a> {
    raw: NonNull<TF_GraphProperties>,
    item: PhantomData<&'a TF_GrapplerItem>,
}

impl Properties<'_> {
    /// Runs the inference.
    ///
    /// # Safety
    /// - `item` is live while the value lives.
    pub(super) unsafe fn infer(item: *const TF_GrapplerItem, options: Inference) -> Result<Self> {
        let (new, infer, status) = (
            TF_NewGraphProperties.get()?,
            TF_InferStatically.get()?,
            Status::new()?,
        );
        // SAFETY: the caller guarantees that the item is live.
        let raw = NonNull::new(unsafe { new(item) });
        let properties = Self {
            raw: raw.ok_or_else(|| Error::internal("TensorFlow returned no properties"))?,
            item: PhantomData,
        };
        let (feeds, aggressive) = (options.assume_valid_feeds.into(), options.aggressive.into());
        // The zeros: the results do not include values of tensors.
        // SAFETY: `properties` owns a live object, and `status` is live.
        unsafe {
            infer(
                properties.raw.as_ptr(),
                feeds,
                aggressive,
                0,
                0,
                status.as_ptr(),
            )
        };
        status.check()?;
        Ok(properties)
    }

    /// Returns the properties of a node's inputs, in order. The list is empty if TensorFlow has none.
    ///
    /// # Errors
    /// Returns the error of TensorFlow.
    pub fn inputs(&self, node: &str) -> Result<Vec<TensorProperties>> {
        self.list(
            node,
            &TF_GetInputPropertiesListSize,
            &TF_GetInputPropertiesList,
        )
    }

    /// Returns the properties of a node's outputs, in order. The list is empty if TensorFlow has none.
    ///
    /// # Errors
    /// Returns the error of TensorFlow.
    pub fn outputs(&self, node: &str) -> Result<Vec<TensorProperties>> {
        self.list(
            node,
            &TF_GetOutputPropertiesListSize,
            &TF_GetOutputPropertiesList,
        )
    }

    /// Requests the size of a list of properties, then the list.
    fn list(
        &self,
        node: &str,
        size: &Function<Size>,
        list: &Function<List>,
    ) -> Result<Vec<TensorProperties>> {
        let name = CString::new(node);
        let name = name
            .map_err(|_| Error::invalid_argument(format!("node name {node:?} contains a NUL")))?;
        let (raw, status, mut count) = (self.raw.as_ptr(), Status::new()?, 0);
        // SAFETY: `self` owns the live properties; the name and the output parameter are locals.
        unsafe { size.get()?(raw, name.as_ptr(), &mut count, status.as_ptr()) };
        status.check()?;
        limit::check_count("a list of properties", count)?;
        let buffers = (0..count).map(|_| buffer::OwnedBuffer::new());
        let buffers: Vec<buffer::OwnedBuffer> = buffers.collect::<Result<_>>()?;
        let mut pointers: Vec<_> = buffers.iter().map(buffer::OwnedBuffer::as_ptr).collect();
        let (first, status_ptr) = (pointers.as_mut_ptr(), status.as_ptr());
        // SAFETY: `self` owns the live properties, the name is a local, and `first` points to `count` empty
        // buffers, as TensorFlow requires.
        unsafe { list.get()?(raw, name.as_ptr(), first, count, status_ptr) };
        status.check()?;
        buffers.iter().map(|it| tensor(it.bytes()?)).collect()
    }
}

impl Drop for Properties<'_> {
    fn drop(&mut self) {
        if let Ok(delete) = TF_DeleteGraphProperties.get() {
            // SAFETY: `self` owns the live properties, and nothing uses them after the drop.
            unsafe { delete(self.raw.as_ptr()) }
        }
    }
}

/// Parses an `OpInfo.TensorProperties` (tensorflow/core/grappler/costs/op_performance_data.proto).
fn tensor(bytes: &[u8]) -> Result<TensorProperties> {
    let mut found = TensorProperties {
        dtype: TF_DataType(0),
        // An absent shape is an empty message, which is the shape of a scalar.
        dims: Some(Vec::new()),
    };
    for field in proto::fields(bytes) {
        let field = field?;
        match (field.number, field.value) {
            (1, Value::Number(dtype)) => {
                found.dtype = TF_DataType(dtype.try_into().map_err(|_| proto::malformed())?);
            }
            (2, Value::Bytes(shape)) => found.dims = dims(shape)?,
            _ => {}
        }
    }
    Ok(found)
}

/// Parses a `TensorShapeProto`; `None` for an unknown rank.
fn dims(shape: &[u8]) -> Result<Option<Vec<InferredDim>>> {
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

/// Parses a dimension. A size of -1 is unknown, and a lower one is the number of an unknown size.
fn length(dim: &[u8]) -> Result<InferredDim> {
    let mut size = 0_i64;
    for field in proto::fields(dim) {
        let field = field?;
        if let (1, Value::Number(number)) = (field.number, field.value) {
            size = number.cast_signed();
        }
    }
    Ok(match size {
        -1 => InferredDim::Unknown,
        size => match size.try_into() {
            Ok(size) => InferredDim::Known(size),
            Err(_) => InferredDim::Symbol(size),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::Message;

    #[test]
    fn unknown_dimensions_and_ranks_differ_from_0() {
        let dim = |size: i64| Message::default().number(1, size.cast_unsigned()).finish();
        let shape = Message::default()
            .bytes(2, dim(3))
            .bytes(2, dim(-1))
            .bytes(2, dim(0))
            .bytes(2, dim(-7));
        let shape = shape.finish();
        use InferredDim::{Known, Symbol, Unknown};
        let expected = vec![Known(3), Unknown, Known(0), Symbol(-7)];
        assert_eq!(dims(&shape).unwrap(), Some(expected));
        assert_eq!(dims(&[]).unwrap(), Some(vec![]));
        let bytes = Message::default()
            .number(1, 1)
            .bytes(2, Message::default().number(3, 1).finish());
        let found = tensor(&bytes.finish()).unwrap();
        assert_eq!((found.dtype, found.dims), (TF_DataType::TF_FLOAT, None));
        assert_eq!(tensor(&[8, 1]).unwrap().dims, Some(vec![]));
    }
}
