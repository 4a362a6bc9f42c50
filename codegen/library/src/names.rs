//! The names in a plugin's library: exported, imported, and carried as text in what is loaded.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::binary::{Binary, LibraryError, Wanted};
use crate::elf::{self, Named};

/// Names of TensorFlow's functions.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// What the library defines.
    pub exported: BTreeSet<String>,
    /// What the dynamic linker must find for it.
    pub imported: BTreeSet<String>,
    /// What stands in its data, ended by a NUL, as `dlsym` wants it.
    pub carried: BTreeSet<String>,
}

impl Names {
    /// Those that are `wanted` in a library; `name` is for messages.
    pub fn read(name: &str, bytes: Vec<u8>, wanted: Wanted<'_>) -> Result<Self, LibraryError> {
        let carried = carried(&bytes, wanted);
        let linked = Self::linked(name, bytes, wanted)?;
        Ok(Self { carried, ..linked })
    }

    /// The same without what is carried, which takes reading every byte.
    pub fn linked(name: &str, bytes: Vec<u8>, wanted: Wanted<'_>) -> Result<Self, LibraryError> {
        let name = name.to_owned();
        let mut library = Memory { name, bytes };
        let exported = elf::names(&mut library, wanted, Named::Exports)?;
        let imported = elf::names(&mut library, wanted, Named::Imports)?;
        Ok(Self {
            exported: exported.names.into_iter().collect(),
            imported: imported.names.into_iter().collect(),
            carried: BTreeSet::new(),
        })
    }
}

/// Debug information and the symbol table, which name more than is used, are never loaded.
fn carried(bytes: &[u8], wanted: Wanted<'_>) -> BTreeSet<String> {
    let loaded = elf::loaded(bytes).into_iter();
    let parts = loaded.filter_map(|range| bytes.get(range));
    parts.flat_map(|part| texts(part, wanted)).collect()
}

/// A compiler may set a text behind another one without a NUL between them, so every ending counts.
fn texts(bytes: &[u8], wanted: Wanted<'_>) -> BTreeSet<String> {
    const LONGEST: usize = 200;
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut found = BTreeSet::new();
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == 0);
    for (end, _) in ends {
        let run = bytes[..end]
            .iter()
            .rev()
            .take(LONGEST)
            .take_while(|byte| is_word(byte));
        let word = &bytes[end - run.count()..end];
        let endings = (0..word.len()).filter_map(|at| std::str::from_utf8(&word[at..]).ok());
        found.extend(endings.filter(|text| wanted(text)).map(String::from));
    }
    found
}

/// A library that is in memory.
struct Memory {
    name: String,
    bytes: Vec<u8>,
}

impl Binary for Memory {
    type Error = LibraryError;

    fn name(&self) -> String {
        self.name.clone()
    }

    fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&mut self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>, LibraryError> {
        let within = |at: u64| {
            usize::try_from(at)
                .unwrap_or(usize::MAX)
                .min(self.bytes.len())
        };
        let part = |range: &Range<u64>| {
            let end = within(range.end);
            self.bytes[within(range.start).min(end)..end].to_vec()
        };
        Ok(ranges.iter().map(part).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::library;

    #[test]
    fn names_are_told_apart_by_what_they_are_for() {
        let mut bytes = library(&["SE_InitPlugin", "_ZN1x"], false, 64);
        let text = b"see TF_NewStatus\0oneTF_DeleteStatus\0TF_Never";
        let at = bytes.windows(8).position(|part| part == [0xcc; 8]).unwrap();
        bytes[at..at + text.len()].copy_from_slice(text);
        let wanted = |name: &str| name.starts_with("TF_") || name.starts_with("SE_");
        let names = Names::read("x.so", bytes, &wanted).unwrap();
        assert_eq!(names.exported, BTreeSet::from(["SE_InitPlugin".into()]));
        assert_eq!(names.imported, BTreeSet::from(["TF_Undefined".into()]));
        for name in ["TF_NewStatus", "TF_DeleteStatus", "TF_Undefined"] {
            assert!(names.carried.contains(name), "{name}");
        }
        assert!(
            !names
                .carried
                .iter()
                .any(|name| name.starts_with("TF_Never"))
        );
    }

    #[test]
    fn what_is_no_library_is_said_to_be_none() {
        let read = Names::read("x.so", b"#!/bin/sh".to_vec(), &|_| true);
        assert!(read.unwrap_err().to_string().contains("x.so"));
    }
}
