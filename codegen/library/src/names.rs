//! The names of functions in a plugin's library: exported, imported, or present as text, with which the plugin may call
//! `dlsym`.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::binary::{Binary, LibraryError, NameFilter, copy_ranges};
use crate::elf::{self, SymbolKind};

/// Names of functions in a library.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LibraryNames {
    /// The functions that the library defines.
    pub exported: BTreeSet<String>,
    /// The functions that the dynamic linker must find in other libraries.
    pub imported: BTreeSet<String>,
    /// The names in its loaded data that end with a NUL, as an argument of `dlsym` does.
    pub literals: BTreeSet<String>,
}

impl LibraryNames {
    /// Reads the `wanted` names of a library. `name` is for messages.
    ///
    /// # Errors
    /// Returns an error if `bytes` are not a library.
    pub fn read(name: &str, bytes: &[u8], wanted: NameFilter<'_>) -> Result<Self, LibraryError> {
        let literals = find_literals(bytes, wanted);
        let linked = Self::read_linked(name, bytes, wanted)?;
        Ok(Self { literals, ..linked })
    }

    /// Reads the exported and imported names only: finding the literals takes a search through every byte.
    ///
    /// # Errors
    /// Returns an error if `bytes` are not a library.
    pub fn read_linked(
        name: &str,
        bytes: &[u8],
        wanted: NameFilter<'_>,
    ) -> Result<Self, LibraryError> {
        let name = name.to_owned();
        let mut library = LoadedLibrary { name, bytes };
        let exported = elf::symbols(&mut library, wanted, SymbolKind::Exported)?;
        let imported = elf::symbols(&mut library, wanted, SymbolKind::Imported)?;
        Ok(Self {
            exported: exported.names.into_iter().collect(),
            imported: imported.names.into_iter().collect(),
            literals: BTreeSet::new(),
        })
    }
}

/// Returns the wanted literals in the loaded ranges. Debug information and the full symbol table, which contain more
/// names than the code uses, are not loaded.
fn find_literals(bytes: &[u8], wanted: NameFilter<'_>) -> BTreeSet<String> {
    let loaded = elf::loaded_ranges(bytes).into_iter();
    let parts = loaded.filter_map(|range| bytes.get(range));
    parts.flat_map(|part| literals_in(part, wanted)).collect()
}

/// Returns the wanted literals in `bytes`. Adjacent texts may lack a NUL between them, so every suffix of a word is a
/// candidate.
fn literals_in(bytes: &[u8], wanted: NameFilter<'_>) -> BTreeSet<String> {
    const LONGEST: usize = 200;
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut literals = BTreeSet::new();
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == 0);
    for (end, _) in ends {
        let run = bytes[..end]
            .iter()
            .rev()
            .take(LONGEST)
            .take_while(|byte| is_word(byte));
        let word = &bytes[end - run.count()..end];
        let suffixes = (0..word.len()).filter_map(|at| std::str::from_utf8(&word[at..]).ok());
        literals.extend(suffixes.filter(|text| wanted(text)).map(String::from));
    }
    literals
}

/// A library whose bytes are all in memory.
struct LoadedLibrary<'a> {
    name: String,
    bytes: &'a [u8],
}

impl Binary for LoadedLibrary<'_> {
    type Error = LibraryError;

    fn name(&self) -> String {
        self.name.clone()
    }

    fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_ranges(&mut self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>, LibraryError> {
        Ok(copy_ranges(self.bytes, ranges))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::elf_library;

    #[test]
    fn distinguishes_exported_imported_and_literal_names() {
        let mut bytes = elf_library(&["SE_InitPlugin", "_ZN1x"], false, 64);
        let text = b"see TF_NewStatus\0oneTF_DeleteStatus\0TF_Never";
        let at = bytes.windows(8).position(|part| part == [0xcc; 8]).unwrap();
        bytes[at..at + text.len()].copy_from_slice(text);
        let wanted = |name: &str| name.starts_with("TF_") || name.starts_with("SE_");
        let names = LibraryNames::read("x.so", &bytes, &wanted).unwrap();
        assert_eq!(names.exported, BTreeSet::from(["SE_InitPlugin".into()]));
        assert_eq!(names.imported, BTreeSet::from(["TF_Undefined".into()]));
        for name in ["TF_NewStatus", "TF_DeleteStatus", "TF_Undefined"] {
            assert!(names.literals.contains(name), "{name}");
        }
        let mut literals = names.literals.iter();
        assert!(!literals.any(|name| name.starts_with("TF_Never")));
    }

    #[test]
    fn rejects_file_that_is_not_a_library() {
        let read = LibraryNames::read("x.so", b"#!/bin/sh", &|_| true);
        assert!(read.unwrap_err().to_string().contains("x.so"));
    }
}
