//! The sections of a program, and the tables of strings, dialects and names of operations.

use std::str;

use crate::cursor::Cursor;
use crate::error::ReadError;

const MAGIC: [u8; 4] = *b"ML\xefR";
/// Versions of the format: 1 has versions of dialects, 6 is the newest.
const VERSIONS: std::ops::RangeInclusive<u64> = 1..=6;
const SECTIONS: usize = 9;

pub(crate) const STRINGS: usize = 0;
pub(crate) const DIALECTS: usize = 1;
pub(crate) const ENTRIES: usize = 2;
pub(crate) const ENTRY_SIZES: usize = 3;
pub(crate) const OPERATIONS: usize = 4;
pub(crate) const DIALECT_VERSION: usize = 7;
pub(crate) const PROPERTIES: usize = 8;

/// The header of a program and its sections.
pub(crate) struct Sections<'a> {
    pub version: u64,
    pub producer: &'a [u8],
    sections: [Option<Cursor<'a>>; SECTIONS],
    end: Cursor<'a>,
}

impl<'a> Sections<'a> {
    pub fn read(program: &'a [u8]) -> Result<Self, ReadError> {
        let mut cursor = Cursor::new(program);
        if !program.starts_with(&MAGIC) {
            return cursor.error("the program is not MLIR bytecode");
        }
        cursor.bytes(MAGIC.len())?;
        let start = cursor;
        let version = cursor.varint()?;
        if !VERSIONS.contains(&version) {
            return start.error(format!(
                "version {version} of the format is unknown, 1 to 6 are known"
            ));
        }
        let producer = cursor.terminated()?;
        let mut sections = [None; SECTIONS];
        while !cursor.is_empty() {
            let start = cursor;
            let (id, section) = read_section(&mut cursor)?;
            match sections.get_mut(id) {
                Some(place @ None) => *place = Some(section),
                Some(_) => return start.error(format!("section {id} exists twice")),
                None => return start.error(format!("section {id} is unknown")),
            }
        }
        Ok(Self {
            version,
            producer,
            sections,
            end: cursor,
        })
    }

    pub fn find(&self, id: usize) -> Option<Cursor<'a>> {
        self.sections[id]
    }

    pub fn get(&self, id: usize) -> Result<Cursor<'a>, ReadError> {
        self.sections[id].map_or_else(|| self.end.error(format!("section {id} is absent")), Ok)
    }
}

/// Reads the header of a section, and skips the section.
pub(crate) fn read_section<'a>(cursor: &mut Cursor<'a>) -> Result<(usize, Cursor<'a>), ReadError> {
    let id = cursor.byte()?;
    let length = cursor.count()?;
    if id & 0x80 != 0 {
        let alignment = cursor.varint()?;
        if !alignment.is_power_of_two() || alignment > 1 << 20 {
            return cursor.error(format!("{alignment} is not an alignment"));
        }
        cursor.bytes(cursor.offset.next_multiple_of(alignment as usize) - cursor.offset)?;
    }
    Ok((usize::from(id & 0x7f), cursor.range(length)?))
}

/// Reads the strings, each without the zero at its end. Their lengths are in reverse order.
pub(crate) fn read_strings<'a>(mut cursor: Cursor<'a>) -> Result<Vec<&'a [u8]>, ReadError> {
    let mut lengths = cursor.list(Cursor::varint)?;
    lengths.reverse();
    let read = |length: u64| {
        let length = cursor.checked_count(length)?;
        let start = cursor;
        match cursor.bytes(length)? {
            [text @ .., 0] => Ok(text),
            _ => start.error("a string does not end with a zero"),
        }
    };
    lengths.into_iter().map(read).collect()
}

/// A dialect that a program uses.
#[derive(Debug, PartialEq, Eq)]
pub struct Dialect<'a> {
    /// Its name.
    pub name: &'a str,
    /// Numbers of its version, none if the program states no version.
    pub version: Vec<u64>,
}

/// The dialects, and the name of each operation with the index of its dialect.
pub(crate) struct Names<'a> {
    pub dialects: Vec<Dialect<'a>>,
    pub operations: Vec<(usize, &'a str)>,
}

impl<'a> Names<'a> {
    pub fn read(
        mut cursor: Cursor<'a>,
        strings: &[&'a [u8]],
        version: u64,
    ) -> Result<Self, ReadError> {
        let dialects = cursor.list(|cursor| read_dialect(cursor, strings))?;
        if version >= 4 {
            cursor.varint()?;
        }
        let mut operations = Vec::new();
        while !cursor.is_empty() {
            let dialect = cursor.index(dialects.len(), "dialect")?;
            for _ in 0..cursor.count()? {
                let index = cursor.varint()?;
                let index = if version >= 5 { index >> 1 } else { index };
                operations.push((dialect, read_name(&cursor, strings, index)?));
            }
        }
        Ok(Self {
            dialects,
            operations,
        })
    }
}

fn read_name<'a>(
    cursor: &Cursor<'a>,
    strings: &[&'a [u8]],
    index: u64,
) -> Result<&'a str, ReadError> {
    let name = strings[cursor.checked_index(index, strings.len(), "string")?];
    match str::from_utf8(name) {
        Ok(name) if name.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(name),
        _ => cursor.error("a name has characters other than printable ASCII"),
    }
}

fn read_dialect<'a>(
    cursor: &mut Cursor<'a>,
    strings: &[&'a [u8]],
) -> Result<Dialect<'a>, ReadError> {
    let (name, has_version) = cursor.flagged()?;
    let name = read_name(cursor, strings, name)?;
    let mut version = Vec::new();
    if has_version {
        let (id, mut section) = read_section(cursor)?;
        if id != DIALECT_VERSION {
            return cursor.error(format!("section {id} is no version of a dialect"));
        }
        while !section.is_empty() {
            version.push(section.varint()?);
        }
    }
    Ok(Dialect { name, version })
}
