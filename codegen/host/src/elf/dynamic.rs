//! The tables that the loader reads: strings, symbols, the System V hash table and the dynamic section.
//! glibc still reads `DT_HASH`, and it is the simpler of the two hash tables.

use super::hash::hash;
use super::version::VersionTables;
use super::{SegmentOffsets, SharedObject, TABLE, WORD};

const SYMBOL: usize = 24;

/// The string table and what points into it; addresses are not known yet.
pub(super) struct DynamicTables {
    strings: Vec<u8>,
    /// String offsets of the exports and, last, of the table.
    names: Vec<u32>,
    soname: u32,
    needed: Vec<u32>,
    hash: Vec<u8>,
    versions: Option<VersionTables>,
}

/// The tables with their addresses filled in.
pub(super) struct PlacedTables {
    pub bytes: Vec<u8>,
    pub dynamic: Vec<u8>,
}

impl DynamicTables {
    pub fn new(object: &SharedObject<'_>) -> Self {
        let mut strings = vec![0];
        let mut intern = |text: &str| {
            let at = strings.len() as u32;
            strings.extend(text.as_bytes());
            strings.push(0);
            at
        };
        let symbols = object.exports.iter().map(|export| export.symbol.as_str());
        let symbols: Vec<&str> = symbols.chain([TABLE]).collect();
        let names = symbols.iter().map(|name| intern(name)).collect();
        let soname = intern(object.soname);
        let needed = object.needed.iter().map(|name| intern(name)).collect();
        let versions = object.version.map(|version| {
            let names = [
                (object.soname, soname),
                (version.name, intern(version.name)),
            ];
            VersionTables::new(names, object.exports.len(), version.in_base)
        });
        strings.resize(strings.len().next_multiple_of(WORD), 0);
        Self {
            strings,
            names,
            soname,
            needed,
            hash: hash_table(&symbols),
            versions,
        }
    }

    pub fn len(&self) -> usize {
        let versions = self.versions.as_ref().map_or(0, VersionTables::len);
        self.hash.len() + self.symbols_len() + self.strings.len() + versions
    }

    fn symbols_len(&self) -> usize {
        (self.names.len() + 1) * SYMBOL
    }

    /// Fills in addresses, for tables that start at `start`.
    pub fn place(
        self,
        start: usize,
        plan: &SegmentOffsets,
        object: &SharedObject<'_>,
    ) -> PlacedTables {
        let symbols_at = start + self.hash.len();
        let strings_at = symbols_at + self.symbols_len();
        let dynamic = self.dynamic(start, symbols_at, strings_at);
        let symbols = self.symbols(plan, object);
        let versions = self.versions.map_or_else(Vec::new, VersionTables::bytes);
        PlacedTables {
            bytes: [self.hash, symbols, self.strings, versions].concat(),
            dynamic,
        }
    }

    fn symbols(&self, plan: &SegmentOffsets, object: &SharedObject<'_>) -> Vec<u8> {
        const GLOBAL_FUNCTION: u8 = 1 << 4 | 2;
        const GLOBAL_OBJECT: u8 = 1 << 4 | 1;
        let mut out = vec![0; SYMBOL];
        let jump = object.machine.jump_len();
        for (index, &name) in self.names.iter().enumerate() {
            let last = index == object.exports.len();
            let (kind, address, size) = match last {
                true => (GLOBAL_OBJECT, plan.table, (index + 1) * WORD),
                false => (GLOBAL_FUNCTION, plan.text + index * jump, jump),
            };
            out.extend(name.to_le_bytes());
            // There are no sections; any index that is neither undefined nor absolute is valid.
            out.extend([kind, 0, 1, 0]);
            out.extend((address as u64).to_le_bytes());
            out.extend((size as u64).to_le_bytes());
        }
        out
    }

    fn dynamic(&self, hash: usize, symbols: usize, strings: usize) -> Vec<u8> {
        let needed = self.needed.iter().map(|&name| (1, name as usize));
        let rest = [
            (14, self.soname as usize),
            (4, hash),
            (5, strings),
            (6, symbols),
            (10, self.strings.len()),
            (11, SYMBOL),
            (0, 0),
        ];
        let versions = self.versions.as_ref();
        let versions = versions.map(|it| it.entries(strings + self.strings.len()));
        needed
            .chain(versions.into_iter().flatten())
            .chain(rest)
            .flat_map(|(tag, value): (u64, usize)| [tag, value as u64])
            .flat_map(u64::to_le_bytes)
            .collect()
    }
}

/// Buckets and chains over the symbols, which are numbered from 1.
fn hash_table(symbols: &[&str]) -> Vec<u8> {
    let buckets = symbols.len().max(1);
    let mut heads = vec![0u32; buckets];
    let mut chains = vec![0u32; symbols.len() + 1];
    for (index, symbol) in symbols.iter().enumerate() {
        let head = &mut heads[hash(symbol) as usize % buckets];
        chains[index + 1] = *head;
        *head = index as u32 + 1;
    }
    let mut out: Vec<u8> = [buckets as u32, chains.len() as u32]
        .into_iter()
        .chain(heads)
        .chain(chains)
        .flat_map(u32::to_le_bytes)
        .collect();
    out.resize(out.len().next_multiple_of(WORD), 0);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symbol_is_reached_through_its_bucket() {
        let names = [
            "TF_NewStatus",
            "TF_DeleteStatus",
            "TF_SetStatus",
            "TF_GetCode",
        ];
        let bytes = hash_table(&names);
        let word = |at: usize| u32::from_le_bytes(bytes[at * 4..at * 4 + 4].try_into().unwrap());
        let buckets = word(0) as usize;
        for (index, name) in names.iter().enumerate() {
            let mut at = word(2 + hash(name) as usize % buckets) as usize;
            while at != index + 1 {
                assert_ne!(at, 0, "{name}");
                at = word(2 + buckets + at) as usize;
            }
        }
    }
}
