//! An attribute of a node: a serialized `AttrValue`, with the simple kinds understood.

use sp_abi::tf_datatype::TF_DataType;

use crate::proto::{self, Message, Value};

/// The fields of `AttrValue` that are understood here (tensorflow/core/framework/attr_value.proto).
mod field {
    pub const BYTES: u64 = 2;
    pub const INT: u64 = 3;
    pub const FLOAT: u64 = 4;
    pub const BOOL: u64 = 5;
    pub const TYPE: u64 = 6;
}

/// An attribute's value. Kinds that are not understood here are carried as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute(Vec<u8>);

impl Attribute {
    /// A serialized `AttrValue`.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The serialized `AttrValue`.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The type, if it is one.
    pub fn as_type(&self) -> Option<TF_DataType> {
        let number = self.field(field::TYPE)?.number()?;
        u32::try_from(number).ok().map(TF_DataType)
    }

    /// The integer, if it is one.
    pub fn as_int(&self) -> Option<i64> {
        Some(self.field(field::INT)?.number()?.cast_signed())
    }

    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        Some(self.field(field::BOOL)?.number()? != 0)
    }

    /// The number, if it is one.
    pub fn as_float(&self) -> Option<f32> {
        match self.field(field::FLOAT)? {
            Value::Four(bytes) => Some(f32::from_le_bytes(bytes)),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(self.field(field::BYTES)?.bytes()?).ok()
    }

    /// The value of the only field, if it has this number. A kind is always written, zeros too.
    fn field(&self, number: u64) -> Option<Value<'_>> {
        let found = proto::fields(&self.0).last()?.ok()?;
        (found.number == number).then_some(found.value)
    }
}

/// A field that is there also where its number is 0, as those of a `oneof` are.
fn number(field: u64, value: u64) -> Attribute {
    let zero = [(field << 3) as u8, 0];
    let message = match value {
        0 => Message::default().raw(&zero),
        value => Message::default().number(field, value),
    };
    Attribute(message.done())
}

impl From<TF_DataType> for Attribute {
    fn from(value: TF_DataType) -> Self {
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
        Self(Message::default().float(field::FLOAT, value).done())
    }
}

impl From<&str> for Attribute {
    fn from(value: &str) -> Self {
        Self(Message::default().bytes(field::BYTES, value).done())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_read_back_and_is_no_other() {
        assert_eq!(Attribute::from(-5).as_int(), Some(-5));
        assert_eq!(Attribute::from(0).as_int(), Some(0));
        assert_eq!(Attribute::from(false).as_bool(), Some(false));
        assert_eq!(Attribute::from(0.0).as_float(), Some(0.0));
        assert_eq!(Attribute::from("").as_str(), Some(""));
        let dtype = Attribute::from(TF_DataType::TF_FLOAT);
        assert_eq!(dtype.as_type(), Some(TF_DataType::TF_FLOAT));
        assert_eq!((dtype.as_int(), dtype.as_str()), (None, None));
        assert_eq!(Attribute::from_bytes([]).as_bool(), None);
    }
}
