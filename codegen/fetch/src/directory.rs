//! Checks the central directory of a zip archive before the zip library reads it. The library allocates memory for as
//! many members as a zip64 directory states, and reads as many bytes as the directory's stated size.

use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;
use zip::ZipArchive;
use zip::result::{ZipError, ZipResult};

/// Maximum number of bytes read to list the members. The directory of 2.21 has 2 MiB.
const MAX_DIRECTORY_BYTES: u64 = 64 << 20;
/// Maximum number of members. The wheel of 2.21 has 13 thousand.
const MAX_MEMBERS: u64 = 1 << 17;

/// Length of the header before a member, without its name.
const LOCAL_HEADER_LENGTH: u64 = 30;

const END: &[u8] = b"PK\x05\x06";
const END_LENGTH: u64 = 22;
const LOCATOR: &[u8] = b"PK\x06\x07";
const LOCATOR_LENGTH: usize = 20;
const END64: &[u8] = b"PK\x06\x06";
const END64_LENGTH: usize = 56;
/// Maximum length of the comment after the end-of-directory record.
const MAX_COMMENT_LENGTH: u64 = 1 << 16;

/// Opens an archive whose directory is within the limits.
///
/// # Errors
/// Returns an error if there is no directory, or if it exceeds a limit.
pub fn open<R: Read + Seek>(mut reader: R) -> ZipResult<ZipArchive<LimitedReader<R>>> {
    let tail = read_tail(&mut reader)?;
    if !is_bounded(&tail.bytes, tail.start) {
        return Err(ZipError::InvalidArchive(
            "its zip64 directory states too many members, or is not at its end".into(),
        ));
    }
    reader.rewind()?;
    let remaining = Rc::new(Cell::new(MAX_DIRECTORY_BYTES));
    let limited = LimitedReader {
        reader,
        remaining: remaining.clone(),
    };
    let archive = ZipArchive::new(limited)?;
    remaining.set(u64::MAX);
    Ok(archive)
}

/// Checks that no two members have data in common: a small archive could decompress to any size by them.
///
/// # Errors
/// Returns an error if two members overlap.
pub fn check_overlap<R: Read + Seek>(archive: &ZipArchive<R>) -> ZipResult<()> {
    let range = |index| {
        let member = archive.by_index_data(index)?;
        // The name and the extra fields before the data may differ from those of the directory.
        let length = LOCAL_HEADER_LENGTH.saturating_add(member.compressed_size());
        let start = member.header_start();
        Ok(start..start.saturating_add(length))
    };
    let mut ranges = (0..archive.len())
        .map(range)
        .collect::<ZipResult<Vec<_>>>()?;
    ranges.sort_by_key(|range| range.start);
    match ranges.windows(2).any(|pair| pair[1].start < pair[0].end) {
        true => Err(ZipError::InvalidArchive(
            "two of its members overlap".into(),
        )),
        false => Ok(()),
    }
}

/// The last bytes of a file, in which the end-of-directory records must be.
struct Tail {
    start: u64,
    bytes: Vec<u8>,
}

fn read_tail(reader: &mut (impl Read + Seek)) -> io::Result<Tail> {
    let length = reader.seek(SeekFrom::End(0))?;
    let tail_length = MAX_COMMENT_LENGTH + END_LENGTH + (LOCATOR_LENGTH + END64_LENGTH) as u64 + 4;
    let start = reader.seek(SeekFrom::Start(length.saturating_sub(tail_length)))?;
    let mut bytes = Vec::new();
    reader.take(tail_length).read_to_end(&mut bytes)?;
    Ok(Tail { start, bytes })
}

/// Returns true if each zip64 directory that the library may find is within the limits. Its end record must be directly
/// before its locator, and the locator before the end record of the zip directory: otherwise the library would search
/// for it.
fn is_bounded(tail: &[u8], start: u64) -> bool {
    let ends = memchr::memmem::find_iter(tail, END);
    let mut locators = ends.filter_map(|end| end.checked_sub(LOCATOR_LENGTH));
    locators.all(|locator| {
        !tail[locator..].starts_with(LOCATOR)
            || is_bounded_zip64(tail, start, locator) == Some(true)
    })
}

fn is_bounded_zip64(tail: &[u8], start: u64, locator: usize) -> Option<bool> {
    let end = locator.checked_sub(END64_LENGTH)?;
    let number = |offset: usize| {
        let bytes = tail.get(offset..offset.checked_add(8)?)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    };
    let is_adjacent = number(locator + 8)? == start + end as u64 && tail[end..].starts_with(END64);
    Some(is_adjacent && number(end + 32)? <= MAX_MEMBERS)
}

/// A reader that fails after a limited number of bytes.
#[derive(Debug)]
pub struct LimitedReader<R> {
    reader: R,
    remaining: Rc<Cell<u64>>,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(out)?;
        let remaining = self.remaining.get().checked_sub(count as u64);
        self.remaining.set(remaining.ok_or_else(|| {
            io::Error::other("its directory is larger than that of any wheel of TensorFlow")
        })?);
        Ok(count)
    }
}

impl<R: Seek> Seek for LimitedReader<R> {
    fn seek(&mut self, target: SeekFrom) -> io::Result<u64> {
        self.reader.seek(target)
    }
}
