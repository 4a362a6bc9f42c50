//! Shared libraries in a wheel, read in parts.

use super::{Wheel, unreadable};
use crate::error::FetchError;
use sp_library::binary::{Binary, PART};
use sp_parse::source::SourceError;
use std::io::{self, Read, Seek};
use std::ops::Range;
use zip::result::ZipError;

/// Maximum uncompressed size of a library. A library above 2 GiB cannot be linked in the usual code model.
const MAX_LIBRARY_LENGTH: u64 = 3 << 30;

impl<R: Read + Seek> Wheel<R> {
    /// Returns the member names of TensorFlow's own libraries.
    pub fn libraries(&self) -> Vec<String> {
        let names = self.members.keys();
        names.filter(|name| is_library(name)).cloned().collect()
    }

    /// Opens the library `member`.
    ///
    /// # Errors
    /// Returns an error if there is no such member or it is too large.
    pub fn library(&mut self, member: &str) -> Result<WheelLibrary<'_, R>, FetchError> {
        let found = self.members.get(member).copied();
        let index = found.ok_or_else(|| unreadable(&self.origin, ZipError::FileNotFound))?;
        let data = self.archive.by_index_data(index);
        let data = data.map_err(|error| unreadable(&self.origin, error))?;
        let (length, crc32) = (data.size(), data.crc32());
        drop(data);
        if length > MAX_LIBRARY_LENGTH {
            return Err(FetchError::from(SourceError::MemberTooLarge {
                origin: self.origin.clone(),
                member: member.escape_default().to_string(),
                limit: MAX_LIBRARY_LENGTH,
            }));
        }
        Ok(WheelLibrary {
            wheel: self,
            member: member.to_owned(),
            index,
            length,
            crc32,
        })
    }
}

/// A library in a wheel. Reading a part decompresses the member up to the end of that part.
pub struct WheelLibrary<'a, R> {
    wheel: &'a mut Wheel<R>,
    member: String,
    index: usize,
    length: u64,
    crc32: u32,
}

impl<R> WheelLibrary<'_, R> {
    /// Returns length and checksum, which are equal for copies of a library. Wheels for macOS have copies.
    pub fn fingerprint(&self) -> (u64, u32) {
        (self.length, self.crc32)
    }
}

impl<R: Read + Seek> Binary for WheelLibrary<'_, R> {
    type Error = FetchError;

    fn name(&self) -> String {
        format!("{} in {}", self.member, self.wheel.origin)
    }

    fn length(&self) -> u64 {
        self.length
    }

    fn read(&mut self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>, FetchError> {
        let origin = &self.wheel.origin;
        let read_error = |error| unreadable(origin, ZipError::Io(error));
        let mut member = self
            .wheel
            .archive
            .by_index(self.index)
            .map_err(|error| unreadable(origin, error))?;
        let (mut position, mut parts) = (0, Vec::new());
        for range in ranges {
            if range.start < position {
                // Deflate decompresses forwards only.
                drop(member);
                member = self
                    .wheel
                    .archive
                    .by_index(self.index)
                    .map_err(|error| unreadable(origin, error))?;
                position = 0;
            }
            let skipped = io::copy(
                &mut member.by_ref().take(range.start - position),
                &mut io::sink(),
            );
            position += skipped.map_err(read_error)?;
            let mut part = Vec::new();
            let length = range.end.saturating_sub(range.start);
            member
                .by_ref()
                .take(length)
                .read_to_end(&mut part)
                .map_err(read_error)?;
            position += part.len() as u64;
            parts.push(part);
        }
        Ok(parts)
    }

    /// Decompresses the member once. A call of `read` for each part would begin at the start of the member each time.
    fn stream(
        &mut self,
        range: Range<u64>,
        consume: &mut dyn FnMut(&[u8]),
    ) -> Result<(), FetchError> {
        let origin = &self.wheel.origin;
        let read_error = |error| unreadable(origin, ZipError::Io(error));
        let member = self.wheel.archive.by_index(self.index);
        let mut member = member.map_err(|error| unreadable(origin, error))?;
        io::copy(&mut member.by_ref().take(range.start), &mut io::sink()).map_err(read_error)?;
        let mut rest = member.take(range.end.saturating_sub(range.start));
        let mut part = vec![0; PART as usize];
        loop {
            match rest.read(&mut part).map_err(read_error)? {
                0 => return Ok(()),
                length => consume(&part[..length]),
            }
        }
    }
}

/// Returns true for TensorFlow's own libraries directly in `tensorflow/` or `tensorflow/python/`. The extension modules
/// in other folders export no C function (checked in 2.5, 2.12, 2.20 and 2.21).
fn is_library(member: &str) -> bool {
    let Some((folder, name)) = member.rsplit_once('/') else {
        return false;
    };
    let path = folder.split_once(".data/").map_or(folder, |(_, rest)| {
        rest.strip_prefix("purelib/")
            .or(rest.strip_prefix("platlib/"))
            .unwrap_or(rest)
    });
    let is_shared = name.ends_with(".so") || name.contains(".so.") || name.ends_with(".dylib");
    is_shared && name.contains("tensorflow") && matches!(path, "tensorflow" | "tensorflow/python")
}
