//! A position in the bytes, and the primitive encodings of the format.

use crate::error::ReadError;

/// The most sections, regions or types inside of each other.
pub(crate) const MAX_DEPTH: usize = 64;

/// A range of the program that is not read yet.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    /// Offset of the next byte in the program.
    pub offset: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns an error at the next byte.
    pub fn error<T>(&self, message: impl Into<String>) -> Result<T, ReadError> {
        Err(ReadError {
            offset: self.offset,
            message: message.into(),
        })
    }

    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], ReadError> {
        let Some((head, rest)) = self.bytes.split_at_checked(count) else {
            return self.error(format!("{count} bytes are expected, {} remain", self.len()));
        };
        self.bytes = rest;
        self.offset += count;
        Ok(head)
    }

    /// Returns the range of the next `count` bytes, and skips it.
    pub fn range(&mut self, count: usize) -> Result<Self, ReadError> {
        let offset = self.offset;
        let bytes = self.bytes(count)?;
        Ok(Self { bytes, offset })
    }

    pub fn byte(&mut self) -> Result<u8, ReadError> {
        Ok(self.bytes(1)?[0])
    }

    /// Reads bytes up to a zero, which is skipped.
    pub fn terminated(&mut self) -> Result<&'a [u8], ReadError> {
        let Some(length) = self.bytes.iter().position(|&byte| byte == 0) else {
            return self.error("a text has no end");
        };
        let text = self.bytes(length)?;
        self.byte()?;
        Ok(text)
    }

    /// Reads a number of one to nine bytes: the zeros at the low end of the first byte count the bytes that follow.
    pub fn varint(&mut self) -> Result<u64, ReadError> {
        let first = self.byte()?;
        let extra = first.trailing_zeros().min(8) as usize;
        let mut value = [0; 16];
        value[0] = first;
        value[1..=extra].copy_from_slice(self.bytes(extra)?);
        // A first byte of zero has no bit of the value.
        Ok((u128::from_le_bytes(value) >> (extra + 1).min(8)) as u64)
    }

    /// Reads a signed number, whose sign is the lowest bit.
    pub fn signed(&mut self) -> Result<i64, ReadError> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Reads a number whose lowest bit is a flag.
    pub fn flagged(&mut self) -> Result<(u64, bool), ReadError> {
        let value = self.varint()?;
        Ok((value >> 1, value & 1 == 1))
    }

    /// Converts the count of items that follow, each of at least one byte.
    pub fn checked_count(&self, count: u64) -> Result<usize, ReadError> {
        match usize::try_from(count) {
            Ok(count) if count <= self.len() => Ok(count),
            _ => self.error(format!(
                "{count} items are expected, {} bytes remain",
                self.len()
            )),
        }
    }

    pub fn count(&mut self) -> Result<usize, ReadError> {
        let count = self.varint()?;
        self.checked_count(count)
    }

    /// Reads an index into a table of `length` items.
    pub fn index(&mut self, length: usize, what: &str) -> Result<usize, ReadError> {
        let index = self.varint()?;
        self.checked_index(index, length, what)
    }

    pub fn checked_index(&self, index: u64, length: usize, what: &str) -> Result<usize, ReadError> {
        match usize::try_from(index) {
            Ok(index) if index < length => Ok(index),
            _ => self.error(format!("{what} {index} does not exist, there are {length}")),
        }
    }

    /// Reads a count, and that many items.
    pub fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, ReadError>,
    ) -> Result<Vec<T>, ReadError> {
        (0..self.count()?).map(|_| item(self)).collect()
    }

    /// Returns an error if bytes remain.
    pub fn expect_end(&self, what: &str) -> Result<(), ReadError> {
        if self.is_empty() {
            Ok(())
        } else {
            self.error(format!("{} bytes follow {what}", self.len()))
        }
    }
}
