//! The export trie of a Mach-O library (64 bits, little-endian, one architecture).

use super::binary::{Binary, ExportedSymbols, NameFilter, TableError, name_at, u32_at};
use sp_system::budget::Budget;
use std::ops::Range;

const HEADER_SIZE: u64 = 32;
const MAX_COMMANDS_BYTES: u64 = 1 << 20;
const MAX_TRIE_BYTES: u64 = 256 << 20;
const LC_DYLD_INFO: u32 = 0x22;
const LC_DYLD_EXPORTS_TRIE: u32 = 0x33;
/// Bit of the commands that a loader must understand.
const LC_REQ_DYLD: u32 = 0x8000_0000;

/// Returns true if the bytes begin as a 64-bit little-endian Mach-O file does.
pub fn is_macho(head: &[u8]) -> bool {
    head.starts_with(&[0xcf, 0xfa, 0xed, 0xfe])
}

/// Reads the exports. The names of C are returned without their leading underscore.
///
/// # Errors
/// Returns an error if the library cannot be read or is malformed.
pub fn exports<B: Binary + ?Sized>(
    binary: &mut B,
    wanted: NameFilter<'_>,
) -> Result<ExportedSymbols, B::Error> {
    let head = binary.read_range(0..HEADER_SIZE)?;
    let size = u32_at(&head, 20).map(u64::from).filter(|_| is_macho(&head));
    let Some(size) = size.filter(|size| *size <= MAX_COMMANDS_BYTES) else {
        return Err(binary.malformed("it has no 64-bit Mach-O header"));
    };
    let commands = binary.read_range(HEADER_SIZE..HEADER_SIZE + size)?;
    let Some(range) = find_export_trie(&commands) else {
        return Err(binary.malformed("none of its load commands names an export trie"));
    };
    let trie = binary.read_range(range)?;
    let names = read_trie(&trie, wanted);
    let mut names = names.map_err(|error| binary.malformed(&error.to_string()))?;
    names.sort();
    names.dedup();
    Ok(ExportedSymbols {
        names,
        versions: Vec::new(),
    })
}

/// Returns the range of the export trie in the file, from the first load command that names it.
fn find_export_trie(commands: &[u8]) -> Option<Range<u64>> {
    let mut command = 0;
    while let Some(kind) = u32_at(commands, command) {
        let field = match kind & !LC_REQ_DYLD {
            LC_DYLD_INFO => Some(40),
            LC_DYLD_EXPORTS_TRIE => Some(8),
            _ => None,
        };
        if let Some(field) = field {
            let offset = u64::from(u32_at(commands, command + field)?);
            let size = u64::from(u32_at(commands, command + field + 4)?);
            return Some(offset..offset + size.min(MAX_TRIE_BYTES));
        }
        let size = u32_at(commands, command + 4)? as usize;
        command = command.checked_add(size.max(8))?;
    }
    None
}

const MALFORMED: TableError = TableError::Malformed("its export trie is malformed");

/// Returns the wanted names in a trie. A crafted trie may have a node that is its own child, so the walk has a budget.
fn read_trie(trie: &[u8], wanted: NameFilter<'_>) -> Result<Vec<String>, TableError> {
    let mut walk = TrieWalk {
        trie,
        budget: Budget::for_input(trie.len()),
        pending: Vec::new(),
    };
    if !trie.is_empty() {
        walk.pending.push((0, Vec::new()));
    }
    let mut names = Vec::new();
    while let Some((node, name)) = walk.pending.pop() {
        let is_symbol = walk.visit(node, &name)?;
        let symbol = std::str::from_utf8(&name).ok().filter(|_| is_symbol);
        let symbol = symbol.and_then(|symbol| symbol.strip_prefix('_'));
        names.extend(symbol.filter(|name| wanted(name)).map(str::to_owned));
    }
    Ok(names)
}

/// A walk through the nodes of a trie.
struct TrieWalk<'a> {
    trie: &'a [u8],
    budget: Budget,
    /// Offsets of the nodes to visit, each with the name that leads to it.
    pending: Vec<(usize, Vec<u8>)>,
}

impl TrieWalk<'_> {
    /// Adds the children of the node at `offset` to the pending nodes. Returns true if the node is a symbol.
    fn visit(&mut self, mut offset: usize, name: &[u8]) -> Result<bool, TableError> {
        self.budget.step(1)?;
        let terminal_size = self.number(&mut offset)?;
        offset = offset.checked_add(terminal_size).ok_or(MALFORMED)?;
        let children = *self.trie.get(offset).ok_or(MALFORMED)?;
        offset += 1;
        for _ in 0..children {
            self.push_child(&mut offset, name)?;
        }
        Ok(terminal_size > 0)
    }

    /// Adds the child whose label is at `offset`, and advances `offset` past the child.
    fn push_child(&mut self, offset: &mut usize, name: &[u8]) -> Result<(), TableError> {
        let label = name_at(self.trie, *offset, &mut self.budget)?.ok_or(MALFORMED)?;
        *offset += label.len() + 1;
        let child = self.number(offset)?;
        self.budget.step(name.len())?;
        let child_name = [name, label].concat();
        // Most names of a library are C++ names, which no caller wants.
        if !child_name.starts_with(b"__Z") {
            self.budget.allocate(child_name.len())?;
            self.pending.push((child, child_name));
        }
        Ok(())
    }

    fn number(&self, offset: &mut usize) -> Result<usize, TableError> {
        let number = read_uleb128(self.trie, offset).ok_or(MALFORMED)?;
        usize::try_from(number).map_err(|_| MALFORMED)
    }
}

/// Reads an unsigned LEB128 number at `offset` and advances `offset` past it.
fn read_uleb128(bytes: &[u8], offset: &mut usize) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*offset)?;
        *offset += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::MemoryLibrary;

    /// Returns a library that exports `_TF_A`, `_TF_B` and `__Zx`.
    fn library() -> Vec<u8> {
        library_with(&trie())
    }

    fn trie() -> Vec<u8> {
        let mut trie = vec![0, 2];
        // Children of the root: "_TF_" at 17, "__Zx" at 30.
        trie.extend(b"_TF_\0\x11");
        trie.extend(b"__Zx\0\x1e");
        trie.resize(17, 0);
        trie.extend(b"\0\x02A\0\x21B\0\x25");
        trie.resize(30, 0);
        trie.extend([1, 0, 0]);
        trie.extend([2, 0, 8, 0, 2, 0, 9, 0]);
        trie
    }

    fn library_with(trie: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0xcf, 0xfa, 0xed, 0xfe];
        bytes.resize(16, 0);
        bytes.extend([2, 0, 0, 0, 24, 0, 0, 0]);
        bytes.resize(32, 0);
        bytes.extend([0x19, 0, 0, 0, 8, 0, 0, 0]);
        bytes.extend([0x33, 0, 0, 0x80, 16, 0, 0, 0, 200, 0, 0, 0]);
        bytes.extend((trie.len() as u32).to_le_bytes());
        bytes.resize(200, 0xcc);
        bytes.extend(trie);
        bytes
    }

    fn is_tensorflow(name: &str) -> bool {
        name.starts_with("TF_")
    }

    #[test]
    fn strips_underscore_of_exported_names() {
        let found = exports(&mut MemoryLibrary::new(library()), &is_tensorflow).unwrap();
        assert_eq!(found.names, ["TF_A", "TF_B"]);
    }

    #[test]
    fn rejects_trie_whose_node_is_its_own_child() {
        for children in [1, 8, 255] {
            let mut trie = vec![0, children];
            for _ in 0..children {
                trie.extend(b"label\0\0");
            }
            let read = exports(&mut MemoryLibrary::new(library_with(&trie)), &is_tensorflow);
            let error = read.unwrap_err().to_string();
            assert!(error.contains("than any real file needs"), "{error}");
        }
    }

    #[test]
    fn corrupted_or_truncated_library_never_panics() {
        let bytes = library();
        for at in 0..bytes.len() {
            let _ = exports(
                &mut MemoryLibrary::new(bytes[..at].to_vec()),
                &is_tensorflow,
            );
            for value in [0, 1, 0x11, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = exports(&mut MemoryLibrary::new(changed), &is_tensorflow);
            }
        }
    }
}
