//! Attributes of ops, written as `T: type = float in half float` or `N: int >= 1`.

use crate::DataType;
use crate::cursor::{Cursor, ParseResult};
use crate::value::{Shape, Value, parse_tensor};
use std::fmt;

/// An attribute of an op.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: AttributeType,
    /// The least value of an integer, or the least length of a list.
    pub minimum: Option<i64>,
    /// The value of a node without the attribute, or `None` if every node must have it.
    pub default: Option<Value>,
    /// The values that a node may have.
    pub allowed: AllowedValues,
}

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

/// The values that an attribute, or an item of its list, may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedValues {
    /// All values.
    Any,
    /// These types, sorted by number.
    Types(Vec<DataType>),
    /// These strings, in TensorFlow's order.
    Strings(Vec<String>),
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

    fn parse(cursor: &mut Cursor<'_>) -> ParseResult<Self> {
        let is_list = cursor.take("list(");
        let word = cursor.word("the type of an attribute")?;
        let kind = AttributeKind::from_name(word);
        let kind = kind.ok_or_else(|| cursor.unexpected("the type of an attribute", word))?;
        if is_list {
            cursor.expect(")")?;
        }
        Ok(Self { kind, is_list })
    }

    /// Reads a value of this type.
    fn value(self, cursor: &mut Cursor<'_>) -> ParseResult<Value> {
        match self.is_list {
            true => cursor
                .list(|cursor| self.kind.value(cursor))
                .map(Value::List),
            false => self.kind.value(cursor),
        }
    }
}

impl AttributeKind {
    fn value(self, cursor: &mut Cursor<'_>) -> ParseResult<Value> {
        match self {
            Self::String => cursor.quoted().map(Value::String),
            Self::Function => cursor.quoted().map(Value::Function),
            Self::Int => cursor.number("an integer").map(Value::Int),
            Self::Float => cursor.number("a number").map(Value::Float),
            Self::Bool => cursor.number("`true` or `false`").map(Value::Bool),
            Self::Type => parse_type(cursor).map(Value::Type),
            Self::Shape => Shape::parse(cursor).map(Value::Shape),
            Self::Tensor => parse_tensor(cursor),
        }
    }
}

impl AllowedValues {
    fn parse(cursor: &mut Cursor<'_>, kind: AttributeKind) -> ParseResult<Self> {
        if !cursor.take(" in") {
            return Ok(Self::Any);
        }
        match kind {
            AttributeKind::Type => items(cursor, parse_type).map(Self::Types),
            AttributeKind::String => items(cursor, Cursor::quoted).map(Self::Strings),
            _ => Err("only types and strings have a list of allowed values".into()),
        }
    }
}

/// Reads items that are each preceded by a space, up to the end or the releases.
fn items<'a, T>(
    cursor: &mut Cursor<'a>,
    mut item: impl FnMut(&mut Cursor<'a>) -> ParseResult<T>,
) -> ParseResult<Vec<T>> {
    let mut items = Vec::new();
    while !cursor.is_at_end() && !cursor.rest().starts_with(" @ ") {
        cursor.expect(" ")?;
        items.push(item(cursor)?);
    }
    Ok(items)
}

fn parse_type(cursor: &mut Cursor<'_>) -> ParseResult<DataType> {
    let word = cursor.word("an element type")?;
    DataType::from_name(word).ok_or_else(|| cursor.unexpected("an element type", word))
}

impl Attribute {
    pub(crate) fn parse(cursor: &mut Cursor<'_>) -> ParseResult<Self> {
        let name = cursor.word("the name of an attribute")?.to_owned();
        cursor.expect(": ")?;
        let ty = AttributeType::parse(cursor)?;
        let minimum = match cursor.take(" >= ") {
            true => Some(cursor.number("an integer")?),
            false => None,
        };
        let default = match cursor.take(" = ") {
            true => Some(ty.value(cursor)?),
            false => None,
        };
        let allowed = AllowedValues::parse(cursor, ty.kind)?;
        Ok(Self {
            name,
            ty,
            minimum,
            default,
            allowed,
        })
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

impl fmt::Display for AllowedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => Ok(()),
            Self::Types(types) => types.iter().try_for_each(|it| write!(f, " {it}")),
            Self::Strings(strings) => {
                let values = strings.iter().cloned().map(Value::String);
                values.into_iter().try_for_each(|it| write!(f, " {it}"))
            }
        }
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.ty)?;
        if let Some(minimum) = self.minimum {
            write!(f, " >= {minimum}")?;
        }
        if let Some(default) = &self.default {
            write!(f, " = {default}")?;
        }
        match self.allowed {
            AllowedValues::Any => Ok(()),
            _ => write!(f, " in{}", self.allowed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_round_trip() {
        for text in [
            "T: type",
            "T: type = float in half float type40",
            "N: int >= 1",
            "Tin: list(type) >= 0 in int32 resource",
            "padding: string = \"SA\\\"ME\" in \"SA\\\"ME\" \"VALID\"",
            "dilations: list(int) = [1, -1]",
            "epsilon: float = 0.0001",
            "limit: float = inf",
            "shapes: list(shape) = [[], [2, ?], ?]",
            "value: tensor = 0x08031200",
            "f: func = \"name\"",
            "keep: list(bool) = [true, false]",
            "names: list(string) = []",
        ] {
            let mut cursor = Cursor::new(text);
            let attribute = Attribute::parse(&mut cursor).unwrap();
            assert!(cursor.is_at_end(), "{text}: {}", cursor.rest());
            assert_eq!(attribute.to_string(), text);
        }
    }

    #[test]
    fn rejects_malformed_attributes() {
        for (text, expected) in [
            ("T", "`: `"),
            ("T: typ", "the type of an attribute"),
            ("T: type = T", "an element type"),
            ("N: int = 99999999999999999999", "an integer"),
            ("N: list(int) = [1 2]", "`, `"),
            ("s: string = \"", "quotation mark"),
            ("s: string = \"\\u{110000}\"", "the number of a character"),
            ("t: tensor = 0x0", "the bytes of a tensor"),
            ("t: tensor = 0x+1", "the bytes of a tensor"),
            ("n: int in 1", "only types and strings"),
            ("T: type in half  float", "an element type"),
        ] {
            let error = Attribute::parse(&mut Cursor::new(text)).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
