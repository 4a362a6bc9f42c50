//! The part of the protocol buffer wire format that graphs and traces need, so that a plugin's build needs
//! no compiler for `.proto` files. Unknown fields are preserved byte for byte.

use crate::{Error, Result};

/// A field's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// Integers, booleans, enumerations.
    Number(u64),
    /// Text, bytes, messages.
    Bytes(&'a [u8]),
    /// `float` and `fixed32`.
    Four([u8; 4]),
    /// `double` and `fixed64`.
    Eight([u8; 8]),
}

impl<'a> Value<'a> {
    /// Returns the number, or `None` for a value of another wire type.
    pub fn number(self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the bytes, or `None` for a value of another wire type.
    pub fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Returns the text.
    ///
    /// # Errors
    /// Returns an error if the value is not UTF-8 text.
    pub fn text(self) -> Result<String> {
        let text = self.bytes().map(<[u8]>::to_vec).map(String::from_utf8);
        text.and_then(std::result::Result::ok).ok_or_else(malformed)
    }
}

/// A field of a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Field<'a> {
    /// The number in the message's definition.
    pub number: u64,
    /// The value.
    pub value: Value<'a>,
    /// The encoded field: tag and value.
    pub encoded: &'a [u8],
}

/// The fields of a message in their order.
#[derive(Clone)]
pub struct Fields<'a>(&'a [u8]);

/// Returns the fields of the message in `bytes`.
pub fn fields(bytes: &[u8]) -> Fields<'_> {
    Fields(bytes)
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.read();
        if field.is_none() {
            self.0 = &[];
        }
        Some(field.ok_or_else(malformed))
    }
}

impl<'a> Fields<'a> {
    fn read(&mut self) -> Option<Field<'a>> {
        let start = self.0;
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Value::Number(self.varint()?),
            1 => Value::Eight(self.take(8)?.try_into().ok()?),
            2 => {
                let len = self.varint()?;
                Value::Bytes(self.take(usize::try_from(len).ok()?)?)
            }
            5 => Value::Four(self.take(4)?.try_into().ok()?),
            _ => return None,
        };
        let encoded = &start[..start.len() - self.0.len()];
        (tag >> 3 != 0).then_some(Field {
            number: tag >> 3,
            value,
            encoded,
        })
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.take(1)?.try_into().ok()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }
}

// since 2.11
/// Returns the values of a field of text, bytes or messages.
///
/// # Errors
/// Returns an error if the message is malformed, or if the field is of another type.
pub fn bytes_of(message: &[u8], number: u64) -> Result<Vec<&[u8]>> {
    let mut found = Vec::new();
    for field in fields(message) {
        let field = field?;
        if field.number == number {
            found.push(field.value.bytes().ok_or_else(malformed)?);
        }
    }
    Ok(found)
}

/// Returns the error for bytes that are not a valid message.
pub fn malformed() -> Error {
    Error::invalid_argument("a protocol buffer message from TensorFlow is malformed")
}

/// An encoder for a message, field by field.
#[derive(Debug, Default)]
pub struct Message(Vec<u8>);

impl Message {
    /// Appends a number. 0 is not encoded: it is the value of an absent field.
    pub fn number(mut self, field: u64, value: u64) -> Self {
        if value != 0 {
            self.varint(field << 3);
            self.varint(value);
        }
        self
    }

    // since 2.7
    /// Appends a number, also 0: a field of a `oneof`.
    pub fn choice(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    // since 2.7
    /// Appends a `double`.
    pub fn double(mut self, field: u64, value: f64) -> Self {
        self.varint(field << 3 | 1);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Appends text, bytes or a message, also if it is empty.
    pub fn bytes(mut self, field: u64, value: impl AsRef<[u8]>) -> Self {
        let value = value.as_ref();
        self.varint(field << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// Appends text. Empty text is not encoded: it is the value of an absent field.
    pub fn text(self, field: u64, value: &str) -> Self {
        match value {
            "" => self,
            value => self.bytes(field, value),
        }
    }

    /// Appends a `float`.
    pub fn float(mut self, field: u64, value: f32) -> Self {
        self.varint(field << 3 | 5);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Appends encoded fields.
    pub fn encoded(mut self, fields: &[u8]) -> Self {
        self.0.extend_from_slice(fields);
        self
    }

    /// Returns the encoded message.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_round_trip() {
        let message = Message::default()
            .number(1, u64::MAX)
            .number(2, 0)
            .text(3, "name")
            .float(4, 1.5)
            .bytes(100, [])
            .finish();
        let read: Vec<Field<'_>> = fields(&message).collect::<Result<_>>().unwrap();
        let values: Vec<_> = read.iter().map(|it| (it.number, it.value)).collect();
        let expected = [
            (1, Value::Number(u64::MAX)),
            (3, Value::Bytes(b"name")),
            (4, Value::Four(1.5_f32.to_le_bytes())),
            (100, Value::Bytes(b"")),
        ];
        assert_eq!(values, expected);
        let encoded: Vec<u8> = read.iter().flat_map(|it| it.encoded).copied().collect();
        assert_eq!(encoded, message);
    }

    #[test]
    fn truncated_message_is_error_or_shorter_message() {
        let message = Message::default().text(1, "a longer text").number(2, 300);
        let message = message.finish();
        for end in 0..message.len() {
            let read: Result<Vec<_>> = fields(&message[..end]).collect();
            assert_eq!(read.is_ok(), [0, 15].contains(&end), "{end}");
        }
        assert!(fields(&[0x0b]).next().unwrap().is_err(), "a group");
        assert!(fields(&[0x00, 0x01]).next().unwrap().is_err(), "number 0");
        assert!(fields(&[0xff; 11]).next().unwrap().is_err(), "too long");
    }
}
