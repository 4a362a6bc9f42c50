//! Attributes of ops, written as `T: type = float in half float` or `N: int >= 1`.

use crate::DataType;
use crate::cursor::{LineCursor, ParseResult};
use crate::kind::{AttributeKind, AttributeType};
use crate::value::{Value, parse_type};
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

impl AllowedValues {
    fn parse(cursor: &mut LineCursor<'_>, kind: AttributeKind) -> ParseResult<Self> {
        if !cursor.take(" in") {
            return Ok(Self::Any);
        }
        match kind {
            AttributeKind::Type => items(cursor, parse_type).map(Self::Types),
            AttributeKind::String => items(cursor, LineCursor::quoted).map(Self::Strings),
            _ => Err("only types and strings have a list of allowed values".into()),
        }
    }
}

/// Reads items that are each preceded by a space, up to the end or the releases.
fn items<'a, T>(
    cursor: &mut LineCursor<'a>,
    mut item: impl FnMut(&mut LineCursor<'a>) -> ParseResult<T>,
) -> ParseResult<Vec<T>> {
    let mut items = Vec::new();
    while !cursor.is_at_end() && !cursor.rest().starts_with(" @ ") {
        cursor.expect(" ")?;
        items.push(item(cursor)?);
    }
    Ok(items)
}

impl Attribute {
    pub(crate) fn parse(cursor: &mut LineCursor<'_>) -> ParseResult<Self> {
        let name = cursor.word("the name of an attribute")?.to_owned();
        cursor.expect(": ")?;
        let ty = AttributeType::parse(cursor)?;
        let minimum = match cursor.take(" >= ") {
            true => Some(cursor.number("an integer")?),
            false => None,
        };
        let default = match cursor.take(" = ") {
            true => Some(Value::parse(ty, cursor)?),
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
            "T: type = float in half float type100",
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
            let mut cursor = LineCursor::new(text);
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
            let error = Attribute::parse(&mut LineCursor::new(text)).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
