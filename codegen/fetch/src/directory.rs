//! The directory of a zip archive, checked before it is read. The zip library reserves memory for as many
//! members as a zip64 directory states, and reads as much of a file as it states to be the directory.

use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;
use zip::ZipArchive;
use zip::result::{ZipError, ZipResult};

/// The most bytes that are read to find the members. That of 2.21 has 2 MiB.
const DIRECTORY_MOST: u64 = 64 << 20;
/// The most members. The wheel of 2.21 has 13 thousand.
const MEMBERS_MOST: u64 = 1 << 17;

const END: &[u8] = b"PK\x05\x06";
const END_LENGTH: u64 = 22;
const LOCATOR: &[u8] = b"PK\x06\x07";
const LOCATOR_LENGTH: usize = 20;
const END64: &[u8] = b"PK\x06\x06";
const END64_LENGTH: usize = 56;
/// A comment may follow the end of the directory.
const COMMENT_MOST: u64 = 1 << 16;

/// Opens an archive whose directory keeps within the limits.
///
/// # Errors
/// Returns an error if there is no directory, or if it exceeds a limit.
pub fn open<R: Read + Seek>(mut reader: R) -> ZipResult<ZipArchive<Metered<R>>> {
    let tail = tail(&mut reader)?;
    if !is_bounded(&tail.bytes, tail.start) {
        return Err(ZipError::InvalidArchive(
            "its zip64 directory states too many members, or is not at its end".into(),
        ));
    }
    reader.rewind()?;
    let left = Rc::new(Cell::new(DIRECTORY_MOST));
    let metered = Metered {
        reader,
        left: left.clone(),
    };
    let archive = ZipArchive::new(metered)?;
    left.set(u64::MAX);
    Ok(archive)
}

/// The end of a file, as far as the directory's end can be from it.
struct Tail {
    start: u64,
    bytes: Vec<u8>,
}

fn tail(reader: &mut (impl Read + Seek)) -> io::Result<Tail> {
    let length = reader.seek(SeekFrom::End(0))?;
    let reach = COMMENT_MOST + END_LENGTH + (LOCATOR_LENGTH + END64_LENGTH) as u64 + 4;
    let start = reader.seek(SeekFrom::Start(length.saturating_sub(reach)))?;
    let mut bytes = Vec::new();
    reader.take(reach).read_to_end(&mut bytes)?;
    Ok(Tail { start, bytes })
}

/// Returns true if each zip64 directory that the library may find keeps within the limits. It must lie
/// directly before its locator, and that before the end: the library would search for it otherwise.
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
    let number = |at: usize| {
        let bytes = tail.get(at..at.checked_add(8)?)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    };
    let is_here = number(locator + 8)? == start + end as u64 && tail[end..].starts_with(END64);
    Some(is_here && number(end + 32)? <= MEMBERS_MOST)
}

/// A reader that fails when more is read than is left.
#[derive(Debug)]
pub struct Metered<R> {
    reader: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(out)?;
        let left = self.left.get().checked_sub(count as u64);
        self.left.set(left.ok_or_else(|| {
            io::Error::other("its directory is larger than that of any wheel of TensorFlow")
        })?);
        Ok(count)
    }
}

impl<R: Seek> Seek for Metered<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.reader.seek(to)
    }
}
