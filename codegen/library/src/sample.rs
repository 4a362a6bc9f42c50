//! Synthetic libraries for the tests of this crate and of those that depend on it.

use crate::binary::{Binary, LibraryError, copy_ranges};
use crate::elf::{PROGRAM_HEADER_SIZE, PT_DYNAMIC, PT_LOAD, SYMBOL_SIZE, tag};
use std::ops::Range;

/// A library in memory that records how far it was read.
pub struct MemoryLibrary {
    /// The contents of the library.
    pub bytes: Vec<u8>,
    /// The end of the furthest range read so far.
    pub furthest: u64,
}

impl MemoryLibrary {
    /// Returns a library with these contents.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, furthest: 0 }
    }
}

impl Binary for MemoryLibrary {
    type Error = LibraryError;

    fn name(&self) -> String {
        "memory".into()
    }
    fn length(&self) -> u64 {
        self.bytes.len() as u64
    }
    fn read_ranges(&mut self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>, LibraryError> {
        let length = self.length();
        let furthest = ranges.iter().map(|range| range.end.min(length)).max();
        self.furthest = self.furthest.max(furthest.unwrap_or(0));
        Ok(copy_ranges(&self.bytes, ranges))
    }
}

fn gnu_hash(name: &str) -> u32 {
    let step = |hash: u32, byte: u8| hash.wrapping_mul(33).wrapping_add(u32::from(byte));
    name.bytes().fold(5381, step)
}

/// Returns an ELF library that exports `names` and imports `TF_Undefined`. Its tables are in the order of `ld` (hash
/// table first) or of `lld` (symbols first). `padding` bytes separate them from the dynamic section.
pub fn elf_library(names: &[&str], lld: bool, padding: usize) -> Vec<u8> {
    let mut strings = b"\0wanted\0VERSION\0base\0".to_vec();
    let mut symbols = vec![0; SYMBOL_SIZE];
    let mut symbol = |strings: &mut Vec<u8>, name: &str, section: u16| {
        let mut entry = vec![0; SYMBOL_SIZE];
        entry[..4].copy_from_slice(&(strings.len() as u32).to_le_bytes());
        entry[4] = 0x12;
        entry[6..8].copy_from_slice(&section.to_le_bytes());
        strings.extend(name.bytes().chain([0]));
        symbols.extend(entry);
    };
    symbol(&mut strings, "TF_Undefined", 0);
    names.iter().for_each(|name| symbol(&mut strings, name, 7));
    let count = names.len() as u32;
    let words = |words: &[u32]| {
        words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let mut hash = words(&[1, 2, 1, 6, u32::MAX, u32::MAX, 2]);
    for (index, name) in names.iter().enumerate() {
        let last = u32::from(index + 1 == names.len());
        hash.extend(((gnu_hash(name) & !1) | last).to_le_bytes());
    }
    let mut versions = vec![0; 4];
    versions.extend((0..count).flat_map(|_| 2_u16.to_le_bytes()));
    versions.resize(versions.len().next_multiple_of(8), 0);
    let mut definitions = words(&[0x0001_0001, 0x0001_0001, 0, 20, 28, 16, 0]);
    definitions.extend(words(&[
        0x0000_0001,
        0x0001_0002,
        elf_hash("VERSION"),
        20,
        0,
        8,
        0,
    ]));
    let (order, hash_index) = match lld {
        true => (vec![&symbols, &versions, &definitions, &hash, &strings], 3),
        false => (vec![&hash, &symbols, &strings, &versions, &definitions], 0),
    };
    let mut bytes = vec![0; 64 + 2 * PROGRAM_HEADER_SIZE];
    let mut offsets = Vec::new();
    for table in &order {
        bytes.resize(
            bytes
                .len()
                .next_multiple_of(if table == &&strings && lld { 1 } else { 8 }),
            0,
        );
        offsets.push(bytes.len() as u64);
        bytes.extend(table.iter());
    }
    bytes.resize((bytes.len() + padding).next_multiple_of(8), 0xcc);
    let offset_of =
        |table: &Vec<u8>| offsets[order.iter().position(|other| *other == table).unwrap()];
    let tags = [
        (tag::GNU_HASH, offsets[hash_index]),
        (tag::SYMTAB, offset_of(&symbols)),
        (tag::STRTAB, offset_of(&strings)),
        (tag::STRSZ, strings.len() as u64),
        (tag::VERSYM, offset_of(&versions)),
        (tag::VERDEF, offset_of(&definitions)),
        (0, 0),
    ];
    let dynamic = bytes.len() as u64;
    bytes.extend(
        tags.iter()
            .flat_map(|(tag, value)| [tag.to_le_bytes(), value.to_le_bytes()])
            .flatten(),
    );
    let length = bytes.len() as u64;
    bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
    bytes[32..40].copy_from_slice(&64_u64.to_le_bytes());
    bytes[56..58].copy_from_slice(&2_u16.to_le_bytes());
    for (index, (kind, offset, size)) in [
        (PT_LOAD, 0, length),
        (PT_DYNAMIC, dynamic, length - dynamic),
    ]
    .into_iter()
    .enumerate()
    {
        let header = 64 + index * PROGRAM_HEADER_SIZE;
        bytes[header..header + 4].copy_from_slice(&kind.to_le_bytes());
        for (field, value) in [(8, offset), (16, offset), (32, size)] {
            bytes[header + field..header + field + 8].copy_from_slice(&u64::to_le_bytes(value));
        }
    }
    bytes
}

fn elf_hash(name: &str) -> u32 {
    name.bytes().fold(0_u32, |hash, byte| {
        let hash = (hash << 4).wrapping_add(u32::from(byte));
        let high = hash & 0xf000_0000;
        (hash ^ (high >> 24)) & !high
    })
}
