//! Shared libraries in a wheel, read in parts.

use super::{Wheel, unreadable};
use crate::directory::LimitedReader;
use crate::error::FetchError;
use sp_library::binary::{Binary, PART_BYTES};
use sp_parse::source::SourceError;
use std::io::{self, Read, Seek};
use std::ops::Range;
use zip::ZipArchive;
use zip::read::ZipFile;
use zip::result::{ZipError, ZipResult};

/// Maximum uncompressed size of a library. A library above 2 GiB cannot be linked in the usual code model.
const MAX_LIBRARY_LENGTH: u64 = 3 << 30;
/// Maximum number of libraries. The wheel of 2.21 has four.
const MAX_LIBRARIES: usize = 64;
/// Maximum number of bytes that are decompressed to read all libraries. Those of 2.21 have 0.9 GB, and each is decompressed
/// a few times.
pub(super) const MAX_DECOMPRESSED_BYTES: u64 = 16 << 30;

impl<R: Read + Seek> Wheel<R> {
    /// Returns the member names of TensorFlow's own libraries.
    ///
    /// # Errors
    /// Returns an error if there are more than in any wheel of TensorFlow.
    pub fn libraries(&self) -> Result<Vec<String>, FetchError> {
        let names = self.members.keys().filter(|name| is_library(name));
        let names: Vec<String> = names.cloned().collect();
        match names.len() {
            0..=MAX_LIBRARIES => Ok(names),
            count => Err(FetchError::unreadable(
                &self.origin,
                format!("it has {count} libraries, expected at most {MAX_LIBRARIES}"),
            )),
        }
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

    fn read_ranges(&mut self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>, FetchError> {
        let mut parts = vec![Vec::new(); ranges.len()];
        self.stream_ranges(ranges, &mut |index, bytes| {
            parts[index].extend_from_slice(bytes)
        })?;
        Ok(parts)
    }

    fn stream_ranges(
        &mut self,
        ranges: &[Range<u64>],
        visit: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), FetchError> {
        let Wheel {
            origin,
            archive,
            library_bytes,
            ..
        } = &mut *self.wheel;
        let failed = |error| unreadable(origin, error);
        let mut member =
            DecompressedMember::open(archive, self.index, library_bytes).map_err(failed)?;
        let (mut position, mut part) = (0, vec![0; PART_BYTES as usize]);
        for (index, range) in ranges.iter().enumerate() {
            if range.start < position {
                // Deflate decompresses forwards only.
                drop(member);
                member =
                    DecompressedMember::open(archive, self.index, library_bytes).map_err(failed)?;
                position = 0;
            }
            let read = member.visit(position, range, &mut part, &mut |bytes| visit(index, bytes));
            position = read.map_err(|error| failed(ZipError::Io(error)))?;
        }
        Ok(())
    }
}

/// A member whose decompressed bytes are counted.
struct DecompressedMember<'a, R: Read> {
    member: ZipFile<'a, LimitedReader<R>>,
    /// Bytes that may still be decompressed.
    remaining: &'a mut u64,
}

impl<'a, R: Read + Seek> DecompressedMember<'a, R> {
    fn open(
        archive: &'a mut ZipArchive<LimitedReader<R>>,
        index: usize,
        remaining: &'a mut u64,
    ) -> ZipResult<Self> {
        let member = archive.by_index(index)?;
        Ok(Self { member, remaining })
    }

    /// Calls `visit` with the bytes of `range`, in parts of the length of `part`. Returns the position after it, where
    /// `position` is that of the reader.
    fn visit(
        &mut self,
        mut position: u64,
        range: &Range<u64>,
        part: &mut [u8],
        visit: &mut dyn FnMut(&[u8]),
    ) -> io::Result<u64> {
        let mut skipped = self.take(range.start - position);
        position += io::copy(&mut skipped, &mut io::sink())?;
        let mut rest = self.take(range.end.saturating_sub(range.start));
        loop {
            let length = rest.read(part)?;
            if length == 0 {
                return Ok(position);
            }
            position += length as u64;
            visit(&part[..length]);
        }
    }
}

impl<R: Read> Read for DecompressedMember<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.member.read(out)?;
        let remaining = self.remaining.checked_sub(count as u64);
        *self.remaining = remaining.ok_or_else(|| {
            io::Error::other("its libraries are larger than those of any wheel of TensorFlow")
        })?;
        Ok(count)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::messages;
    use sp_library::sample::elf_library;
    use sp_tests::assert_contains;
    use std::io::{Cursor, Write};
    use zip::write::SimpleFileOptions;

    const MEMBER: &str = "tensorflow/libtensorflow_framework.so.2";
    const LENGTH: usize = 8 << 20;

    fn wheel(libraries: &[(&str, &[u8])]) -> Wheel<Cursor<Vec<u8>>> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let header: (&str, &[u8]) = ("tensorflow/include/tensorflow/c/ops.h", b"");
        for (name, bytes) in libraries.iter().chain([&header]) {
            writer
                .start_file(*name, SimpleFileOptions::default())
                .unwrap();
            writer.write_all(bytes).unwrap();
        }
        let bytes = writer.finish().unwrap().into_inner();
        Wheel::from_reader("x.whl", Cursor::new(bytes)).unwrap()
    }

    /// Returns an ELF library with a read-only segment in each of `count` parts, each with a message.
    fn library_with_segments(count: usize) -> Vec<u8> {
        let mut bytes = elf_library(&[], false, 0);
        bytes.truncate(64);
        bytes[56..58].copy_from_slice(&(count as u16).to_le_bytes());
        let part = LENGTH / count;
        for index in 0..count {
            let (load, read) = (1_u32, 4_u32);
            let offset = (index * part + part / 2) as u64;
            bytes.extend([load, read].into_iter().flat_map(u32::to_le_bytes));
            let words = [offset, offset, offset, 100, 100, 1];
            bytes.extend(words.into_iter().flat_map(u64::to_le_bytes));
        }
        bytes.resize(LENGTH, 0);
        for index in 0..count {
            let offset = index * part + part / 2;
            let message = format!("\0'open{index}' field in SP_S must be set.\0");
            bytes[offset..offset + message.len()].copy_from_slice(message.as_bytes());
        }
        bytes
    }

    #[test]
    fn scan_of_many_segments_decompresses_the_library_once() {
        let mut wheel = wheel(&[(MEMBER, &library_with_segments(32))]);
        let mut library = wheel.library(MEMBER).unwrap();
        let found = messages::scan(&mut library).unwrap().unwrap();
        assert_eq!(found.pairs().count(), 32);
        let decompressed = MAX_DECOMPRESSED_BYTES - wheel.library_bytes;
        assert!(decompressed < 2 * LENGTH as u64, "{decompressed}");
    }

    #[test]
    fn rejects_libraries_that_decompress_to_more_than_the_limit() {
        let other = "tensorflow/libtensorflow_cc.so.2";
        let zeros = vec![0; LENGTH];
        let mut wheel = wheel(&[(MEMBER, &zeros), (other, &zeros)]);
        wheel.library_bytes = LENGTH as u64 + 99;
        let mut read = |member: &str| {
            let mut library = wheel.library(member).unwrap();
            let last = LENGTH as u64 - 1;
            library.read_range(last..last + 9)
        };
        assert_eq!(read(MEMBER).unwrap(), [0]);
        let error = read(other).unwrap_err().to_string();
        assert!(error.contains("larger than those of any wheel"), "{error}");
    }

    #[test]
    fn rejects_more_libraries_than_any_wheel_has() {
        let name = |index: usize| format!("tensorflow/libtensorflow_{index}.so");
        let names: Vec<String> = (0..=MAX_LIBRARIES).map(name).collect();
        let members: Vec<(&str, &[u8])> = names.iter().map(|name| (&**name, &b""[..])).collect();
        let error = wheel(&members).libraries().unwrap_err().to_string();
        assert_contains(&error, "65 libraries, expected at most 64");
        assert_eq!(wheel(&members[1..]).libraries().unwrap().len(), 64);
    }
}
