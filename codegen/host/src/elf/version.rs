//! The version of a library's symbols, as glibc reads it: a table with an entry for each symbol, and two
//! definitions, the library itself and its one version. A plugin that was linked against a library with
//! versions does not load with one that has none.

use super::WORD;
use super::hash::hash;

/// Numbers of the two definitions.
const BASE: u16 = 1;
const OWN: u16 = 2;
const DEFINITION: usize = 20;
const NAME: usize = 8;

/// Both tables. They contain string offsets and no addresses.
pub(super) struct VersionTables {
    symbols: Vec<u8>,
    definitions: Vec<u8>,
}

impl VersionTables {
    /// Returns the tables for a library's name and its version, each with its string offset. The exports, which
    /// come before the table, have the version, or the base version if `in_base` is true.
    pub fn new([base, own]: [(&str, u32); 2], exports: usize, in_base: bool) -> Self {
        let number = if in_base { BASE } else { OWN };
        let numbers = std::iter::repeat_n(number, exports);
        let numbers = [0].into_iter().chain(numbers).chain([BASE]);
        let mut symbols: Vec<u8> = numbers.flat_map(u16::to_le_bytes).collect();
        symbols.resize(symbols.len().next_multiple_of(WORD), 0);
        let next = (DEFINITION + NAME) as u32;
        let definitions = [definition(base, BASE, next), definition(own, OWN, 0)].concat();
        Self {
            symbols,
            definitions,
        }
    }

    pub fn len(&self) -> usize {
        self.symbols.len() + self.definitions.len()
    }

    pub fn bytes(self) -> Vec<u8> {
        [self.symbols, self.definitions].concat()
    }

    /// Returns the entries of the dynamic section for tables at `start`.
    pub fn entries(&self, start: usize) -> [(u64, usize); 3] {
        [
            (0x6fff_fff0, start),
            (0x6fff_fffc, start + self.symbols.len()),
            (0x6fff_fffd, 2),
        ]
    }
}

/// Returns one definition with its name. The base has a flag.
fn definition((text, name): (&str, u32), number: u16, next: u32) -> Vec<u8> {
    let flags = u16::from(number == BASE);
    let halves = [1, flags, number, 1].into_iter().flat_map(u16::to_le_bytes);
    let words = [hash(text), DEFINITION as u32, next, name, 0];
    halves
        .chain(words.into_iter().flat_map(u32::to_le_bytes))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbol_versions_are_followed_by_definitions() {
        let versions = VersionTables::new([("libdemo.so.1", 5), ("DEMO", 9)], 2, false);
        assert_eq!(versions.symbols, [0, 0, 2, 0, 2, 0, 1, 0]);
        assert_eq!(versions.definitions.len(), 2 * (DEFINITION + NAME));
        assert_eq!(versions.entries(0x100)[1], (0x6fff_fffc, 0x108));
        assert_eq!(versions.len(), versions.bytes().len());
    }
}
