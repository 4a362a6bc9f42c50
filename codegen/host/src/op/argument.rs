//! An argument of an op in a test, and the types of its tensors.

use std::collections::BTreeMap;

use sp_ops::{Argument, ArgumentType, ElementType};

use crate::DType;
use crate::core::Attr;

/// The most tensors of a list.
const MAX_TENSORS: usize = 1 << 16;

/// An input or output.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OpArgument {
    pub name: String,
    pub types: ArgumentTypes,
}

/// The number of tensors of an argument, and their types.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ArgumentTypes {
    /// One tensor whose type is this attribute.
    Attr(String),
    /// One tensor of this type.
    Fixed(DType),
    /// As many tensors as the attribute `count` states, each of the type `element`.
    Repeated {
        count: String,
        element: Box<ArgumentTypes>,
    },
    /// A tensor for each type in this attribute.
    List(String),
}

impl OpArgument {
    pub fn new(name: &str, types: ArgumentTypes) -> Self {
        let name = name.to_owned();
        Self { name, types }
    }

    /// Returns the types of its tensors.
    ///
    /// # Errors
    /// Returns the attribute that is not set, or states more than [`MAX_TENSORS`].
    pub fn dtypes<'a>(&'a self, attrs: &BTreeMap<String, Attr>) -> Result<Vec<DType>, &'a str> {
        self.types.dtypes(attrs)
    }
}

impl ArgumentTypes {
    fn dtypes<'a>(&'a self, attrs: &BTreeMap<String, Attr>) -> Result<Vec<DType>, &'a str> {
        match self {
            Self::Fixed(dtype) => Ok(vec![*dtype]),
            Self::Attr(attr) => match attrs.get(attr) {
                Some(Attr::Type(dtype)) => Ok(vec![*dtype]),
                _ => Err(attr),
            },
            Self::Repeated { count, element } => {
                let number = self.tensor_count(attrs);
                let count = number
                    .filter(|it| *it <= MAX_TENSORS)
                    .ok_or(count.as_str())?;
                Ok(element.dtypes(attrs)?.repeat(count))
            }
            Self::List(attr) => match attrs.get(attr) {
                Some(Attr::List(types)) => types.iter().map(|it| list_item(it, attr)).collect(),
                _ => Err(attr),
            },
        }
    }

    /// Returns the number of its tensors, or `None` if an attribute that is not set decides it.
    pub fn tensor_count(&self, attrs: &BTreeMap<String, Attr>) -> Option<usize> {
        match (self, self.count_attr().and_then(|it| attrs.get(it))) {
            (Self::Repeated { .. }, Some(Attr::Int(count))) => {
                Some(usize::try_from(*count).unwrap_or(0))
            }
            (Self::List(_), Some(Attr::List(types))) => Some(types.len()),
            (Self::Repeated { .. } | Self::List(_), _) => None,
            _ => Some(1),
        }
    }

    /// Returns the attribute that decides the number of tensors, or `None` for a single tensor.
    pub fn count_attr(&self) -> Option<&str> {
        match self {
            Self::Repeated { count, .. } => Some(count),
            Self::List(attr) => Some(attr),
            Self::Attr(_) | Self::Fixed(_) => None,
        }
    }
}

fn list_item<'a>(item: &Attr, attr: &'a str) -> Result<DType, &'a str> {
    match item {
        Attr::Type(dtype) => Ok(*dtype),
        _ => Err(attr),
    }
}

impl From<&Argument> for OpArgument {
    fn from(argument: &Argument) -> Self {
        let types = match &argument.ty {
            ArgumentType::Single(element) => element.into(),
            ArgumentType::Repeated { count, element } => ArgumentTypes::Repeated {
                count: count.clone(),
                element: Box::new(element.into()),
            },
            ArgumentType::List(attr) => ArgumentTypes::List(attr.clone()),
        };
        Self::new(&argument.name, types)
    }
}

impl From<&ElementType> for ArgumentTypes {
    fn from(element: &ElementType) -> Self {
        match element {
            ElementType::Fixed(ty) => Self::Fixed((*ty).into()),
            ElementType::Attribute(name) => Self::Attr(name.clone()),
        }
    }
}
