//! The dynamic symbols of an ELF library from its first bytes alone, for members of a wheel: what
//! names the tables lies at the end, the tables lie at the front.
//!
//! The tables are found by their shape and then proven: the hash table holds a hash of every exported
//! name, and each that is looked at must agree. What cannot be proven is read the long way.

use super::binary::{Binary, Exports, Wanted, name_at, u16_at, u32_at, u64_at};
use super::elf::{SYMBOL, collect, is_elf, segments, versions};

/// Where the first table may begin, behind the headers.
const WINDOW: usize = 4096;
/// Enough to see the first table; then as much as the tables say.
const FIRST: u64 = 1 << 20;
/// Beyond this the tables are not at the front. Those of TensorFlow 2.21 end at 100 MiB.
const MOST: u64 = 256 << 20;
/// Names of libraries and versions that stand behind the symbols' names.
const BEHIND: usize = 16 << 10;

/// The exports, or nothing where the tables are not at the front.
pub fn exports<B: Binary + ?Sized>(
    binary: &mut B,
    wanted: Wanted<'_>,
) -> Result<Option<Exports>, B::Error> {
    let (mut length, most) = (FIRST, MOST.min(binary.length()));
    loop {
        length = length.min(most);
        let bytes = binary.part(0..length)?;
        match locate(&bytes) {
            Located::More(wish) if length < most => length = wish.max(length * 2),
            Located::At(tables) if length < most.min(tables.end()) => length = tables.end(),
            Located::At(tables) => return Ok(tables.exports(&bytes, wanted)),
            Located::More(_) | Located::Nowhere => return Ok(None),
        }
    }
}

enum Located {
    /// Here; proven as far as the bytes go.
    At(Tables),
    /// The bytes end too early to tell; this many might do.
    More(u64),
    Nowhere,
}

#[derive(Clone, Copy)]
struct Tables {
    symbols: usize,
    count: usize,
    names: usize,
    /// Where the last symbol's name begins.
    last: usize,
}

impl Tables {
    /// How many bytes hold all of it, a long last name and the versions.
    fn end(&self) -> u64 {
        (self.last + 2 * self.count + BEHIND) as u64
    }

    fn exports(self, bytes: &[u8], wanted: Wanted<'_>) -> Option<Exports> {
        let names = bytes.get(self.names..)?;
        Some(Exports {
            names: collect(bytes.get(self.symbols..)?, self.count, names, wanted)?,
            versions: self.versions(bytes, names).unwrap_or_default(),
        })
    }

    /// The definitions of versions stand between the symbols and the names, or behind the names.
    fn versions(self, bytes: &[u8], names: &[u8]) -> Option<Vec<String>> {
        let before = self.symbols + (SYMBOL + 2) * self.count;
        let behind = self.last + 2 * self.count;
        let near = [before, behind].into_iter().flat_map(|from| {
            let from = from.next_multiple_of(4).saturating_sub(8);
            (from..from + BEHIND).step_by(4)
        });
        let mut near = near.filter(|at| is_base_definition(bytes, *at));
        versions(bytes.get(near.next()?..)?, names)
    }
}

/// Version 1, the base flag, index 1, one name, which stands behind the entry.
fn is_base_definition(bytes: &[u8], at: usize) -> bool {
    let head = bytes.get(at..at.saturating_add(8));
    head == Some(&[1, 0, 1, 0, 1, 0, 1, 0]) && u32_at(bytes, at + 12) == Some(20)
}

fn locate(bytes: &[u8]) -> Located {
    let headers = segments(bytes).filter(|_| is_elf(bytes));
    let Some((end, _)) = headers else {
        return Located::Nowhere;
    };
    let from = end.next_multiple_of(8);
    let mut located = Located::Nowhere;
    for at in (from..from.saturating_add(WINDOW)).step_by(8) {
        for found in [hash_first(bytes, at), symbols_first(bytes, at)] {
            match found {
                Located::At(tables) => return Located::At(tables),
                Located::More(_) => located = found,
                Located::Nowhere => {}
            }
        }
    }
    located
}

/// The order of GNU's linkers: hash table, symbols, names.
fn hash_first(bytes: &[u8], at: usize) -> Located {
    let hash = match Hash::read(bytes, at) {
        Walk::Read(hash) => hash,
        Walk::Cut(wish) => return Located::More(wish),
        Walk::None => return Located::Nowhere,
    };
    let symbols = hash.end.next_multiple_of(8);
    let names = symbols + SYMBOL * hash.count;
    prove(bytes, &hash, symbols, names)
}

/// The order of lld: symbols, versions, hash table, names.
fn symbols_first(bytes: &[u8], at: usize) -> Located {
    if !is_null(bytes, at) || !is_plausible(bytes, at + SYMBOL) {
        return Located::Nowhere;
    }
    let run = (0..)
        .take_while(|index| is_plausible(bytes, at + SYMBOL * index))
        .count();
    if run < 2 {
        return Located::Nowhere;
    }
    if at + SYMBOL * (run + 1) > bytes.len() {
        return Located::More(4 * bytes.len() as u64);
    }
    // Up to the hash table: a version for each symbol, and the versions' names.
    let from = (at + SYMBOL * (run - 1)).next_multiple_of(4);
    let to = at + SYMBOL * run + 2 * run + BEHIND;
    let mut located = Located::Nowhere;
    for place in (from..to).step_by(4) {
        match Hash::read(bytes, place) {
            Walk::Read(hash) if hash.count <= run + 1 => {
                if let Located::At(tables) = prove(bytes, &hash, at, hash.end) {
                    return Located::At(tables);
                }
            }
            Walk::Cut(wish) => located = Located::More(wish),
            Walk::Read(_) | Walk::None => {}
        }
    }
    match to > bytes.len() {
        true => Located::More(to as u64),
        false => located,
    }
}

/// A GNU hash table.
struct Hash {
    /// The first symbol it knows.
    first: usize,
    /// How many symbols the library has.
    count: usize,
    chains: usize,
    end: usize,
}

enum Walk {
    Read(Hash),
    /// It may be one that ends behind the bytes.
    Cut(u64),
    None,
}

impl Hash {
    fn read(bytes: &[u8], at: usize) -> Walk {
        let word = |index: usize| u32_at(bytes, at + 4 * index).map(|word| word as usize);
        let (Some(buckets), Some(first), Some(bloom), Some(shift)) =
            (word(0), word(1), word(2), word(3))
        else {
            return Walk::None;
        };
        let shaped = bloom.is_power_of_two() && bloom <= 1 << 24 && (1..64).contains(&shift);
        if !shaped || buckets == 0 || buckets > 1 << 24 || first == 0 || first > 1 << 24 {
            return Walk::None;
        }
        let table = at + 16 + 8 * bloom;
        let chains = table + 4 * buckets;
        let mut last = 0;
        for index in 0..buckets {
            let Some(bucket) = u32_at(bytes, table + 4 * index) else {
                // A crafted header must not ask for everything: the next step doubles at most.
                return Walk::Cut(chains as u64);
            };
            let bucket = bucket as usize;
            if bucket != 0 && !(first..1 << 26).contains(&bucket) {
                return Walk::None;
            }
            last = last.max(bucket);
        }
        if last == 0 {
            return Walk::None;
        }
        loop {
            match u32_at(bytes, chains + 4 * (last - first)) {
                None => return Walk::Cut((chains + 4 * (last - first)) as u64 * 2),
                Some(hash) if hash & 1 == 1 => break,
                Some(_) => last += 1,
            }
        }
        Walk::Read(Self {
            first,
            count: last + 1,
            chains,
            end: chains + 4 * (last + 1 - first),
        })
    }
}

/// Holds the names against their hashes.
fn prove(bytes: &[u8], hash: &Hash, symbols: usize, names: usize) -> Located {
    const LOOKED_AT: usize = 4096;
    if names > bytes.len() {
        return Located::More(names as u64 * 2);
    }
    if !is_null(bytes, symbols) {
        return Located::Nowhere;
    }
    let name = |index: usize| u32_at(bytes, symbols + SYMBOL * index).map(|at| names + at as usize);
    let mut last = 0;
    for index in 1..hash.count {
        let Some(at) = name(index) else {
            return Located::Nowhere;
        };
        last = last.max(at);
    }
    let every = ((hash.count - hash.first) / LOOKED_AT).max(1);
    let mut proven = 0;
    for index in (hash.first..hash.count).step_by(every) {
        let Some(text) = name(index).and_then(|at| name_at(bytes, at)) else {
            // It stands behind the bytes.
            continue;
        };
        let stored = u32_at(bytes, hash.chains + 4 * (index - hash.first));
        if stored.map(|stored| stored | 1) != Some(gnu_hash(text) | 1) {
            return Located::Nowhere;
        }
        proven += 1;
    }
    match proven {
        0 => Located::More(last as u64 + 1),
        _ => Located::At(Tables {
            symbols,
            count: hash.count,
            names,
            last,
        }),
    }
}

fn gnu_hash(name: &[u8]) -> u32 {
    let step = |hash: u32, byte: &u8| hash.wrapping_mul(33).wrapping_add(u32::from(*byte));
    name.iter().fold(5381, step)
}

fn is_null(bytes: &[u8], at: usize) -> bool {
    let entry = bytes.get(at..at.saturating_add(SYMBOL));
    entry.is_some_and(|entry| entry.iter().all(|byte| *byte == 0))
}

/// Whether an entry may be a symbol: a known kind and binding, an address and a size that fit.
fn is_plausible(bytes: &[u8], at: usize) -> bool {
    let Some(entry) = bytes.get(at..at.saturating_add(SYMBOL)) else {
        return false;
    };
    let kind = matches!(entry[4] & 15, 0..=3 | 6 | 10);
    let binding = matches!(entry[4] >> 4, 0..=2 | 10);
    let fits = |at: usize| u64_at(entry, at).is_some_and(|value| value < 1 << 34);
    let section = u16_at(entry, 6).is_some_and(|section| !(256..0xff00).contains(&section));
    kind && binding && section && entry[5] & 0x7c == 0 && fits(8) && fits(16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf;
    use crate::sample::Memory;
    use crate::sample::library;

    fn tf(name: &str) -> bool {
        name.starts_with("TF_")
    }

    /// More names than the first read holds.
    fn many() -> Vec<String> {
        (0..60_000)
            .map(|number| format!("TF_Name{number}"))
            .collect()
    }

    #[test]
    fn both_orders_are_found_from_the_front() {
        let names = many();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for (lld, names) in [
            (true, &names[..]),
            (false, &names[..]),
            (true, &names[..40]),
            (false, &names[..40]),
        ] {
            let padding = 8 << 20;
            let mut binary = Memory::new(library(names, lld, padding));
            let long = elf::exports(&mut Memory::new(binary.bytes.clone()), &tf).unwrap();
            let short = exports(&mut binary, &tf).unwrap().unwrap();
            assert_eq!(short, long, "lld: {lld}, {} names", names.len());
            assert!(binary.furthest < binary.length() - padding as u64 / 2);
        }
    }

    #[test]
    fn a_name_that_does_not_hash_as_the_table_says_is_no_proof() {
        let mut bytes = library(&["TF_A", "TF_B"], true, 2 << 20);
        let at = bytes.windows(5).position(|part| part == b"TF_A\0").unwrap();
        bytes[at] = b'X';
        assert_eq!(exports(&mut Memory::new(bytes), &tf).unwrap(), None);
    }

    #[test]
    fn what_is_changed_or_cut_does_not_panic() {
        for lld in [false, true] {
            let bytes = library(&["TF_A", "TF_B"], lld, 16);
            for at in 0..bytes.len() {
                let _ = exports(&mut Memory::new(bytes[..at].to_vec()), &tf);
                for value in [0, 0x7f, 0xff] {
                    let mut changed = bytes.clone();
                    changed[at] = value;
                    let _ = exports(&mut Memory::new(changed), &tf);
                }
            }
        }
    }
}
