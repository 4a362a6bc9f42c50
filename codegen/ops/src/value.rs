//! Values of attributes.

use crate::DataType;
use crate::cursor::{LineCursor, ParseResult};
use crate::kind::{AttributeKind, AttributeType};
use std::fmt::{self, Write};

/// A value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A string.
    String(String),
    /// An integer.
    Int(i64),
    /// A floating point number.
    Float(f32),
    /// A boolean.
    Bool(bool),
    /// An element type.
    Type(DataType),
    /// A shape.
    Shape(Shape),
    /// A tensor, as a serialized `TensorProto`.
    Tensor(Vec<u8>),
    /// The name of a function.
    Function(String),
    /// A list of values of one of the other kinds.
    List(Vec<Value>),
}

/// A shape that may be known in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// The rank is not known.
    UnknownRank,
    /// The dimensions; `None` is a dimension that is not known.
    Dimensions(Vec<Option<u64>>),
}

impl Value {
    /// Parses a value of a type.
    pub(crate) fn parse(ty: AttributeType, cursor: &mut LineCursor<'_>) -> ParseResult<Self> {
        match ty.is_list {
            true => cursor
                .list(|cursor| Self::parse_item(ty.kind, cursor))
                .map(Self::List),
            false => Self::parse_item(ty.kind, cursor),
        }
    }

    fn parse_item(kind: AttributeKind, cursor: &mut LineCursor<'_>) -> ParseResult<Self> {
        match kind {
            AttributeKind::String => cursor.quoted().map(Self::String),
            AttributeKind::Function => cursor.quoted().map(Self::Function),
            AttributeKind::Int => cursor.number("an integer").map(Self::Int),
            AttributeKind::Float => cursor.number("a number").map(Self::Float),
            AttributeKind::Bool => cursor.number("`true` or `false`").map(Self::Bool),
            AttributeKind::Type => parse_type(cursor).map(Self::Type),
            AttributeKind::Shape => Shape::parse(cursor).map(Self::Shape),
            AttributeKind::Tensor => parse_tensor(cursor),
        }
    }

    /// Returns the kind, or `None` for a list.
    pub fn kind(&self) -> Option<AttributeKind> {
        Some(match self {
            Self::String(_) => AttributeKind::String,
            Self::Int(_) => AttributeKind::Int,
            Self::Float(_) => AttributeKind::Float,
            Self::Bool(_) => AttributeKind::Bool,
            Self::Type(_) => AttributeKind::Type,
            Self::Shape(_) => AttributeKind::Shape,
            Self::Tensor(_) => AttributeKind::Tensor,
            Self::Function(_) => AttributeKind::Function,
            Self::List(_) => return None,
        })
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String(text) | Self::Function(text) => write_quoted(f, text),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Type(value) => write!(f, "{value}"),
            Self::Shape(shape) => write!(f, "{shape}"),
            Self::Tensor(bytes) => write_hex(f, bytes),
            Self::List(values) => write_list(f, values),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownRank => f.write_char('?'),
            Self::Dimensions(dimensions) => {
                let text = |size: &Option<u64>| size.map_or("?".to_owned(), |it| it.to_string());
                write_list(f, &dimensions.iter().map(text).collect::<Vec<_>>())
            }
        }
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, items: &[impl fmt::Display]) -> fmt::Result {
    f.write_char('[')?;
    for (index, item) in items.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        write!(f, "{comma}{item}")?;
    }
    f.write_char(']')
}

/// Writes a string in ASCII and in one line.
fn write_quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' | '\\' => write!(f, "\\{character}")?,
            ' '..='~' => f.write_char(character)?,
            _ => write!(f, "{}", character.escape_unicode())?,
        }
    }
    f.write_char('"')
}

fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    f.write_str("0x")?;
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

impl Shape {
    fn parse(cursor: &mut LineCursor<'_>) -> ParseResult<Self> {
        if cursor.take("?") {
            return Ok(Self::UnknownRank);
        }
        let dimensions = cursor.list(|cursor| match cursor.take("?") {
            true => Ok(None),
            false => cursor.number("a dimension").map(Some),
        })?;
        Ok(Self::Dimensions(dimensions))
    }
}

pub(crate) fn parse_type(cursor: &mut LineCursor<'_>) -> ParseResult<DataType> {
    let word = cursor.word("an element type")?;
    DataType::from_name(word).ok_or_else(|| cursor.unexpected("an element type", word))
}

/// Parses the bytes after `0x`.
fn parse_tensor(cursor: &mut LineCursor<'_>) -> ParseResult<Value> {
    let word = cursor.word("a tensor")?;
    let digits = word.strip_prefix("0x").map(str::as_bytes);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let is_hex = |digits: &&[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    digits
        .filter(|digits| digits.len() % 2 == 0)
        .filter(is_hex)
        .and_then(|digits| digits.chunks(2).map(byte).collect())
        .map(Value::Tensor)
        .ok_or_else(|| cursor.unexpected("the bytes of a tensor, such as 0x0803", word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_printed_in_one_line_of_ascii() {
        let text = Value::String("a \"b\"\\\n\u{7}é\u{202e}".into()).to_string();
        assert_eq!(text, r#""a \"b\"\\\u{a}\u{7}\u{e9}\u{202e}""#);
    }
}
