//! As much of the protocol buffer wire format as graphs and op definitions need: varints and
//! length-delimited fields are written; of what is read, every field is told by number and value.

/// A field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// Of fixed width, which nothing here asks for.
    Fixed,
}

impl<'a> Value<'a> {
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

/// The field `number` with a number.
pub(crate) fn number(number: u32, value: u64) -> Vec<u8> {
    [varint(u64::from(number) << 3), varint(value)].concat()
}

/// The field `number` with text or a message.
pub(crate) fn bytes(number: u32, value: impl AsRef<[u8]>) -> Vec<u8> {
    let value = value.as_ref();
    let tag = varint(u64::from(number) << 3 | 2);
    [&tag[..], &varint(value.len() as u64), value].concat()
}

/// The fields of a message; none where it is cut off or no message.
pub(crate) fn fields(mut message: &[u8]) -> Option<Vec<(u32, Value<'_>)>> {
    let mut found = Vec::new();
    while !message.is_empty() {
        let tag = take_varint(&mut message)?;
        let value = match tag & 7 {
            0 => Value::Number(take_varint(&mut message)?),
            1 => take(&mut message, 8).map(|_| Value::Fixed)?,
            2 => {
                let len = usize::try_from(take_varint(&mut message)?).ok()?;
                Value::Bytes(take(&mut message, len)?)
            }
            5 => take(&mut message, 4).map(|_| Value::Fixed)?,
            _ => return None,
        };
        found.push((u32::try_from(tag >> 3).ok()?, value));
    }
    Some(found)
}

/// The values of one field, in order.
pub(crate) fn all<'a>(message: &'a [u8], number: u32) -> impl Iterator<Item = Value<'a>> {
    let fields = fields(message).unwrap_or_default();
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
    fn what_is_written_is_read_back() {
        let message = [number(1, 300), bytes(2, "abc"), number(16, u64::MAX)].concat();
        let wanted = vec![
            (1, Value::Number(300)),
            (2, Value::Bytes(b"abc")),
            (16, Value::Number(u64::MAX)),
        ];
        assert_eq!(fields(&message), Some(wanted));
        assert_eq!(message[..3], [0x08, 0xac, 0x02]);
    }

    #[test]
    fn what_is_cut_off_is_no_message() {
        let message = bytes(2, "abc");
        for len in 1..message.len() {
            assert_eq!(fields(&message[..len]), None, "{len}");
        }
        assert_eq!(fields(&[0x80; 11]), None);
        assert_eq!(fields(&[0x0b]), None);
    }
}
