//! A shared library that is read in ranges, and the numbers in it. Every read is checked against the available bytes:
//! a truncated or crafted library is an error, never a panic.

use miette::Diagnostic;
use sp_system::budget::{Budget, Exceeded};
use std::ops::Range;
use thiserror::Error;

/// A shared library is malformed, or of an unsupported format.
#[derive(Debug, Error, Diagnostic)]
#[error("cannot read the symbols of {library}: {detail}")]
#[diagnostic(
    code(sp_gen::import::library_malformed),
    help("name a shared library of 64-bit ELF or Mach-O, such as target/release/libmyaccel.so")
)]
pub struct LibraryError {
    /// The library and its location.
    pub library: String,
    /// Description of the problem.
    pub detail: String,
}

/// The reason for which a table of symbols cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TableError {
    /// The table is malformed.
    #[error("{0}")]
    Malformed(&'static str),
    /// Reading the table takes more than its size justifies, as if its entries share long names.
    #[error("its tables cannot be those of a real library: {0}")]
    Exceeded(#[from] Exceeded),
}

/// Largest part, in bytes, that [`Binary::stream_ranges`] holds in memory.
pub const PART_BYTES: u64 = 1 << 20;

/// The symbols of a library.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportedSymbols {
    /// The names that the filter accepts, sorted.
    pub names: Vec<String>,
    /// The symbol versions that the library defines, such as `tensorflow`.
    pub versions: Vec<String>,
}

/// Returns true for the names to read.
pub type NameFilter<'a> = &'a dyn Fn(&str) -> bool;

/// A library that can be read in ranges.
pub trait Binary {
    /// The error of reading the library.
    type Error: From<LibraryError>;
    /// Returns the name of the library, for messages.
    fn name(&self) -> String;
    /// Returns the stated length in bytes; the library may end before it.
    fn length(&self) -> u64;
    /// Returns the bytes of `ranges`; sorted ranges are read in one pass. A range that reaches beyond the end is cut.
    ///
    /// # Errors
    /// Returns an error if the library cannot be read.
    fn read_ranges(&mut self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>, Self::Error>;

    /// Returns the bytes of one range, cut at the end of the library.
    ///
    /// # Errors
    /// Returns an error if the library cannot be read.
    fn read_range(&mut self, range: Range<u64>) -> Result<Vec<u8>, Self::Error> {
        let mut parts = self.read_ranges(std::slice::from_ref(&range))?;
        Ok(parts.pop().unwrap_or_default())
    }

    /// Calls `visit` with the index of each range and its bytes in order, in parts of at most [`PART_BYTES`]. Sorted ranges
    /// are read in one pass.
    ///
    /// # Errors
    /// Returns an error if the library cannot be read.
    fn stream_ranges(
        &mut self,
        ranges: &[Range<u64>],
        visit: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), Self::Error> {
        for (index, range) in ranges.iter().enumerate() {
            let mut offset = range.start;
            while offset < range.end {
                let part = self.read_range(offset..range.end.min(offset + PART_BYTES))?;
                if part.is_empty() {
                    break;
                }
                offset += part.len() as u64;
                visit(index, &part);
            }
        }
        Ok(())
    }

    /// Returns the error for a malformed library.
    fn malformed(&self, detail: &str) -> Self::Error {
        LibraryError {
            library: self.name(),
            detail: detail.to_owned(),
        }
        .into()
    }
}

/// Returns the parts of `bytes` in `ranges`, each cut at the end: [`Binary::read_ranges`] of a library in memory.
pub fn copy_ranges(bytes: &[u8], ranges: &[Range<u64>]) -> Vec<Vec<u8>> {
    let clamp = |offset: u64| usize::try_from(offset).map_or(bytes.len(), |it| it.min(bytes.len()));
    let copy = |range: &Range<u64>| {
        let end = clamp(range.end);
        bytes[clamp(range.start).min(end)..end].to_vec()
    };
    ranges.iter().map(copy).collect()
}

/// Returns the little-endian `u16` at `offset`, or `None` if the bytes end before it does.
pub fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    array_at(bytes, offset).map(u16::from_le_bytes)
}

/// Returns the little-endian `u32` at `offset`, or `None` if the bytes end before it does.
pub fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    array_at(bytes, offset).map(u32::from_le_bytes)
}

/// Returns the little-endian `u64` at `offset`, or `None` if the bytes end before it does.
pub fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    array_at(bytes, offset).map(u64::from_le_bytes)
}

fn array_at<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

/// Returns the NUL-terminated name at `offset`, or `None` if the bytes end before it does.
///
/// # Errors
/// Returns an error if the name is longer than the steps that are left.
pub fn name_at<'a>(
    bytes: &'a [u8],
    offset: usize,
    budget: &mut Budget,
) -> Result<Option<&'a [u8]>, Exceeded> {
    match bytes.get(offset..) {
        Some(rest) => budget.until_nul(rest),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_numbers_and_names_beyond_the_end() {
        let bytes = [1, 0, 2, 0];
        assert_eq!(u16_at(&bytes, 2), Some(2));
        assert_eq!(u32_at(&bytes, 1), None);
        assert_eq!(u64_at(&bytes, usize::MAX), None);
        let name = |offset| name_at(b"ab\0c", offset, &mut Budget::for_input(4));
        assert_eq!(name(0), Ok(Some(&b"ab"[..])));
        assert_eq!(name(3), Ok(None));
        assert_eq!(name(usize::MAX), Ok(None));
    }

    #[test]
    fn cuts_ranges_at_the_end() {
        let parts = copy_ranges(b"abc", &[0..2, 2..9, 5..u64::MAX]);
        assert_eq!(parts, [&b"ab"[..], b"c", b""]);
    }
}
