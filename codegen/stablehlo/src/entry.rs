//! An attribute or a type of the tables, and the values of its fields.

use crate::cursor::Cursor;
use crate::error::ReadError;
use crate::layout::{Kind, Layout};

/// An attribute or a type.
#[derive(Debug)]
pub struct Entry<'a> {
    /// Dialect that defines it.
    pub dialect: &'a str,
    /// Its name and fields.
    pub layout: &'static Layout,
    /// Values of the fields, one for each field of the layout.
    pub values: Vec<Value<'a>>,
}

/// The value of a field. Attributes and types are indices into [`Module::attributes`](crate::Module::attributes) and
/// [`Module::types`](crate::Module::types).
#[derive(Debug)]
#[allow(missing_docs, reason = "the variants are the kinds of fields")]
pub enum Value<'a> {
    Attribute(usize),
    OptionalAttribute(Option<usize>),
    Attributes(Vec<usize>),
    Pairs(Vec<(usize, usize)>),
    Type(usize),
    Types(Vec<usize>),
    Natural(u64),
    Integer(i64),
    Integers(Vec<i64>),
    Doubles(Vec<f64>),
    /// The bits of an integer or of a floating-point number, without sign extension.
    Bits(u64),
    Bytes(&'a [u8]),
}

/// The tables to which the values of an entry refer.
pub(crate) struct Context<'a, 'b> {
    pub strings: &'b [&'a [u8]],
    pub attribute_count: usize,
    pub type_count: usize,
    /// The types, which are read before the attributes.
    pub types: &'b [Entry<'a>],
}

impl<'a> Context<'a, '_> {
    fn attribute(&self, cursor: &mut Cursor<'a>) -> Result<usize, ReadError> {
        cursor.index(self.attribute_count, "attribute")
    }

    fn type_(&self, cursor: &mut Cursor<'a>) -> Result<usize, ReadError> {
        cursor.index(self.type_count, "type")
    }

    /// Reads an index whose lowest bit is set if it exists.
    pub fn optional(&self, cursor: &mut Cursor<'a>) -> Result<Option<usize>, ReadError> {
        let (index, exists) = cursor.flagged()?;
        exists
            .then(|| cursor.checked_index(index, self.attribute_count, "attribute"))
            .transpose()
    }

    /// Reads the bits of a number of the type that the preceding field names.
    fn bits(
        &self,
        cursor: &mut Cursor<'a>,
        preceding: &[Value<'a>],
    ) -> Result<Value<'a>, ReadError> {
        let width = match preceding.last() {
            Some(&Value::Type(index)) => self.types.get(index).and_then(Entry::bit_width),
            _ => None,
        };
        let bits = match width {
            Some(1..=8) => u64::from(cursor.byte()?),
            Some(9..=64) => cursor.signed()? as u64,
            _ => return cursor.error("a number has a type of unknown width"),
        };
        let width = width.unwrap_or(64);
        Ok(Value::Bits(bits & (u64::MAX >> (64 - width))))
    }

    fn double(cursor: &mut Cursor<'a>) -> Result<f64, ReadError> {
        Ok(f64::from_bits(cursor.signed()? as u64))
    }

    /// Reads a field.
    pub fn value(
        &self,
        cursor: &mut Cursor<'a>,
        kind: Kind,
        preceding: &[Value<'a>],
    ) -> Result<Value<'a>, ReadError> {
        Ok(match kind {
            Kind::Attribute => Value::Attribute(self.attribute(cursor)?),
            Kind::OptionalAttribute => Value::OptionalAttribute(self.optional(cursor)?),
            Kind::FlagAndAttribute => Value::OptionalAttribute(match cursor.varint()? {
                0 => None,
                _ => Some(self.attribute(cursor)?),
            }),
            Kind::Attributes => Value::Attributes(cursor.list(|c| self.attribute(c))?),
            Kind::Pairs => {
                Value::Pairs(cursor.list(|c| Ok((self.attribute(c)?, self.attribute(c)?)))?)
            }
            Kind::Type => Value::Type(self.type_(cursor)?),
            Kind::Types => Value::Types(cursor.list(|c| self.type_(c))?),
            Kind::Natural => Value::Natural(cursor.varint()?),
            Kind::Integer => Value::Integer(cursor.signed()?),
            Kind::Integers => Value::Integers(cursor.list(Cursor::signed)?),
            Kind::Double => Value::Doubles(vec![Self::double(cursor)?]),
            Kind::Doubles => Value::Doubles(cursor.list(Self::double)?),
            Kind::Bits => self.bits(cursor, preceding)?,
            Kind::String => Value::Bytes(self.strings[cursor.index(self.strings.len(), "string")?]),
            Kind::Blob => {
                let length = cursor.count()?;
                Value::Bytes(cursor.bytes(length)?)
            }
            Kind::Rest => Value::Bytes(cursor.bytes(cursor.len())?),
            Kind::Enumerator(names) => {
                let value = cursor.varint()?;
                match usize::try_from(value)
                    .ok()
                    .and_then(|value| names.get(value))
                {
                    Some(name) if !name.is_empty() => Value::Natural(value),
                    _ => return cursor.error(format!("{value} is no value of the enumeration")),
                }
            }
        })
    }
}

impl Entry<'_> {
    /// Returns the width of an integer or a floating-point number of this type, in bits.
    pub fn bit_width(&self) -> Option<u32> {
        if let ("builtin", "integer", [Value::Natural(value)]) =
            (self.dialect, self.layout.name, &self.values[..])
        {
            return u32::try_from(value >> 2)
                .ok()
                .filter(|width| (1..=64).contains(width));
        }
        match self.layout.name.trim_end_matches("_v1") {
            "bool" => Some(1),
            "index" | "f64" => Some(64),
            "bf16" | "f16" => Some(16),
            "tf31" => Some(19),
            "f32" => Some(32),
            name if name.starts_with("f8") => Some(8),
            name if name.starts_with("f6") => Some(6),
            name if name.starts_with("f4") => Some(4),
            name => name.trim_start_matches('u').strip_prefix('i')?.parse().ok(),
        }
    }
}
