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

/// The tables of symbols of an ELF library.
struct Tables {
    hash: Vec<u8>,
    symbols: Vec<u8>,
    strings: Vec<u8>,
    versions: Vec<u8>,
    definitions: Vec<u8>,
}

impl Tables {
    fn new(names: &[&str]) -> Self {
        let mut tables = Self {
            hash: gnu_hash_table(names),
            symbols: vec![0; SYMBOL_SIZE],
            strings: b"\0wanted\0VERSION\0base\0".to_vec(),
            versions: vec![0; 4],
            definitions: version_definitions(),
        };
        tables.add_symbol("TF_Undefined", 0);
        names.iter().for_each(|name| tables.add_symbol(name, 7));
        let versions = &mut tables.versions;
        versions.extend(names.iter().flat_map(|_| 2_u16.to_le_bytes()));
        versions.resize(versions.len().next_multiple_of(8), 0);
        tables
    }

    fn add_symbol(&mut self, name: &str, section: u16) {
        let mut entry = vec![0; SYMBOL_SIZE];
        entry[..4].copy_from_slice(&(self.strings.len() as u32).to_le_bytes());
        entry[4] = 0x12;
        entry[6..8].copy_from_slice(&section.to_le_bytes());
        self.strings.extend(name.bytes().chain([0]));
        self.symbols.extend(entry);
    }

    /// Returns each table with its tag and its alignment, in the order of a linker.
    fn in_order(&self, lld: bool) -> [(u64, &[u8], usize); 5] {
        let hash = (tag::GNU_HASH, &self.hash[..], 8);
        let symbols = (tag::SYMTAB, &self.symbols[..], 8);
        let strings = (tag::STRTAB, &self.strings[..], if lld { 1 } else { 8 });
        let versions = (tag::VERSYM, &self.versions[..], 8);
        let definitions = (tag::VERDEF, &self.definitions[..], 8);
        match lld {
            true => [symbols, versions, definitions, hash, strings],
            false => [hash, symbols, strings, versions, definitions],
        }
    }
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn gnu_hash_table(names: &[&str]) -> Vec<u8> {
    let mut hash = words(&[1, 2, 1, 6, u32::MAX, u32::MAX, 2]);
    for (index, name) in names.iter().enumerate() {
        let last = u32::from(index + 1 == names.len());
        hash.extend(((gnu_hash(name) & !1) | last).to_le_bytes());
    }
    hash
}

fn version_definitions() -> Vec<u8> {
    let base = [0x0001_0001, 0x0001_0001, 0, 20, 28, 16, 0];
    let version = [1, 0x0001_0002, elf_hash("VERSION"), 20, 0, 8, 0];
    words(&[base, version].concat())
}

/// Returns an ELF library that exports `names` and imports `TF_Undefined`. Its tables are in the order of `ld` (hash
/// table first) or of `lld` (symbols first). `padding` bytes separate them from the dynamic section.
pub fn elf_library(names: &[&str], lld: bool, padding: usize) -> Vec<u8> {
    Tables::new(names).to_library(lld, padding)
}

/// Returns an ELF library in which each of `symbols` symbols and `versions` versions has the same name of `length` bytes.
pub fn elf_library_with_shared_names(symbols: usize, versions: usize, length: usize) -> Vec<u8> {
    let mut tables = Tables::new(&["TF_A"]);
    let name = tables.strings.len() as u32;
    tables.strings.extend(vec![b'x'; length]);
    tables.strings.push(0);
    let mut symbol = tables.symbols.split_off(tables.symbols.len() - SYMBOL_SIZE);
    symbol[..4].copy_from_slice(&name.to_le_bytes());
    tables.symbols.extend(symbol.repeat(symbols));
    let version = words(&[1, 0x0001_0002, 0, 20, 28, name, 0]);
    tables.definitions = version.repeat(versions);
    tables.definitions.extend(version_definitions());
    tables.to_library(false, 16)
}

impl Tables {
    fn to_library(&self, lld: bool, padding: usize) -> Vec<u8> {
        let tables = self;
        let mut bytes = vec![0; 64 + 2 * PROGRAM_HEADER_SIZE];
        let mut tags = vec![(tag::STRSZ, tables.strings.len() as u64)];
        for (tag, table, alignment) in tables.in_order(lld) {
            bytes.resize(bytes.len().next_multiple_of(alignment), 0);
            tags.push((tag, bytes.len() as u64));
            bytes.extend(table);
        }
        bytes.resize((bytes.len() + padding).next_multiple_of(8), 0xcc);
        let dynamic = bytes.len() as u64;
        tags.push((0, 0));
        let tags = tags.iter().flat_map(|&(tag, value)| [tag, value]);
        bytes.extend(tags.flat_map(u64::to_le_bytes));
        write_headers(&mut bytes, dynamic);
        bytes
    }
}

/// Writes the header of the file, and those of the whole library and of its dynamic section.
fn write_headers(bytes: &mut [u8], dynamic: u64) {
    let length = bytes.len() as u64;
    bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
    bytes[32..40].copy_from_slice(&64_u64.to_le_bytes());
    bytes[56..58].copy_from_slice(&2_u16.to_le_bytes());
    let parts = [
        (PT_LOAD, 0, length),
        (PT_DYNAMIC, dynamic, length - dynamic),
    ];
    for (index, (kind, offset, size)) in parts.into_iter().enumerate() {
        let header = 64 + index * PROGRAM_HEADER_SIZE;
        bytes[header..header + 4].copy_from_slice(&kind.to_le_bytes());
        for (field, value) in [(8, offset), (16, offset), (32, size)] {
            bytes[header + field..header + field + 8].copy_from_slice(&u64::to_le_bytes(value));
        }
    }
}

fn elf_hash(name: &str) -> u32 {
    name.bytes().fold(0_u32, |hash, byte| {
        let hash = (hash << 4).wrapping_add(u32::from(byte));
        let high = hash & 0xf000_0000;
        (hash ^ (high >> 24)) & !high
    })
}
