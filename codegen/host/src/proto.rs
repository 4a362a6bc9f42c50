//! The protocol buffer wire format, as far as graphs and op definitions need it.
//!
//! Own code rather than a crate: the messages are read by field number and without generated types, and
//! scaffolded plugins build this crate for their tests.

/// A field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldValue<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// A fixed-width value, of 4 or 8 bytes.
    Fixed(u64),
}

impl<'a> FieldValue<'a> {
    pub fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub fn text(self) -> Option<String> {
        self.bytes()
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// Returns the encoded field `number` with a varint.
pub(crate) fn varint_field(number: u32, value: u64) -> Vec<u8> {
    [varint(u64::from(number) << 3), varint(value)].concat()
}

/// Returns the encoded field `number` with a string, bytes or a message.
pub(crate) fn bytes_field(number: u32, value: impl AsRef<[u8]>) -> Vec<u8> {
    let value = value.as_ref();
    let tag = varint(u64::from(number) << 3 | 2);
    [&tag[..], &varint(value.len() as u64), value].concat()
}

/// Returns the fields of a message, or `None` if the bytes are not a complete message.
pub(crate) fn parse_fields(mut message: &[u8]) -> Option<Vec<(u32, FieldValue<'_>)>> {
    let mut found = Vec::new();
    while !message.is_empty() {
        let tag = take_varint(&mut message)?;
        let value = match tag & 7 {
            0 => FieldValue::Number(take_varint(&mut message)?),
            1 => FieldValue::Fixed(take_fixed(&mut message, 8)?),
            2 => {
                let len = usize::try_from(take_varint(&mut message)?).ok()?;
                FieldValue::Bytes(take(&mut message, len)?)
            }
            5 => FieldValue::Fixed(take_fixed(&mut message, 4)?),
            _ => return None,
        };
        found.push((u32::try_from(tag >> 3).ok()?, value));
    }
    Some(found)
}

/// Returns the values of field `number`, in order.
pub(crate) fn field_values<'a>(
    message: &'a [u8],
    number: u32,
) -> impl Iterator<Item = FieldValue<'a>> {
    let fields = parse_fields(message).unwrap_or_default();
    fields
        .into_iter()
        .filter(move |(found, _)| *found == number)
        .map(|(_, value)| value)
}

fn take<'a>(message: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (head, tail) = message.split_at_checked(len)?;
    *message = tail;
    Some(head)
}

/// Returns a little-endian number of `width` bytes.
fn take_fixed(message: &mut &[u8], width: usize) -> Option<u64> {
    let bytes = take(message, width)?.iter().rev();
    Some(bytes.fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

/// Returns the numbers of a packed field whose elements have `width` bytes.
pub(crate) fn fixed_values(mut packed: &[u8], width: usize) -> Option<Vec<u64>> {
    let mut values = Vec::new();
    while !packed.is_empty() {
        values.push(take_fixed(&mut packed, width)?);
    }
    Some(values)
}

/// Returns the numbers of a packed field of varints.
pub(crate) fn varints(mut packed: &[u8]) -> Option<Vec<u64>> {
    let mut values = Vec::new();
    while !packed.is_empty() {
        values.push(take_varint(&mut packed)?);
    }
    Some(values)
}

fn take_varint(message: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *take(message, 1)?.first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_encoded_fields() {
        let message = [
            varint_field(1, 300),
            bytes_field(2, "abc"),
            varint_field(16, u64::MAX),
        ]
        .concat();
        let wanted = vec![
            (1, FieldValue::Number(300)),
            (2, FieldValue::Bytes(b"abc")),
            (16, FieldValue::Number(u64::MAX)),
        ];
        assert_eq!(parse_fields(&message), Some(wanted));
        assert_eq!(message[..3], [0x08, 0xac, 0x02]);
    }

    #[test]
    fn rejects_truncated_message() {
        let message = bytes_field(2, "abc");
        for len in 1..message.len() {
            assert_eq!(parse_fields(&message[..len]), None, "{len}");
        }
        assert_eq!(parse_fields(&[0x80; 11]), None);
        assert_eq!(parse_fields(&[0x0b]), None);
    }
}
