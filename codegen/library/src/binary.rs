//! A shared library that is read in parts, and the numbers in it. Every read is checked against the
//! bytes that are there: a truncated or crafted library is an error, never a panic.

use miette::Diagnostic;
use std::ops::Range;
use thiserror::Error;

/// A shared library is malformed, or of a kind that is not read.
#[derive(Debug, Error, Diagnostic)]
#[error("cannot read the symbols of {library}: {detail}")]
#[diagnostic(
    code(sp_gen::import::library_malformed),
    help("nothing was written; sp-gen reads 64-bit ELF and Mach-O libraries")
)]
pub struct LibraryError {
    /// The library and where it is.
    pub library: String,
    /// Description of the problem.
    pub detail: String,
}

/// The most bytes that are held of a range which is read through.
pub const PART: u64 = 1 << 20;

/// What a library exports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exports {
    /// The names that were asked for, sorted.
    pub names: Vec<String>,
    /// The versions that it defines for its symbols, such as `tensorflow`.
    pub versions: Vec<String>,
}

/// Which names are asked for.
pub type Wanted<'a> = &'a dyn Fn(&str) -> bool;

/// A library somewhere.
pub trait Binary {
    /// The error of reading it; a malformed library is one.
    type Error: From<LibraryError>;
    /// Its name for messages.
    fn name(&self) -> String;
    /// How long it says it is.
    fn length(&self) -> u64;
    /// The bytes of some ranges, read in one pass where they are sorted; what lies behind the end is
    /// missing from them.
    fn read(&mut self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>, Self::Error>;

    /// One range.
    fn part(&mut self, range: Range<u64>) -> Result<Vec<u8>, Self::Error> {
        let mut parts = self.read(std::slice::from_ref(&range))?;
        Ok(parts.pop().unwrap_or_default())
    }

    /// Shows `see` the bytes of a range in order, in parts of bounded length.
    ///
    /// # Errors
    /// Returns an error if the library cannot be read.
    fn stream(&mut self, range: Range<u64>, see: &mut dyn FnMut(&[u8])) -> Result<(), Self::Error> {
        let mut at = range.start;
        while at < range.end {
            let part = self.part(at..range.end.min(at + PART))?;
            if part.is_empty() {
                break;
            }
            at += part.len() as u64;
            see(&part);
        }
        Ok(())
    }

    /// The error of a library that is none.
    fn malformed(&self, detail: &str) -> Self::Error {
        LibraryError {
            library: self.name(),
            detail: detail.to_owned(),
        }
        .into()
    }
}

/// A little-endian number at an offset.
pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let found = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(found.try_into().ok()?))
}

/// A little-endian number at an offset.
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let found = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(found.try_into().ok()?))
}

/// A little-endian number at an offset.
pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let found = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(found.try_into().ok()?))
}

/// A NUL-terminated name at an offset; nothing where the bytes end before it does.
pub fn name_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    Some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_behind_the_end_are_none() {
        let bytes = [1, 0, 2, 0];
        assert_eq!(u16_at(&bytes, 2), Some(2));
        assert_eq!(u32_at(&bytes, 1), None);
        assert_eq!(u64_at(&bytes, usize::MAX), None);
        assert_eq!(name_at(b"ab\0c", 0), Some(&b"ab"[..]));
        assert_eq!(name_at(b"ab\0c", 3), None);
    }
}
