//! Libraries whose tables are cheap to write and dear to read: the search for them is linear in the file's size, and the
//! names of one string are not copied without end.

use crate::elf::{self, SYMBOL_SIZE};
use crate::sample::{MemoryLibrary, elf_library, elf_library_with_shared_names};
use crate::{macho, names::LibraryNames, prefix};
use proptest::collection::vec;
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// The longest time for a library of this file, in a build without optimization on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

fn all(_: &str) -> bool {
    true
}

/// Reads a library by each of its readers.
fn read_all(bytes: &[u8]) -> [Option<String>; 2] {
    let library = || MemoryLibrary::new(bytes.to_vec());
    let _ = prefix::exports(&mut library(), &all);
    let _ = elf::read_dependencies(bytes);
    let _ = macho::exports(&mut library(), &all);
    let exported = elf::exports(&mut library(), &all).err();
    let linked = LibraryNames::read("x.so", bytes, &all).err();
    [exported, linked].map(|error| error.map(|error| error.to_string()))
}

/// Returns an ELF file without segments that are loaded, and with these words after its headers.
fn elf_with_words(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    let mut bytes = elf_library(&[], false, 0);
    bytes.truncate(64 + 2 * elf::PROGRAM_HEADER_SIZE);
    bytes.extend(words.into_iter().flat_map(u32::to_le_bytes));
    bytes
}

#[test]
fn search_of_overlapping_hash_tables_is_linear() {
    let started = Instant::now();
    // Many offsets at which 10,000 symbols begin. At each offset after their end begins a hash table, whose chain ends at
    // the end of the file.
    let symbols = [(0, 1024), (2, 10_000 * SYMBOL_SIZE / 4)];
    let tables = [
        (u32::MAX, SYMBOL_SIZE),
        (2, 50_000),
        (u32::MAX, SYMBOL_SIZE),
    ];
    let runs = symbols.into_iter().chain(tables);
    let words = runs.flat_map(|(word, count)| std::iter::repeat_n(word, count));
    let bytes = elf_with_words(words);
    let found = prefix::exports(&mut MemoryLibrary::new(bytes), &all).unwrap();
    assert_eq!(found, None);
    assert!(started.elapsed() < LIMIT, "{:?}", started.elapsed());
}

#[test]
fn names_that_share_a_long_string_are_an_error() {
    let started = Instant::now();
    for (symbols, versions) in [(1_000, 0), (1, 140), (1_000, 140)] {
        let bytes = elf_library_with_shared_names(symbols, versions, 20 << 20);
        let [exported, linked] = read_all(&bytes);
        let error = exported.expect("the names are too long");
        assert!(error.contains("than any real file needs"), "{error}");
        assert!(linked.is_some() || symbols == 1);
    }
    assert!(started.elapsed() < LIMIT, "{:?}", started.elapsed());
}

#[test]
fn segments_that_load_the_same_bytes_are_read_once() {
    let (segments, header) = (2_000_usize, elf::PROGRAM_HEADER_SIZE);
    let mut bytes = elf_library(&["TF_A"], false, 1 << 20);
    let length = (bytes.len() + segments * header) as u64;
    let table = bytes.len() as u64;
    bytes[32..40].copy_from_slice(&table.to_le_bytes());
    bytes[56..58].copy_from_slice(&(segments as u16).to_le_bytes());
    for _ in 0..segments {
        let mut entry = vec![0; header];
        entry[..4].copy_from_slice(&elf::PT_LOAD.to_le_bytes());
        entry[32..40].copy_from_slice(&length.to_le_bytes());
        bytes.extend(entry);
    }
    let whole = 0..length as usize;
    assert_eq!(elf::loaded_ranges(&bytes), std::slice::from_ref(&whole));
}

/// A run of equal words.
fn run() -> impl Strategy<Value = (u32, usize)> {
    let word = prop_oneof![0..4_u32, Just(u32::MAX), Just(0x0001_0001), any::<u32>()];
    (word, 1..20_000_usize)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reads_or_rejects_runs_of_any_length(runs in vec(run(), 1..8)) {
        let started = Instant::now();
        let words = runs.iter().flat_map(|(word, count)| std::iter::repeat_n(*word, *count));
        let mut bytes = elf_with_words(words);
        let _ = read_all(&bytes);
        bytes[..4].copy_from_slice(&[0xcf, 0xfa, 0xed, 0xfe]);
        let _ = read_all(&bytes);
        prop_assert!(started.elapsed() < LIMIT);
    }

    #[test]
    fn reads_or_rejects_shared_names_of_any_length(
        symbols in 1..2_000_usize,
        versions in 0..140_usize,
        length in 0..200_000_usize,
    ) {
        let started = Instant::now();
        let _ = read_all(&elf_library_with_shared_names(symbols, versions, length));
        prop_assert!(started.elapsed() < LIMIT);
    }
}
