//! Libraries made for tests, of this crate and of those that depend on it.

use crate::binary::{Binary, LibraryError};
use crate::elf::{DYNAMIC, LOAD, PROGRAM_HEADER, SYMBOL, tag};
use std::ops::Range;

/// A library in memory, and how far it was read.
pub struct Memory {
    /// Its contents.
    pub bytes: Vec<u8>,
    /// The end of what was read so far.
    pub furthest: u64,
}

impl Memory {
    /// Returns a library of which nothing was read.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, furthest: 0 }
    }
}

impl Binary for Memory {
    type Error = LibraryError;

    fn name(&self) -> String {
        "memory".into()
    }
    fn length(&self) -> u64 {
        self.bytes.len() as u64
    }
    fn read(&mut self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>, LibraryError> {
        let length = self.length();
        let furthest = ranges.iter().map(|range| range.end.min(length)).max();
        self.furthest = self.furthest.max(furthest.unwrap_or(0));
        let part = |range: &Range<u64>| {
            let end = range.end.min(length);
            self.bytes[range.start.min(end) as usize..end as usize].to_vec()
        };
        Ok(ranges.iter().map(part).collect())
    }
}

fn gnu_hash(name: &str) -> u32 {
    let step = |hash: u32, byte: u8| hash.wrapping_mul(33).wrapping_add(u32::from(byte));
    name.bytes().fold(5381, step)
}

/// A library that exports `names` and wants one symbol itself, laid out as `ld` does (hash table
/// first) or as `lld` does (symbols first); its dynamic section lies behind `padding` bytes.
pub fn library(names: &[&str], lld: bool, padding: usize) -> Vec<u8> {
    let mut strings = b"\0wanted\0VERSION\0base\0".to_vec();
    let mut symbols = vec![0; SYMBOL];
    let mut symbol = |strings: &mut Vec<u8>, name: &str, section: u16| {
        let mut entry = vec![0; SYMBOL];
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
    let (order, hash_at) = match lld {
        true => (vec![&symbols, &versions, &definitions, &hash, &strings], 3),
        false => (vec![&hash, &symbols, &strings, &versions, &definitions], 0),
    };
    let mut bytes = vec![0; 64 + 2 * PROGRAM_HEADER];
    let mut places = Vec::new();
    for table in &order {
        bytes.resize(
            bytes
                .len()
                .next_multiple_of(if table == &&strings && lld { 1 } else { 8 }),
            0,
        );
        places.push(bytes.len() as u64);
        bytes.extend(table.iter());
    }
    bytes.resize((bytes.len() + padding).next_multiple_of(8), 0xcc);
    let at = |table: &Vec<u8>| places[order.iter().position(|one| *one == table).unwrap()];
    let tags = [
        (tag::GNU_HASH, places[hash_at]),
        (tag::SYMTAB, at(&symbols)),
        (tag::STRTAB, at(&strings)),
        (tag::STRSZ, strings.len() as u64),
        (tag::VERSYM, at(&versions)),
        (tag::VERDEF, at(&definitions)),
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
    for (index, (kind, offset, size)) in [(LOAD, 0, length), (DYNAMIC, dynamic, length - dynamic)]
        .into_iter()
        .enumerate()
    {
        let at = 64 + index * PROGRAM_HEADER;
        bytes[at..at + 4].copy_from_slice(&kind.to_le_bytes());
        for (place, value) in [(8, offset), (16, offset), (32, size)] {
            bytes[at + place..at + place + 8].copy_from_slice(&u64::to_le_bytes(value));
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
