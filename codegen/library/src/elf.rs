//! The dynamic symbols of an ELF library (64 bits, little-endian), found by its dynamic section.
//!
//! The dynamic section is near the end of a library, so this inflates all of a wheel's member. `prefix` finds the
//! same tables from the first bytes.

use super::binary::{
    Binary, ExportedSymbols, NameFilter, TableError, name_at, u16_at, u32_at, u64_at,
};
use sp_system::budget::{Budget, Exceeded};
use std::ops::Range;

/// Size of a symbol table entry in bytes.
pub const SYMBOL_SIZE: usize = 24;
pub(crate) const PROGRAM_HEADER_SIZE: usize = 56;
pub(crate) const PT_LOAD: u32 = 1;
pub(crate) const PT_DYNAMIC: u32 = 2;
/// Largest table that is read, against crafted libraries. Real tables are far smaller.
const MAX_TABLE_BYTES: u64 = 256 << 20;
/// Largest dynamic section that is read. A real one has some dozens of entries of 16 bytes.
const MAX_DYNAMIC_BYTES: u64 = 1 << 20;

/// Tags of the dynamic section.
pub(crate) mod tag {
    pub const NEEDED: u64 = 1;
    pub const RPATH: u64 = 15;
    pub const RUNPATH: u64 = 29;
    pub const HASH: u64 = 4;
    pub const STRTAB: u64 = 5;
    pub const SYMTAB: u64 = 6;
    pub const STRSZ: u64 = 10;
    pub const GNU_HASH: u64 = 0x6fff_fef5;
    pub const VERSYM: u64 = 0x6fff_fff0;
    pub const VERDEF: u64 = 0x6fff_fffc;
    pub const VERNEED: u64 = 0x6fff_fffe;
}

/// Returns true if the bytes begin as a 64-bit little-endian ELF file does.
pub fn is_elf(head: &[u8]) -> bool {
    head.starts_with(b"\x7fELF\x02\x01")
}

/// Returns true if the library is for x86_64.
pub fn is_x86_64(head: &[u8]) -> bool {
    machine(head) == Some(EM_X86_64)
}

/// Machine number of x86_64.
const EM_X86_64: u16 = 62;

/// Returns the number of the machine that the library is for (`e_machine`).
pub fn machine(head: &[u8]) -> Option<u16> {
    u16_at(head, 18).filter(|_| is_elf(head))
}

/// Returns the name of a machine as Rust's targets have it, or its number.
pub fn machine_name(machine: u16) -> String {
    match machine {
        3 => "x86".into(),
        20 | 21 => "powerpc64".into(),
        22 => "s390x".into(),
        40 => "arm".into(),
        EM_X86_64 => "x86_64".into(),
        183 => "aarch64".into(),
        243 => "riscv64".into(),
        258 => "loongarch64".into(),
        other => format!("machine {other}"),
    }
}

/// Returns the offset at which the program headers end, and the segments that they describe.
pub fn segments(head: &[u8]) -> Option<(usize, Vec<Segment>)> {
    let start = usize::try_from(u64_at(head, 32)?).ok()?;
    let count = usize::from(u16_at(head, 56)?);
    let segment = |index: usize| {
        let header = start.checked_add(index * PROGRAM_HEADER_SIZE)?;
        Some(Segment {
            kind: u32_at(head, header)?,
            flags: u32_at(head, header + 4)?,
            offset: u64_at(head, header + 8)?,
            address: u64_at(head, header + 16)?,
            size: u64_at(head, header + 32)?,
        })
    };
    let segments = (0..count).map(segment).collect::<Option<Vec<_>>>()?;
    let end = start.checked_add(count * PROGRAM_HEADER_SIZE)?;
    (end <= head.len()).then_some((end, segments))
}

/// A segment, as its program header describes it. `size` is the size in the file.
pub struct Segment {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    size: u64,
}

/// Returns the ranges of the file that hold read-only data: the segments that are neither writable nor executable. If
/// the linker put data beside code, these are all segments that are not writable.
pub fn read_only_ranges(head: &[u8]) -> Option<Vec<Range<u64>>> {
    const EXECUTE: u32 = 1;
    const WRITE: u32 = 2;
    let (_, segments) = segments(head).filter(|_| is_elf(head))?;
    let mut segments: Vec<Segment> = segments
        .into_iter()
        .filter(|segment| segment.kind == PT_LOAD && segment.flags & WRITE == 0)
        .collect();
    if segments.first()?.flags & EXECUTE == 0 {
        segments.retain(|segment| segment.flags & EXECUTE == 0);
    }
    segments.sort_by_key(|segment| segment.offset);
    let range = |segment: Segment| segment.offset..segment.offset.saturating_add(segment.size);
    Some(segments.into_iter().map(range).collect())
}

/// Returns the ranges of the file that the loader maps into memory, sorted and without overlaps: a crafted library may
/// map all of its bytes thousands of times.
pub fn loaded_ranges(bytes: &[u8]) -> Vec<Range<usize>> {
    let segments = segments(bytes).filter(|_| is_elf(bytes));
    let (_, segments) = segments.unwrap_or_default();
    let range = |segment: &Segment| {
        let end = segment.offset.checked_add(segment.size)?;
        Some(usize::try_from(segment.offset).ok()?..usize::try_from(end).ok()?.min(bytes.len()))
    };
    let loaded = segments.iter().filter(|segment| segment.kind == PT_LOAD);
    join_overlapping(loaded.filter_map(range).collect())
}

fn join_overlapping(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// The kind of symbols to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolKind {
    /// Symbols that the library defines for others.
    Exported,
    /// Symbols that other libraries must define.
    Imported,
}

/// Reads the exports by the dynamic section.
///
/// # Errors
/// Returns an error if the library cannot be read or is malformed.
pub fn exports<B: Binary + ?Sized>(
    binary: &mut B,
    wanted: NameFilter<'_>,
) -> Result<ExportedSymbols, B::Error> {
    symbols(binary, wanted, SymbolKind::Exported)
}

/// Reads the symbols of one kind by the dynamic section.
///
/// # Errors
/// Returns an error if the library cannot be read or is malformed.
pub fn symbols<B: Binary + ?Sized>(
    binary: &mut B,
    wanted: NameFilter<'_>,
    kind: SymbolKind,
) -> Result<ExportedSymbols, B::Error> {
    let head = binary.read_range(0..4096)?;
    let Some((_, segments)) = segments(&head).filter(|_| is_elf(&head)) else {
        return Err(binary.malformed("it has no 64-bit little-endian ELF header"));
    };
    let dynamic = segments.iter().find(|segment| segment.kind == PT_DYNAMIC);
    let Some(dynamic) = dynamic.filter(|found| found.size < MAX_DYNAMIC_BYTES) else {
        return Err(binary.malformed("it has no dynamic section"));
    };
    let end = dynamic.offset.saturating_add(dynamic.size);
    let entries = binary.read_range(dynamic.offset..end)?;
    let Some(tables) = TableOffsets::read(&entries, &segments) else {
        return Err(binary.malformed("its dynamic section names no symbols"));
    };
    let parts = binary.read_ranges(&tables.ranges())?;
    let [symbols, strings, definitions] = parts.as_slice() else {
        return Err(binary.malformed("its tables cannot be read"));
    };
    let tables = SymbolTables {
        symbols,
        count: symbols.len() / SYMBOL_SIZE,
        strings,
    };
    let found = tables.select(kind, definitions, wanted);
    found.map_err(|error| binary.malformed(&error.to_string()))
}

/// The libraries that a library depends on.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LibraryDependencies {
    /// The names of the libraries that the loader must find.
    pub needed: Vec<String>,
    /// Folders in which the loader looks for them; `$ORIGIN` is the library's own folder.
    pub folders: Vec<String>,
}

/// Reads the dependencies of a library, or returns `None` if its dynamic section cannot be read.
pub fn read_dependencies(bytes: &[u8]) -> Option<LibraryDependencies> {
    let (_, segments) = segments(bytes).filter(|_| is_elf(bytes))?;
    let dynamic = segments.iter().find(|segment| segment.kind == PT_DYNAMIC)?;
    let part = |offset: u64, size: u64| {
        let (start, size) = (usize::try_from(offset).ok()?, usize::try_from(size).ok()?);
        bytes.get(start..start.checked_add(size)?)
    };
    let entries = part(dynamic.offset, dynamic.size)?;
    let tables = TableOffsets::read(entries, &segments)?;
    let strings = part(tables.strings, tables.strings_size)?;
    let mut budget = Budget::for_input(bytes.len());
    let mut texts = |tags| dynamic_texts(entries, strings, tags, &mut budget).ok();
    let folders = texts(&[tag::RPATH, tag::RUNPATH])?;
    let folders = folders.iter().flat_map(|list| list.split(':'));
    Some(LibraryDependencies {
        needed: texts(&[tag::NEEDED])?,
        folders: folders.map(str::to_owned).collect(),
    })
}

/// Returns the texts of the entries with one of `tags`.
fn dynamic_texts(
    section: &[u8],
    strings: &[u8],
    tags: &[u64],
    budget: &mut Budget,
) -> Result<Vec<String>, Exceeded> {
    let mut texts = Vec::new();
    for (_, offset) in dynamic_entries(section).filter(|(tag, _)| tags.contains(tag)) {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        if let Some(text) = name_at(strings, offset, budget)? {
            budget.allocate(text.len())?;
            texts.push(String::from_utf8_lossy(text).into_owned());
        }
    }
    Ok(texts)
}

/// Returns the tag and the value of each entry of a dynamic section.
fn dynamic_entries(section: &[u8]) -> impl Iterator<Item = (u64, u64)> {
    let entries = section.chunks_exact(16);
    entries.filter_map(|entry| Some((u64_at(entry, 0)?, u64_at(entry, 8)?)))
}

/// File offsets of the tables that a dynamic section names.
struct TableOffsets {
    symbols: u64,
    symbols_end: u64,
    strings: u64,
    strings_size: u64,
    definitions: Option<u64>,
}

impl TableOffsets {
    fn read(section: &[u8], segments: &[Segment]) -> Option<Self> {
        let value = |wanted: u64| {
            let entry = dynamic_entries(section).find(|(tag, _)| *tag == wanted);
            entry.map(|(_, value)| value)
        };
        let offset = |wanted: u64| file_offset(value(wanted)?, segments);
        let symbols = offset(tag::SYMTAB)?;
        // The length of the symbol table is not stated: it ends where the next table begins.
        let others = [
            tag::STRTAB,
            tag::VERSYM,
            tag::GNU_HASH,
            tag::HASH,
            tag::VERDEF,
            tag::VERNEED,
        ];
        let following = others.into_iter().filter_map(offset);
        let following = following.filter(|other| *other > symbols);
        Some(Self {
            symbols,
            symbols_end: following.min()?.min(symbols.checked_add(MAX_TABLE_BYTES)?),
            strings: offset(tag::STRTAB)?,
            strings_size: value(tag::STRSZ)?.min(MAX_TABLE_BYTES),
            definitions: offset(tag::VERDEF),
        })
    }

    fn ranges(&self) -> [Range<u64>; 3] {
        let definitions = self
            .definitions
            .map_or(0..0, |start| start..start.saturating_add(4096));
        [
            self.symbols..self.symbols_end,
            self.strings..self.strings.saturating_add(self.strings_size),
            definitions,
        ]
    }
}

/// Returns the file offset of a loaded address.
fn file_offset(address: u64, segments: &[Segment]) -> Option<u64> {
    let contains = |segment: &&Segment| {
        let inside = address.checked_sub(segment.address);
        segment.kind == PT_LOAD && inside.is_some_and(|inside| inside < segment.size)
    };
    let segment = segments.iter().find(contains)?;
    segment.offset.checked_add(address - segment.address)
}

/// Tables of symbols in memory.
pub(crate) struct SymbolTables<'a> {
    /// The bytes that begin with the first symbol.
    pub symbols: &'a [u8],
    /// The number of symbols.
    pub count: usize,
    /// The bytes that begin with the first name.
    pub strings: &'a [u8],
}

impl SymbolTables<'_> {
    /// Returns the wanted names of one kind, and the versions in `definitions`, which are none if that is malformed.
    /// Symbols of a crafted library may share one long name, so reading them has a budget.
    pub fn select(
        &self,
        kind: SymbolKind,
        definitions: &[u8],
        wanted: NameFilter<'_>,
    ) -> Result<ExportedSymbols, TableError> {
        let length = self.count.saturating_mul(SYMBOL_SIZE);
        let mut budget = Budget::for_input(length.saturating_add(self.strings.len()));
        let names = self.names(kind, wanted, &mut budget)?;
        let versions = match defined_versions(definitions, self.strings, &mut budget) {
            Ok(versions) => versions,
            Err(TableError::Malformed(_)) => Vec::new(),
            Err(error) => return Err(error),
        };
        Ok(ExportedSymbols { names, versions })
    }

    fn names(
        &self,
        kind: SymbolKind,
        wanted: NameFilter<'_>,
        budget: &mut Budget,
    ) -> Result<Vec<String>, TableError> {
        const NO_NAME: TableError =
            TableError::Malformed("a symbol has no name in its string table");
        let is_selected = match kind {
            SymbolKind::Exported => is_exported,
            SymbolKind::Imported => is_imported,
        };
        let mut names = Vec::new();
        let symbols = self.symbols.chunks_exact(SYMBOL_SIZE);
        let symbols = symbols.take(self.count).skip(1);
        for symbol in symbols.filter(|symbol| is_selected(symbol)) {
            let offset = u32_at(symbol, 0).ok_or(NO_NAME)? as usize;
            let name = name_at(self.strings, offset, budget)?.ok_or(NO_NAME)?;
            if let Some(name) = std::str::from_utf8(name).ok().filter(|name| wanted(name)) {
                budget.allocate(name.len())?;
                names.push(name.to_owned());
            }
        }
        names.sort();
        names.dedup();
        Ok(names)
    }
}

/// Returns true for a symbol that is defined, global or weak, and visible.
fn is_exported(symbol: &[u8]) -> bool {
    let (info, other, section) = (symbol[4], symbol[5], u16_at(symbol, 6));
    let visible = matches!(other & 3, 0 | 3);
    section != Some(0) && matches!(info >> 4, 1 | 2 | 10) && visible
}

/// Returns true for a symbol that is global or weak, and undefined.
fn is_imported(symbol: &[u8]) -> bool {
    u16_at(symbol, 6) == Some(0) && matches!(symbol[4] >> 4, 1 | 2)
}

/// Returns the names of the defined symbol versions, without the base version, which is the library's own name.
fn defined_versions(
    definitions: &[u8],
    strings: &[u8],
    budget: &mut Budget,
) -> Result<Vec<String>, TableError> {
    let (mut versions, mut entry) = (Vec::new(), 0_usize);
    while u16_at(definitions, entry) == Some(1) {
        let (offset, next) = version_definition(definitions, entry).ok_or(NO_VERSIONS)?;
        let name = name_at(strings, offset, budget)?.ok_or(NO_VERSIONS)?;
        let is_base = u16_at(definitions, entry + 2).is_some_and(|flags| flags & 1 == 1);
        if !is_base {
            budget.allocate(name.len())?;
            versions.push(String::from_utf8_lossy(name).into_owned());
        }
        match next {
            0 => break,
            next => entry = entry.checked_add(next).ok_or(NO_VERSIONS)?,
        }
    }
    Ok(versions)
}

const NO_VERSIONS: TableError = TableError::Malformed("its version definitions are malformed");

/// Returns the offset of the name of the definition at `entry`, and the distance to the next one.
fn version_definition(definitions: &[u8], entry: usize) -> Option<(usize, usize)> {
    let auxiliary = entry.checked_add(u32_at(definitions, entry + 12)? as usize)?;
    let name = u32_at(definitions, auxiliary)? as usize;
    Some((name, u32_at(definitions, entry + 16)? as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{MemoryLibrary, elf_library};

    fn is_tensorflow(name: &str) -> bool {
        name.starts_with("TF_")
    }

    #[test]
    fn reads_exported_names_and_versions() {
        for lld in [false, true] {
            let bytes = elf_library(&["TF_B", "TF_A", "_ZN1x"], lld, 100);
            let found = exports(&mut MemoryLibrary::new(bytes), &is_tensorflow).unwrap();
            assert_eq!(found.names, ["TF_A", "TF_B"], "lld: {lld}");
            assert_eq!(found.versions, ["VERSION"], "lld: {lld}");
        }
    }

    #[test]
    fn truncated_library_never_panics() {
        let bytes = elf_library(&["TF_B", "TF_A"], true, 10);
        for length in 0..bytes.len() {
            if let Ok(found) = exports(
                &mut MemoryLibrary::new(bytes[..length].to_vec()),
                &is_tensorflow,
            ) {
                assert!(found.names.len() <= 2);
            }
        }
        assert!(exports(&mut MemoryLibrary::new(b"MZ".to_vec()), &is_tensorflow).is_err());
    }

    #[test]
    fn rejects_program_headers_at_the_largest_offset() {
        let mut bytes = elf_library(&["TF_A"], true, 10);
        bytes[32..40].fill(0xff);
        bytes[56..58].fill(0);
        assert!(segments(&bytes).is_none());
        assert!(exports(&mut MemoryLibrary::new(bytes), &is_tensorflow).is_err());
    }

    #[test]
    fn corrupted_library_never_panics() {
        let bytes = elf_library(&["TF_B", "TF_A"], false, 10);
        for at in 0..bytes.len() {
            for value in [0, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = exports(&mut MemoryLibrary::new(changed), &is_tensorflow);
            }
        }
    }
}
