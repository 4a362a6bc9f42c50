//! The dynamic symbols of an ELF library, as its dynamic section says: 64 bits, little-endian.
//!
//! The dynamic section lies near the end of a library, so this inflates all of a wheel's member;
//! `prefix` finds the same tables from the front.

use super::binary::{Binary, Exports, Wanted, name_at, u16_at, u32_at, u64_at};

/// Bytes of a symbol.
pub const SYMBOL: usize = 24;
pub(crate) const PROGRAM_HEADER: usize = 56;
pub(crate) const LOAD: u32 = 1;
pub(crate) const DYNAMIC: u32 = 2;
/// No library has a table near this; a crafted one is not read without end.
const TABLE_MOST: u64 = 256 << 20;
/// A dynamic section has some dozens of entries of 16 bytes.
const DYNAMIC_MOST: u64 = 1 << 20;

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

/// Whether the bytes begin as such a library does.
pub fn is_elf(head: &[u8]) -> bool {
    head.starts_with(b"\x7fELF\x02\x01")
}

/// Whether such a library is for x86_64.
pub fn is_x86_64(head: &[u8]) -> bool {
    machine(head) == Some(X86_64)
}

/// The number of x86_64 among the machines (`EM_X86_64`).
const X86_64: u16 = 62;

/// Returns the number of the machine that such a library is for.
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
        X86_64 => "x86_64".into(),
        183 => "aarch64".into(),
        243 => "riscv64".into(),
        258 => "loongarch64".into(),
        other => format!("machine {other}"),
    }
}

/// Where the program headers end, and the headers: type, offset, address, size in the file.
pub fn segments(head: &[u8]) -> Option<(usize, Vec<Segment>)> {
    let at = usize::try_from(u64_at(head, 32)?).ok()?;
    let count = usize::from(u16_at(head, 56)?);
    let segment = |index: usize| {
        let at = at.checked_add(index * PROGRAM_HEADER)?;
        Some(Segment {
            kind: u32_at(head, at)?,
            flags: u32_at(head, at + 4)?,
            offset: u64_at(head, at + 8)?,
            address: u64_at(head, at + 16)?,
            size: u64_at(head, at + 32)?,
        })
    };
    let segments = (0..count).map(segment).collect::<Option<Vec<_>>>()?;
    let end = at.checked_add(count * PROGRAM_HEADER)?;
    (end <= head.len()).then_some((end, segments))
}

/// A program header.
pub struct Segment {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    size: u64,
}

/// Returns the ranges of the file that hold read-only data: the segments that are neither writable nor
/// executable, or where the linker put data beside code, all that are not writable.
pub fn read_only(head: &[u8]) -> Option<Vec<std::ops::Range<u64>>> {
    const EXECUTE: u32 = 1;
    const WRITE: u32 = 2;
    let (_, segments) = segments(head).filter(|_| is_elf(head))?;
    let mut segments: Vec<Segment> = segments
        .into_iter()
        .filter(|one| one.kind == LOAD && one.flags & WRITE == 0)
        .collect();
    if segments.first()?.flags & EXECUTE == 0 {
        segments.retain(|one| one.flags & EXECUTE == 0);
    }
    segments.sort_by_key(|one| one.offset);
    let range = |one: Segment| one.offset..one.offset.saturating_add(one.size);
    Some(segments.into_iter().map(range).collect())
}

/// Where in the file stands what is loaded.
pub fn loaded(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let segments = segments(bytes).filter(|_| is_elf(bytes));
    let (_, segments) = segments.unwrap_or_default();
    let place = |one: &Segment| {
        let end = one.offset.checked_add(one.size)?;
        Some(usize::try_from(one.offset).ok()?..usize::try_from(end).ok()?.min(bytes.len()))
    };
    let loaded = segments.iter().filter(|one| one.kind == LOAD);
    loaded.filter_map(place).collect()
}

/// Which names of a library are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// What it defines for others.
    Exports,
    /// What others must define for it.
    Imports,
}

/// Reads the exports by the dynamic section.
pub fn exports<B: Binary + ?Sized>(
    binary: &mut B,
    wanted: Wanted<'_>,
) -> Result<Exports, B::Error> {
    names(binary, wanted, Named::Exports)
}

/// Reads the exports, or in their place the imports, by the dynamic section.
pub fn names<B: Binary + ?Sized>(
    binary: &mut B,
    wanted: Wanted<'_>,
    named: Named,
) -> Result<Exports, B::Error> {
    let head = binary.part(0..4096)?;
    let Some((_, segments)) = segments(&head).filter(|_| is_elf(&head)) else {
        return Err(binary.malformed("it has no 64-bit little-endian ELF header"));
    };
    let dynamic = segments.iter().find(|segment| segment.kind == DYNAMIC);
    let Some(dynamic) = dynamic.filter(|found| found.size < DYNAMIC_MOST) else {
        return Err(binary.malformed("it has no dynamic section"));
    };
    let end = dynamic.offset.saturating_add(dynamic.size);
    let entries = binary.part(dynamic.offset..end)?;
    let Some(places) = Places::read(&entries, &segments) else {
        return Err(binary.malformed("its dynamic section names no symbols"));
    };
    let parts = binary.read(&places.ranges())?;
    let [symbols, names, definitions] = parts.as_slice() else {
        return Err(binary.malformed("its tables cannot be read"));
    };
    let count = symbols.len() / SYMBOL;
    let found = match named {
        Named::Exports => collect(symbols, count, names, wanted),
        Named::Imports => choose(symbols, count, names, wanted, is_imported),
    };
    let Some(found) = found else {
        return Err(binary.malformed("a symbol has no name in its string table"));
    };
    Ok(Exports {
        names: found,
        versions: versions(definitions, names).unwrap_or_default(),
    })
}

/// What the loader is told of other libraries.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The names of those that it must find.
    pub needed: Vec<String>,
    /// Folders to look for them, where `$ORIGIN` is the library's own.
    pub folders: Vec<String>,
}

/// What a library that is in memory needs; nothing where its dynamic section cannot be read.
pub fn needs(bytes: &[u8]) -> Option<Needs> {
    let (_, segments) = segments(bytes).filter(|_| is_elf(bytes))?;
    let dynamic = segments.iter().find(|segment| segment.kind == DYNAMIC)?;
    let part = |offset: u64, size: u64| {
        let (from, size) = (usize::try_from(offset).ok()?, usize::try_from(size).ok()?);
        bytes.get(from..from.checked_add(size)?)
    };
    let entries = part(dynamic.offset, dynamic.size)?;
    let places = Places::read(entries, &segments)?;
    let names = part(places.names, places.names_size)?;
    let texts = |wanted: &[u64]| -> Vec<String> {
        let pairs = entries.chunks_exact(16);
        let known = pairs.filter_map(|pair| Some((u64_at(pair, 0)?, u64_at(pair, 8)?)));
        let meant = known.filter(|(tag, _)| wanted.contains(tag));
        let text = meant.filter_map(|(_, at)| name_at(names, usize::try_from(at).ok()?));
        text.map(|text| String::from_utf8_lossy(text).into_owned())
            .collect()
    };
    let folders = texts(&[tag::RPATH, tag::RUNPATH]);
    Some(Needs {
        needed: texts(&[tag::NEEDED]),
        folders: folders
            .iter()
            .flat_map(|list| list.split(':'))
            .map(str::to_owned)
            .collect(),
    })
}

/// File offsets of the tables.
struct Places {
    symbols: u64,
    symbols_end: u64,
    names: u64,
    names_size: u64,
    definitions: Option<u64>,
}

impl Places {
    fn read(entries: &[u8], segments: &[Segment]) -> Option<Self> {
        let value = |wanted: u64| {
            let pairs = entries.chunks_exact(16);
            let mut known = pairs.map(|pair| (u64_at(pair, 0), u64_at(pair, 8)));
            known.find_map(|(tag, value)| (tag == Some(wanted)).then_some(value?))
        };
        let place = |wanted: u64| offset(value(wanted)?, segments);
        let symbols = place(tag::SYMTAB)?;
        // The table does not say its length: it ends where the next one begins.
        let others = [
            tag::STRTAB,
            tag::VERSYM,
            tag::GNU_HASH,
            tag::HASH,
            tag::VERDEF,
            tag::VERNEED,
        ];
        let behind = others
            .into_iter()
            .filter_map(place)
            .filter(|at| *at > symbols);
        Some(Self {
            symbols,
            symbols_end: behind.min()?.min(symbols.checked_add(TABLE_MOST)?),
            names: place(tag::STRTAB)?,
            names_size: value(tag::STRSZ)?.min(TABLE_MOST),
            definitions: place(tag::VERDEF),
        })
    }

    fn ranges(&self) -> [std::ops::Range<u64>; 3] {
        let definitions = self
            .definitions
            .map_or(0..0, |at| at..at.saturating_add(4096));
        [
            self.symbols..self.symbols_end,
            self.names..self.names.saturating_add(self.names_size),
            definitions,
        ]
    }
}

fn offset(address: u64, segments: &[Segment]) -> Option<u64> {
    let has = |segment: &&Segment| {
        let inside = address.checked_sub(segment.address);
        segment.kind == LOAD && inside.is_some_and(|inside| inside < segment.size)
    };
    let segment = segments.iter().find(has)?;
    segment.offset.checked_add(address - segment.address)
}

/// The wanted names that are exported among `count` symbols; nothing where a name leads out of the
/// names.
pub fn collect(
    symbols: &[u8],
    count: usize,
    names: &[u8],
    wanted: Wanted<'_>,
) -> Option<Vec<String>> {
    choose(symbols, count, names, wanted, is_exported)
}

fn choose(
    symbols: &[u8],
    count: usize,
    names: &[u8],
    wanted: Wanted<'_>,
    is_meant: fn(&[u8]) -> bool,
) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for symbol in symbols.chunks_exact(SYMBOL).take(count).skip(1) {
        if !is_meant(symbol) {
            continue;
        }
        let name = name_at(names, u32_at(symbol, 0)? as usize)?;
        let name = std::str::from_utf8(name).ok().filter(|name| wanted(name));
        found.extend(name.map(str::to_owned));
    }
    found.sort();
    found.dedup();
    Some(found)
}

/// Defined, global or weak, and visible.
fn is_exported(symbol: &[u8]) -> bool {
    let (info, other, section) = (symbol[4], symbol[5], u16_at(symbol, 6));
    let visible = matches!(other & 3, 0 | 3);
    section != Some(0) && matches!(info >> 4, 1 | 2 | 10) && visible
}

/// Global or weak, and defined elsewhere.
fn is_imported(symbol: &[u8]) -> bool {
    u16_at(symbol, 6) == Some(0) && matches!(symbol[4] >> 4, 1 | 2)
}

/// The names of defined versions, but the first, which is the library's own name.
pub fn versions(definitions: &[u8], names: &[u8]) -> Option<Vec<String>> {
    let (mut found, mut at) = (Vec::new(), 0_usize);
    while u16_at(definitions, at) == Some(1) {
        let is_base = u16_at(definitions, at + 2)? & 1 == 1;
        let auxiliary = at.checked_add(u32_at(definitions, at + 12)? as usize)?;
        let name = name_at(names, u32_at(definitions, auxiliary)? as usize)?;
        if !is_base {
            found.push(String::from_utf8_lossy(name).into_owned());
        }
        match u32_at(definitions, at + 16)? as usize {
            0 => break,
            next => at = at.checked_add(next)?,
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Memory, library};

    fn tf(name: &str) -> bool {
        name.starts_with("TF_")
    }

    #[test]
    fn exported_names_and_versions_are_read() {
        for lld in [false, true] {
            let bytes = library(&["TF_B", "TF_A", "_ZN1x"], lld, 100);
            let found = exports(&mut Memory::new(bytes), &tf).unwrap();
            assert_eq!(found.names, ["TF_A", "TF_B"], "lld: {lld}");
            assert_eq!(found.versions, ["VERSION"], "lld: {lld}");
        }
    }

    #[test]
    fn a_truncated_library_is_an_error_or_shorter_never_a_panic() {
        let bytes = library(&["TF_B", "TF_A"], true, 10);
        for length in 0..bytes.len() {
            if let Ok(found) = exports(&mut Memory::new(bytes[..length].to_vec()), &tf) {
                assert!(found.names.len() <= 2);
            }
        }
        assert!(exports(&mut Memory::new(b"MZ".to_vec()), &tf).is_err());
    }

    #[test]
    fn headers_at_the_end_of_all_addresses_are_none() {
        let mut bytes = library(&["TF_A"], true, 10);
        bytes[32..40].fill(0xff);
        bytes[56..58].fill(0);
        assert!(segments(&bytes).is_none());
        assert!(exports(&mut Memory::new(bytes), &tf).is_err());
    }

    #[test]
    fn a_library_with_any_byte_changed_does_not_panic() {
        let bytes = library(&["TF_B", "TF_A"], false, 10);
        for at in 0..bytes.len() {
            for value in [0, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = exports(&mut Memory::new(changed), &tf);
            }
        }
    }
}
