//! A section of an ELF library (64 bits, little-endian), found by its name in the section headers.

use crate::binary::{u16_at, u32_at, u64_at};
use crate::elf::is_elf;

const SECTION_HEADER_SIZE: usize = 64;
/// `SHT_NOBITS`: the section has no bytes in the file.
const NO_BITS: u32 = 8;

/// Returns the bytes of the section `name`, or `None` if the library has no such section or its headers are malformed.
pub fn find_section<'a>(library: &'a [u8], name: &str) -> Option<&'a [u8]> {
    if !is_elf(library) {
        return None;
    }
    let start = usize::try_from(u64_at(library, 40)?).ok()?;
    let count = usize::from(u16_at(library, 60)?);
    let header = |index: usize| {
        let at = start.checked_add(index * SECTION_HEADER_SIZE)?;
        library.get(at..)?.get(..SECTION_HEADER_SIZE)
    };
    let names = bytes(library, header(usize::from(u16_at(library, 62)?))?)?;
    let mut headers = (0..count).map_while(header);
    let found = headers.find(|header| has_name(header, names, name))?;
    bytes(library, found)
}

fn bytes<'a>(library: &'a [u8], header: &[u8]) -> Option<&'a [u8]> {
    let number = |at: usize| usize::try_from(u64_at(header, at)?).ok();
    let (offset, size) = (number(24)?, number(32)?);
    let has_bytes = u32_at(header, 4)? != NO_BITS;
    library.get(offset..)?.get(..size).filter(|_| has_bytes)
}

fn has_name(header: &[u8], names: &[u8], name: &str) -> bool {
    let start = u32_at(header, 0).and_then(|it| usize::try_from(it).ok());
    let found = start.and_then(|start| names.get(start..));
    found.is_some_and(|found| {
        let rest = found.strip_prefix(name.as_bytes());
        rest.is_some_and(|rest| rest.first() == Some(&0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a library with the sections `.names` and `text`, the second one with `content`.
    fn library(content: &[u8]) -> Vec<u8> {
        let names = b"\0.names\0text\0";
        let mut bytes = vec![0; 64];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes.extend(names);
        bytes.extend(content);
        let headers = bytes.len() as u64;
        bytes[40..48].copy_from_slice(&headers.to_le_bytes());
        bytes[60..64].copy_from_slice(&[2, 0, 0, 0]);
        let contents = [
            (1_u32, 64, names.len()),
            (8, 64 + names.len(), content.len()),
        ];
        for (name, offset, size) in contents {
            let mut header = [0; SECTION_HEADER_SIZE];
            header[..4].copy_from_slice(&name.to_le_bytes());
            header[4..8].copy_from_slice(&1_u32.to_le_bytes());
            header[24..32].copy_from_slice(&(offset as u64).to_le_bytes());
            header[32..40].copy_from_slice(&(size as u64).to_le_bytes());
            bytes.extend(header);
        }
        bytes
    }

    #[test]
    fn finds_section_by_its_whole_name() {
        let bytes = library(b"content");
        assert_eq!(find_section(&bytes, "text"), Some(&b"content"[..]));
        assert_eq!(find_section(&bytes, "tex"), None);
        assert_eq!(find_section(&bytes, "texts"), None);
        assert_eq!(find_section(b"#!/bin/sh", "text"), None);
    }

    #[test]
    fn malformed_library_never_panics() {
        let bytes = library(b"content");
        for at in 0..bytes.len() {
            let _ = find_section(&bytes[..at], "text");
            for value in [0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = find_section(&changed, "text");
            }
        }
    }
}
