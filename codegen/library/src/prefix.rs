//! The dynamic symbols of an ELF library, found in its first bytes alone. The dynamic section, which names the tables,
//! is at the end of a library. The tables themselves are at the front, so a wheel's member need not be inflated whole.
//!
//! The tables are found by their shape and then verified: the hash table has a hash of every exported name, and the
//! hashes of a sample of names must agree. If they do not, the caller reads the dynamic section. So it does if the search
//! exceeds its budget: a crafted library may have thousands of offsets at which long tables seem to begin.

use super::binary::{Binary, ExportedSymbols, NameFilter, name_at, u16_at, u32_at, u64_at};
use super::elf::{self, SYMBOL_SIZE, SymbolKind, is_elf, segments};
use sp_system::budget::{Budget, Exceeded};
use std::ops::Range;

/// The first table begins within this distance after the program headers.
const SEARCH_BYTES: usize = 4096;
/// Length of the first read, which contains the start of the first table.
const INITIAL_BYTES: u64 = 1 << 20;
/// Largest prefix that is read. The tables of TensorFlow 2.21 end at 100 MiB.
const MAX_PREFIX_BYTES: u64 = 256 << 20;
/// Space for the names of libraries and versions, which follow the symbols' names.
const TRAILING_NAMES_BYTES: usize = 16 << 10;
/// Number of names, at most, whose hashes are compared.
const SAMPLED_NAMES: usize = 4096;

/// Reads the exports, or returns `None` if the tables are not found at the front.
///
/// # Errors
/// Returns an error if the library cannot be read.
pub fn exports<B: Binary + ?Sized>(
    binary: &mut B,
    wanted: NameFilter<'_>,
) -> Result<Option<ExportedSymbols>, B::Error> {
    let (mut length, limit) = (INITIAL_BYTES, MAX_PREFIX_BYTES.min(binary.length()));
    loop {
        length = length.min(limit);
        let bytes = binary.read_range(0..length)?;
        let mut budget = Budget::for_input(bytes.len());
        match find_tables(&bytes, &mut budget).unwrap_or(Search::Absent) {
            Search::Truncated(needed) if length < limit => length = needed.max(length * 2),
            Search::Found(tables) if length < limit.min(tables.end()) => length = tables.end(),
            Search::Found(tables) => return Ok(tables.exports(&bytes, wanted)),
            Search::Truncated(_) | Search::Absent => return Ok(None),
        }
    }
}

/// The result of a search for the tables.
enum Search {
    /// The tables, verified as far as the bytes reach.
    Found(SymbolTables),
    /// The bytes end before the tables can be verified; an estimate of the length needed.
    Truncated(u64),
    Absent,
}

#[derive(Clone, Copy)]
struct SymbolTables {
    symbols: usize,
    count: usize,
    strings: usize,
    /// Offset of the last symbol's name.
    last_name: usize,
}

impl SymbolTables {
    /// Returns a length that contains the tables, a long last name and the versions.
    fn end(&self) -> u64 {
        (self.last_name + 2 * self.count + TRAILING_NAMES_BYTES) as u64
    }

    fn exports(self, bytes: &[u8], wanted: NameFilter<'_>) -> Option<ExportedSymbols> {
        let tables = elf::SymbolTables {
            symbols: bytes.get(self.symbols..)?,
            count: self.count,
            strings: bytes.get(self.strings..)?,
        };
        let definitions = self.definitions(bytes).unwrap_or_default();
        let selected = tables.select(SymbolKind::Exported, definitions, wanted);
        selected.ok()
    }

    /// Returns the bytes that begin with the version definitions. They are between the symbols and the names, or after the
    /// names.
    fn definitions(self, bytes: &[u8]) -> Option<&[u8]> {
        let after_symbols = self.symbols + (SYMBOL_SIZE + 2) * self.count;
        let after_names = self.last_name + 2 * self.count;
        let candidates = [after_symbols, after_names].into_iter().flat_map(|start| {
            let start = start.next_multiple_of(4).saturating_sub(8);
            (start..start + TRAILING_NAMES_BYTES).step_by(4)
        });
        let mut tables = candidates.filter(|offset| is_base_definition(bytes, *offset));
        bytes.get(tables.next()?..)
    }
}

/// Returns true for a version definition (`Elfxx_Verdef`) of version 1 with the base flag, index 1 and one name, which
/// follows the entry.
fn is_base_definition(bytes: &[u8], offset: usize) -> bool {
    let head = bytes.get(offset..offset.saturating_add(8));
    head == Some(&[1, 0, 1, 0, 1, 0, 1, 0]) && u32_at(bytes, offset + 12) == Some(20)
}

fn find_tables(bytes: &[u8], budget: &mut Budget) -> Result<Search, Exceeded> {
    let headers = segments(bytes).filter(|_| is_elf(bytes));
    let Some((end, _)) = headers else {
        return Ok(Search::Absent);
    };
    let start = end.next_multiple_of(8);
    let mut result = Search::Absent;
    for offset in (start..start.saturating_add(SEARCH_BYTES)).step_by(8) {
        for search in [hash_first, symbols_first] {
            match search(bytes, offset, budget)? {
                Search::Found(tables) => return Ok(Search::Found(tables)),
                Search::Truncated(needed) => result = Search::Truncated(needed),
                Search::Absent => {}
            }
        }
    }
    Ok(result)
}

/// Searches for the order of GNU's linkers: hash table, symbols, names.
fn hash_first(bytes: &[u8], offset: usize, budget: &mut Budget) -> Result<Search, Exceeded> {
    let hash = match HashTable::read(bytes, offset, budget)? {
        HashSearch::Found(hash) => hash,
        HashSearch::Truncated(needed) => return Ok(Search::Truncated(needed)),
        HashSearch::Absent => return Ok(Search::Absent),
    };
    let symbols = hash.end.next_multiple_of(8);
    let strings = symbols + SYMBOL_SIZE * hash.count;
    verify(bytes, &hash, symbols, strings, budget)
}

/// Searches for the order of lld: symbols, versions, hash table, names.
fn symbols_first(bytes: &[u8], symbols: usize, budget: &mut Budget) -> Result<Search, Exceeded> {
    if !is_null_symbol(bytes, symbols) || !is_plausible_symbol(bytes, symbols + SYMBOL_SIZE) {
        return Ok(Search::Absent);
    }
    let count = (0..)
        .take_while(|index| is_plausible_symbol(bytes, symbols + SYMBOL_SIZE * index))
        .count();
    budget.step(count)?;
    if count < 2 {
        return Ok(Search::Absent);
    }
    if symbols + SYMBOL_SIZE * (count + 1) > bytes.len() {
        return Ok(Search::Truncated(4 * bytes.len() as u64));
    }
    // A version for each symbol, and the versions' names, precede the hash table.
    let start = (symbols + SYMBOL_SIZE * (count - 1)).next_multiple_of(4);
    let end = symbols + SYMBOL_SIZE * count + 2 * count + TRAILING_NAMES_BYTES;
    let mut result = Search::Absent;
    for offset in (start..end).step_by(4) {
        match HashTable::read(bytes, offset, budget)? {
            HashSearch::Found(hash) if hash.count <= count + 1 => {
                if let found @ Search::Found(_) = verify(bytes, &hash, symbols, hash.end, budget)? {
                    return Ok(found);
                }
            }
            HashSearch::Truncated(needed) => result = Search::Truncated(needed),
            HashSearch::Found(_) | HashSearch::Absent => {}
        }
    }
    Ok(match end > bytes.len() {
        true => Search::Truncated(end as u64),
        false => result,
    })
}

/// A GNU hash table.
struct HashTable {
    /// Index of the first hashed symbol.
    first: usize,
    /// Number of symbols in the library.
    count: usize,
    chains: usize,
    end: usize,
}

/// The result of reading a hash table.
enum HashSearch {
    Found(HashTable),
    /// The bytes end before the table may end; an estimate of the length needed.
    Truncated(u64),
    Absent,
}

impl HashTable {
    fn read(bytes: &[u8], offset: usize, budget: &mut Budget) -> Result<HashSearch, Exceeded> {
        budget.step(1)?;
        let word = |index: usize| u32_at(bytes, offset + 4 * index).map(|word| word as usize);
        let (Some(buckets), Some(first), Some(bloom), Some(shift)) =
            (word(0), word(1), word(2), word(3))
        else {
            return Ok(HashSearch::Absent);
        };
        let has_bloom = bloom.is_power_of_two() && bloom <= 1 << 24 && (1..64).contains(&shift);
        if !has_bloom || buckets == 0 || buckets > 1 << 24 || first == 0 || first > 1 << 24 {
            return Ok(HashSearch::Absent);
        }
        let table = offset + 16 + 8 * bloom;
        let chains = table + 4 * buckets;
        let last = match last_bucket(bytes, table..chains, first, budget)? {
            Bucket::Last(last) => last,
            // The estimate is small, so that a crafted header cannot cause a read of the whole file.
            Bucket::Truncated => return Ok(HashSearch::Truncated(chains as u64)),
            Bucket::Invalid => return Ok(HashSearch::Absent),
        };
        Self::end_chain(bytes, chains, first, last, budget)
    }

    /// Follows the chain of the symbol `last` to its end.
    fn end_chain(
        bytes: &[u8],
        chains: usize,
        first: usize,
        mut last: usize,
        budget: &mut Budget,
    ) -> Result<HashSearch, Exceeded> {
        // The last entry of a chain has its lowest bit set.
        loop {
            budget.step(1)?;
            let entry = chains + 4 * (last - first);
            match u32_at(bytes, entry) {
                None => return Ok(HashSearch::Truncated(entry as u64 * 2)),
                Some(hash) if hash & 1 == 1 => break,
                Some(_) => last += 1,
            }
        }
        Ok(HashSearch::Found(Self {
            first,
            count: last + 1,
            chains,
            end: chains + 4 * (last + 1 - first),
        }))
    }
}

/// The result of reading the buckets of a hash table.
enum Bucket {
    /// The largest index of a symbol.
    Last(usize),
    /// The bytes end before the buckets do.
    Truncated,
    Invalid,
}

/// Returns the largest index of a symbol in `buckets`, none of which may be below `first`.
fn last_bucket(
    bytes: &[u8],
    buckets: Range<usize>,
    first: usize,
    budget: &mut Budget,
) -> Result<Bucket, Exceeded> {
    let mut last = 0;
    for offset in buckets.step_by(4) {
        budget.step(1)?;
        let Some(bucket) = u32_at(bytes, offset) else {
            return Ok(Bucket::Truncated);
        };
        let bucket = bucket as usize;
        if bucket != 0 && !(first..1 << 26).contains(&bucket) {
            return Ok(Bucket::Invalid);
        }
        last = last.max(bucket);
    }
    Ok(match last {
        0 => Bucket::Invalid,
        last => Bucket::Last(last),
    })
}

/// Compares the hashes of a sample of names with those in the hash table.
fn verify(
    bytes: &[u8],
    hash: &HashTable,
    symbols: usize,
    strings: usize,
    budget: &mut Budget,
) -> Result<Search, Exceeded> {
    if strings > bytes.len() {
        return Ok(Search::Truncated(strings as u64 * 2));
    }
    if !is_null_symbol(bytes, symbols) {
        return Ok(Search::Absent);
    }
    let name_offset = |index: usize| {
        let offset = u32_at(bytes, symbols + SYMBOL_SIZE * index);
        offset.map(|offset| strings + offset as usize)
    };
    let mut last_name = 0;
    for index in 1..hash.count {
        budget.step(1)?;
        let Some(offset) = name_offset(index) else {
            return Ok(Search::Absent);
        };
        last_name = last_name.max(offset);
    }
    let step = ((hash.count - hash.first) / SAMPLED_NAMES).max(1);
    let mut verified = 0;
    for index in (hash.first..hash.count).step_by(step) {
        let offset = name_offset(index).unwrap_or(usize::MAX);
        let Some(name) = name_at(bytes, offset, budget)? else {
            // The bytes end before this name.
            continue;
        };
        let stored = u32_at(bytes, hash.chains + 4 * (index - hash.first));
        if stored.map(|stored| stored | 1) != Some(gnu_hash(name) | 1) {
            return Ok(Search::Absent);
        }
        verified += 1;
    }
    Ok(match verified {
        0 => Search::Truncated(last_name as u64 + 1),
        _ => Search::Found(SymbolTables {
            symbols,
            count: hash.count,
            strings,
            last_name,
        }),
    })
}

fn gnu_hash(name: &[u8]) -> u32 {
    let step = |hash: u32, byte: &u8| hash.wrapping_mul(33).wrapping_add(u32::from(*byte));
    name.iter().fold(5381, step)
}

fn is_null_symbol(bytes: &[u8], offset: usize) -> bool {
    let entry = bytes.get(offset..offset.saturating_add(SYMBOL_SIZE));
    entry.is_some_and(|entry| entry.iter().all(|byte| *byte == 0))
}

/// Returns true if an entry may be a symbol: its kind and binding are known, its address and size are plausible.
fn is_plausible_symbol(bytes: &[u8], offset: usize) -> bool {
    let Some(entry) = bytes.get(offset..offset.saturating_add(SYMBOL_SIZE)) else {
        return false;
    };
    let kind = matches!(entry[4] & 15, 0..=3 | 6 | 10);
    let binding = matches!(entry[4] >> 4, 0..=2 | 10);
    let fits = |field: usize| u64_at(entry, field).is_some_and(|value| value < 1 << 34);
    let section = u16_at(entry, 6).is_some_and(|section| !(256..0xff00).contains(&section));
    kind && binding && section && entry[5] & 0x7c == 0 && fits(8) && fits(16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf;
    use crate::sample::{MemoryLibrary, elf_library};

    fn is_tensorflow(name: &str) -> bool {
        name.starts_with("TF_")
    }

    /// Returns more names than the first read contains.
    fn many_names() -> Vec<String> {
        (0..60_000)
            .map(|number| format!("TF_Name{number}"))
            .collect()
    }

    #[test]
    fn finds_tables_of_ld_and_lld() {
        let names = many_names();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for (lld, names) in [
            (true, &names[..]),
            (false, &names[..]),
            (true, &names[..40]),
            (false, &names[..40]),
        ] {
            let padding = 8 << 20;
            let mut binary = MemoryLibrary::new(elf_library(names, lld, padding));
            let expected = elf::exports(
                &mut MemoryLibrary::new(binary.bytes.clone()),
                &is_tensorflow,
            )
            .unwrap();
            let found = exports(&mut binary, &is_tensorflow).unwrap().unwrap();
            assert_eq!(found, expected, "lld: {lld}, {} names", names.len());
            assert!(binary.furthest < binary.length() - padding as u64 / 2);
        }
    }

    #[test]
    fn rejects_tables_with_wrong_hash() {
        let mut bytes = elf_library(&["TF_A", "TF_B"], true, 2 << 20);
        let at = bytes.windows(5).position(|part| part == b"TF_A\0").unwrap();
        bytes[at] = b'X';
        assert_eq!(
            exports(&mut MemoryLibrary::new(bytes), &is_tensorflow).unwrap(),
            None
        );
    }

    #[test]
    fn corrupted_or_truncated_library_never_panics() {
        for lld in [false, true] {
            let bytes = elf_library(&["TF_A", "TF_B"], lld, 16);
            for at in 0..bytes.len() {
                let _ = exports(
                    &mut MemoryLibrary::new(bytes[..at].to_vec()),
                    &is_tensorflow,
                );
                for value in [0, 0x7f, 0xff] {
                    let mut changed = bytes.clone();
                    changed[at] = value;
                    let _ = exports(&mut MemoryLibrary::new(changed), &is_tensorflow);
                }
            }
        }
    }
}
