//! Attributes of nodes: serialized `AttrValue`s, with accessors for the simple kinds.

use crate::TypeNumber;
use crate::proto::{self, Message, Value};

/// Field numbers of `AttrValue` (tensorflow/core/framework/attr_value.proto).
mod field {
    pub const LIST: u64 = 1;
    pub const BYTES: u64 = 2;
    pub const INT: u64 = 3;
    pub const FLOAT: u64 = 4;
    pub const BOOL: u64 = 5;
    pub const TYPE: u64 = 6;
}

/// Field numbers of `AttrValue.ListValue`.
mod list_field {
    pub const BYTES: u64 = 2;
    pub const INT: u64 = 3;
    pub const TYPE: u64 = 6;
}

/// The value of an attribute. Kinds without an accessor are preserved byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute(Vec<u8>);

impl Attribute {
    /// Creates an attribute from a serialized `AttrValue`.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// Returns the serialized `AttrValue`.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the type, or `None` for another kind.
    pub fn as_type(&self) -> Option<TypeNumber> {
        let number = self.field(field::TYPE)?.number()?;
        u32::try_from(number).ok().map(TypeNumber)
    }

    /// Returns the integer, or `None` for another kind.
    pub fn as_int(&self) -> Option<i64> {
        Some(self.field(field::INT)?.number()?.cast_signed())
    }

    /// Returns the boolean, or `None` for another kind.
    pub fn as_bool(&self) -> Option<bool> {
        Some(self.field(field::BOOL)?.number()? != 0)
    }

    /// Returns the floating-point number, or `None` for another kind.
    pub fn as_float(&self) -> Option<f32> {
        match self.field(field::FLOAT)? {
            Value::Four(bytes) => Some(f32::from_le_bytes(bytes)),
            _ => None,
        }
    }

    /// Returns the text, or `None` for another kind or bytes that are not UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(self.field(field::BYTES)?.bytes()?).ok()
    }

    /// Returns the list of texts, or `None` for another kind or bytes that are not UTF-8. An empty list is one of any kind.
    pub fn as_texts(&self) -> Option<Vec<&str>> {
        let list = self.field(field::LIST)?.bytes()?;
        let texts = proto::fields(list).map(|field| {
            let field = field.ok().filter(|it| it.number == list_field::BYTES)?;
            std::str::from_utf8(field.value.bytes()?).ok()
        });
        texts.collect()
    }

    /// Returns the value of the last field, or `None` if it has another number. The fields are a `oneof`, so
    /// the last one counts, and zeros are encoded too.
    fn field(&self, number: u64) -> Option<Value<'_>> {
        let found = proto::fields(&self.0).last()?.ok()?;
        (found.number == number).then_some(found.value)
    }
}

/// Encodes a number of a `oneof`, which is present also if it is 0.
fn number(field: u64, value: u64) -> Attribute {
    let zero = [(field << 3) as u8, 0];
    let message = match value {
        0 => Message::default().encoded(&zero),
        value => Message::default().number(field, value),
    };
    Attribute(message.finish())
}

impl From<TypeNumber> for Attribute {
    fn from(value: TypeNumber) -> Self {
        number(field::TYPE, value.0.into())
    }
}

impl From<i64> for Attribute {
    fn from(value: i64) -> Self {
        number(field::INT, value.cast_unsigned())
    }
}

impl From<bool> for Attribute {
    fn from(value: bool) -> Self {
        number(field::BOOL, value.into())
    }
}

impl From<f32> for Attribute {
    fn from(value: f32) -> Self {
        Self(Message::default().float(field::FLOAT, value).finish())
    }
}

impl From<&str> for Attribute {
    fn from(value: &str) -> Self {
        Self(Message::default().bytes(field::BYTES, value).finish())
    }
}

impl From<&[&str]> for Attribute {
    fn from(values: &[&str]) -> Self {
        let add = |list: Message, value: &&str| list.bytes(list_field::BYTES, value);
        list(values.iter().fold(Message::default(), add))
    }
}

impl From<&[i64]> for Attribute {
    fn from(values: &[i64]) -> Self {
        let add = |list: Message, value: &i64| match value {
            0 => list.encoded(&[(list_field::INT << 3) as u8, 0]),
            value => list.number(list_field::INT, value.cast_unsigned()),
        };
        list(values.iter().fold(Message::default(), add))
    }
}

impl From<&[TypeNumber]> for Attribute {
    fn from(values: &[TypeNumber]) -> Self {
        let add = |list: Message, value: &TypeNumber| list.number(list_field::TYPE, value.0.into());
        list(values.iter().fold(Message::default(), add))
    }
}

/// Encodes a list.
fn list(values: Message) -> Attribute {
    Attribute(
        Message::default()
            .bytes(field::LIST, values.finish())
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_round_trips_and_is_no_other_kind() {
        assert_eq!(Attribute::from(-5).as_int(), Some(-5));
        assert_eq!(Attribute::from(0).as_int(), Some(0));
        assert_eq!(Attribute::from(false).as_bool(), Some(false));
        assert_eq!(Attribute::from(0.0).as_float(), Some(0.0));
        assert_eq!(Attribute::from("").as_str(), Some(""));
        let dtype = Attribute::from(TypeNumber::FLOAT);
        assert_eq!(dtype.as_type(), Some(TypeNumber::FLOAT));
        assert_eq!((dtype.as_int(), dtype.as_str()), (None, None));
        assert_eq!(Attribute::from_bytes([]).as_bool(), None);
    }

    #[test]
    fn lists_are_encoded_with_their_elements() {
        let texts = Attribute::from(&["BiasAdd", ""][..]);
        assert_eq!(texts.as_texts(), Some(vec!["BiasAdd", ""]));
        assert_eq!(texts.as_str(), None);
        assert_eq!(Attribute::from("BiasAdd").as_texts(), None);
        let types = Attribute::from(&[TypeNumber::HALF][..]);
        assert_eq!(types.bytes(), [0x0a, 2, 0x30, 19]);
    }
}
