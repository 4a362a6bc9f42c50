//! The value of an op's attribute, and its conversion to C.

use std::fmt;

use sp_ops::{Shape, Value};

use super::failure::{StatusResult, invalid};
use crate::Tensor;
use crate::dtype::DType;

/// An attribute's value.
#[derive(Debug, Clone, PartialEq)]
pub enum Attr {
    /// `bool`.
    Bool(bool),
    /// `int`.
    Int(i64),
    /// `float`.
    Float(f32),
    /// `string`.
    Text(String),
    /// `type`.
    Type(DType),
    /// `shape`; `None` if the rank is unknown.
    Shape(Option<Vec<i64>>),
    /// `tensor`.
    Tensor(Tensor),
    /// `func`: the function's name.
    Function(String),
    /// A list of any of these.
    List(Vec<Attr>),
}

/// Formats the value as TensorFlow does in messages.
impl fmt::Display for Attr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Text(value) => write!(f, "{value:?}"),
            Self::Type(dtype) => write!(f, "DT_{dtype}"),
            Self::Shape(Some(dims)) => write!(f, "{dims:?}"),
            Self::Shape(None) => f.write_str("<unknown>"),
            Self::Tensor(_) => f.write_str("<tensor>"),
            Self::Function(name) => write!(f, "{name}[]"),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
        }
    }
}

impl Attr {
    /// Returns the kind's name, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Text(_) => "string",
            Self::Type(_) => "type",
            Self::Shape(_) => "shape",
            Self::Tensor(_) => "tensor",
            Self::Function(_) => "func",
            Self::List(_) => "list",
        }
    }

    /// Returns the value of an op definition, or `None` for a serialized tensor.
    pub(crate) fn from_definition(value: &Value) -> Option<Self> {
        Some(match value {
            Value::String(text) => Self::Text(text.clone()),
            Value::Int(value) => Self::Int(*value),
            Value::Float(value) => Self::Float(*value),
            Value::Bool(value) => Self::Bool(*value),
            Value::Type(ty) => Self::Type((*ty).into()),
            Value::Shape(shape) => Self::from_shape(shape),
            Value::Function(name) => Self::Function(name.clone()),
            Value::List(items) => {
                let items = items.iter().map(Self::from_definition);
                Self::List(items.collect::<Option<_>>()?)
            }
            Value::Tensor(_) => return None,
        })
    }

    fn from_shape(shape: &Shape) -> Self {
        let size = |size: &Option<u64>| size.and_then(|it| it.try_into().ok()).unwrap_or(-1);
        match shape {
            Shape::UnknownRank => Self::Shape(None),
            Shape::Dimensions(dims) => Self::Shape(Some(dims.iter().map(size).collect())),
        }
    }

    /// Returns `list_size` and `total_size`, as `TF_OpKernelConstruction_GetAttrSize` has them.
    pub(crate) fn sizes(&self) -> (i32, i32) {
        match self {
            Self::List(items) => (items.len() as i32, total(items)),
            Self::Text(text) => (-1, text.len() as i32),
            Self::Shape(Some(dims)) => (-1, dims.len() as i32),
            _ => (-1, -1),
        }
    }
}

/// Returns the total length of strings or shapes; -1 for other lists.
fn total(items: &[Attr]) -> i32 {
    let sized = matches!(items.first(), Some(Attr::Text(_) | Attr::Shape(_)));
    match sized {
        true => items.iter().map(|item| item.sizes().1.max(0)).sum(),
        false => -1,
    }
}

/// A C type that an attribute can be read as.
pub(crate) trait Scalar: Copy {
    /// The requested kind.
    const KIND: &'static str;

    /// Returns the value, or `None` if the attribute is of another kind.
    fn read(attr: &Attr) -> StatusResult<Option<Self>>;
}

macro_rules! scalars {
    ($($ty:ty = $kind:literal, $pattern:pat => $value:expr;)*) => {
        $(impl Scalar for $ty {
            const KIND: &'static str = $kind;

            fn read(attr: &Attr) -> StatusResult<Option<Self>> {
                Ok(match attr {
                    $pattern => Some($value),
                    _ => None,
                })
            }
        })*
    };
}

scalars! {
    u8 = "bool", Attr::Bool(value) => u8::from(*value);
    i64 = "int", Attr::Int(value) => *value;
    f32 = "float", Attr::Float(value) => *value;
    u32 = "type", Attr::Type(value) => value.0;
}

impl Scalar for i32 {
    const KIND: &'static str = "int";

    fn read(attr: &Attr) -> StatusResult<Option<Self>> {
        let Attr::Int(value) = attr else {
            return Ok(None);
        };
        let narrow = i32::try_from(*value).map(Some);
        narrow.map_err(|_| invalid(format!("{value} is no int32")))
    }
}

macro_rules! conversions {
    ($($ty:ty => $variant:ident,)*) => { $(impl From<$ty> for Attr {
        fn from(value: $ty) -> Self {
            Self::$variant(value.into())
        }
    })* };
}

conversions! {
    bool => Bool,
    i64 => Int,
    f32 => Float,
    &str => Text,
    DType => Type,
    Tensor => Tensor,
}

impl<T: Into<Attr>> From<Vec<T>> for Attr {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_c_function() {
        assert_eq!(Attr::from("NHWC").sizes(), (-1, 4));
        assert_eq!(Attr::from(vec!["ab", "c"]).sizes(), (2, 3));
        assert_eq!(Attr::from(vec![1i64, 2, 3]).sizes(), (3, -1));
        assert_eq!(Attr::Shape(None).sizes(), (-1, -1));
        assert_eq!(Attr::from(true).sizes(), (-1, -1));
    }

    #[test]
    fn rejects_int_out_of_range() {
        assert!(<i32 as Scalar>::read(&Attr::Int(1 << 40)).is_err());
        assert_eq!(<i32 as Scalar>::read(&Attr::Int(-7)), Ok(Some(-7)));
        assert_eq!(<i32 as Scalar>::read(&Attr::Bool(true)), Ok(None));
    }
}
