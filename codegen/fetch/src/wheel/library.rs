//! Libraries in a wheel, read in parts.

use super::{Wheel, unreadable};
use crate::error::FetchError;
use sp_library::binary::{Binary, PART_BYTES};
use sp_parse::source::SourceError;
use std::io::{self, Read, Seek};
use std::ops::Range;
use zip::result::ZipError;

/// The largest library that is read, unpacked. One above 2 GiB cannot be linked in the usual code model.
const LIBRARY_MOST: u64 = 3 << 30;

impl<R: Read + Seek> Wheel<R> {
    /// TensorFlow's own libraries, by the path of their member.
    pub fn libraries(&self) -> Vec<String> {
        let names = self.members.keys();
        names.filter(|name| is_library(name)).cloned().collect()
    }

    /// One of them, to be read in parts.
    pub fn library(&mut self, member: &str) -> Result<Library<'_, R>, FetchError> {
        let found = self.members.get(member).copied();
        let index = found.ok_or_else(|| unreadable(&self.origin, ZipError::FileNotFound))?;
        let data = self.archive.by_index_data(index);
        let data = data.map_err(|error| unreadable(&self.origin, error))?;
        let (length, copy) = (data.size(), data.crc32());
        drop(data);
        if length > LIBRARY_MOST {
            return Err(FetchError::from(SourceError::MemberTooLarge {
                origin: self.origin.clone(),
                member: member.escape_default().to_string(),
                limit: LIBRARY_MOST,
            }));
        }
        Ok(Library {
            wheel: self,
            member: member.to_owned(),
            index,
            length,
            copy,
        })
    }
}

/// A library in a wheel. What lies behind a part is inflated only up to that part.
pub struct Library<'a, R> {
    wheel: &'a mut Wheel<R>,
    member: String,
    index: usize,
    length: u64,
    copy: u32,
}

impl<R> Library<'_, R> {
    /// Equal for copies of a library, which wheels for macOS have.
    pub fn fingerprint(&self) -> (u64, u32) {
        (self.length, self.copy)
    }
}

impl<R: Read + Seek> Binary for Library<'_, R> {
    type Error = FetchError;

    fn name(&self) -> String {
        format!("{} in {}", self.member, self.wheel.origin)
    }

    fn length(&self) -> u64 {
        self.length
    }

    fn read_ranges(&mut self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>, FetchError> {
        let origin = &self.wheel.origin;
        let lost = |error| unreadable(origin, ZipError::Io(error));
        let mut member = self
            .wheel
            .archive
            .by_index(self.index)
            .map_err(|error| unreadable(origin, error))?;
        let (mut at, mut parts) = (0, Vec::new());
        for range in ranges {
            if range.start < at {
                // Deflate runs forwards only.
                drop(member);
                member = self
                    .wheel
                    .archive
                    .by_index(self.index)
                    .map_err(|error| unreadable(origin, error))?;
                at = 0;
            }
            let skipped = io::copy(&mut member.by_ref().take(range.start - at), &mut io::sink());
            at += skipped.map_err(lost)?;
            let mut part = Vec::new();
            let wanted = range.end.saturating_sub(range.start);
            member
                .by_ref()
                .take(wanted)
                .read_to_end(&mut part)
                .map_err(lost)?;
            at += part.len() as u64;
            parts.push(part);
        }
        Ok(parts)
    }

    /// Inflates the member once; reading part by part would begin anew for each.
    fn stream_range(
        &mut self,
        range: Range<u64>,
        see: &mut dyn FnMut(&[u8]),
    ) -> Result<(), FetchError> {
        let origin = &self.wheel.origin;
        let lost = |error| unreadable(origin, ZipError::Io(error));
        let member = self.wheel.archive.by_index(self.index);
        let mut member = member.map_err(|error| unreadable(origin, error))?;
        io::copy(&mut member.by_ref().take(range.start), &mut io::sink()).map_err(lost)?;
        let mut rest = member.take(range.end.saturating_sub(range.start));
        let mut part = vec![0; PART_BYTES as usize];
        loop {
            match rest.read(&mut part).map_err(lost)? {
                0 => return Ok(()),
                length => see(&part[..length]),
            }
        }
    }
}

/// Libraries of TensorFlow's own directly in `tensorflow/` or `tensorflow/python/`; of the hundred
/// extension modules around them none exports a C function (looked at in 2.5, 2.12, 2.20 and 2.21).
fn is_library(member: &str) -> bool {
    let Some((folder, name)) = member.rsplit_once('/') else {
        return false;
    };
    let data = folder.split_once(".data/").map_or(folder, |(_, rest)| {
        rest.strip_prefix("purelib/")
            .or(rest.strip_prefix("platlib/"))
            .unwrap_or(rest)
    });
    let shared = name.ends_with(".so") || name.contains(".so.") || name.ends_with(".dylib");
    shared && name.contains("tensorflow") && matches!(data, "tensorflow" | "tensorflow/python")
}
