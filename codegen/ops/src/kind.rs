//! The types of attributes: `int`, `list(type)`.

use crate::cursor::{LineCursor, ParseResult};
use std::fmt;

/// The type of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttributeType {
    /// The kind of the value, or of the list's items.
    pub kind: AttributeKind,
    /// True for a list.
    pub is_list: bool,
}

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributeKind {
    /// A string.
    String,
    /// A 64-bit integer.
    Int,
    /// A 32-bit floating point number.
    Float,
    /// A boolean.
    Bool,
    /// An element type.
    Type,
    /// A shape.
    Shape,
    /// A tensor.
    Tensor,
    /// A function.
    Function,
}

impl AttributeKind {
    const NAMES: [(Self, &'static str); 8] = [
        (Self::String, "string"),
        (Self::Int, "int"),
        (Self::Float, "float"),
        (Self::Bool, "bool"),
        (Self::Type, "type"),
        (Self::Shape, "shape"),
        (Self::Tensor, "tensor"),
        (Self::Function, "func"),
    ];

    /// Returns the name, as in an `OpDef`.
    pub fn name(self) -> &'static str {
        let mut names = Self::NAMES.iter();
        names
            .find(|(kind, _)| *kind == self)
            .map_or("", |(_, name)| name)
    }

    fn from_name(name: &str) -> Option<Self> {
        let mut names = Self::NAMES.iter();
        names
            .find(|(_, known)| *known == name)
            .map(|(kind, _)| *kind)
    }
}

impl AttributeType {
    /// Returns the type with this name, as in an `OpDef`: `int`, `list(int)`. Returns `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        let item = name
            .strip_prefix("list(")
            .and_then(|item| item.strip_suffix(')'));
        Some(Self {
            kind: AttributeKind::from_name(item.unwrap_or(name))?,
            is_list: item.is_some(),
        })
    }

    pub(crate) fn parse(cursor: &mut LineCursor<'_>) -> ParseResult<Self> {
        let is_list = cursor.take("list(");
        let word = cursor.word("the type of an attribute")?;
        let kind = AttributeKind::from_name(word);
        let kind = kind.ok_or_else(|| cursor.unexpected("the type of an attribute", word))?;
        if is_list {
            cursor.expect(")")?;
        }
        Ok(Self { kind, is_list })
    }
}

impl fmt::Display for AttributeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_list {
            true => write!(f, "list({})", self.kind.name()),
            false => f.write_str(self.kind.name()),
        }
    }
}
