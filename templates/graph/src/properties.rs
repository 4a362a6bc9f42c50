//! The shapes and types of tensors, as TensorFlow infers them.

use crate::proto::{self, Value};
use crate::{Result, TypeNumber};

/// The inferred properties of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorProperties {
    /// The type of the elements.
    pub dtype: TypeNumber,
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

impl TensorProperties {
    /// Parses an `OpInfo.TensorProperties` (tensorflow/core/grappler/costs/op_performance_data.proto).
    ///
    /// # Errors
    /// Returns an error if `bytes` is not a valid message.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut found = Self {
            dtype: TypeNumber(0),
            // An absent shape is an empty message, which is the shape of a scalar.
            dims: Some(Vec::new()),
        };
        for field in proto::fields(bytes) {
            let field = field?;
            match (field.number, field.value) {
                (1, Value::Number(dtype)) => {
                    found.dtype = TypeNumber(dtype.try_into().map_err(|_| proto::malformed())?);
                }
                (2, Value::Bytes(shape)) => found.dims = dims(shape)?,
                _ => {}
            }
        }
        Ok(found)
    }
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
        let found = TensorProperties::parse(&bytes.finish()).unwrap();
        assert_eq!((found.dtype, found.dims), (TypeNumber::FLOAT, None));
        assert_eq!(TensorProperties::parse(&[8, 1]).unwrap().dims, Some(vec![]));
    }
}
