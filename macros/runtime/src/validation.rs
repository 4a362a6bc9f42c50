//! The slots that a host requires, read from the messages with which it rejects a table without them.
//!
//! TensorFlow's libraries contain a text such as `'memset' field in SP_StreamExecutor must be set` for each
//! required field, in their read-only data. These texts show whether a slot that is newer than this crate
//! may stay null.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use memchr::memmem::Finder;

/// The part of the message between the field's name and the struct's.
const BETWEEN_NAMES: &[u8] = b"' field in ";
/// The part behind the struct's name.
const AFTER_NAMES: &[u8] = b" must be set";
/// Longest name of a field or a struct, in bytes.
const MAX_NAME: usize = 120;
/// Longest message, in bytes: chunks overlap by as much.
const MAX_MESSAGE: usize = 2 * MAX_NAME + BETWEEN_NAMES.len() + AFTER_NAMES.len() + 2;
const CHUNK: usize = 1 << 20;
/// Limit for the part of a library that is searched, in bytes.
const MAX_SEARCH: u64 = 512 << 20;

/// The required fields: pairs of a struct's name and a field's name.
pub type RequiredFields = BTreeSet<(String, String)>;

/// Reads the required fields from the library at `path`: from its `.rodata` section if it is a 64-bit
/// ELF file of this machine's byte order, else from the whole file.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn required_fields(path: &Path) -> io::Result<RequiredFields> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let (start, len) = find_read_only_data(&mut file, size).unwrap_or((0, size));
    if len > MAX_SEARCH {
        return Err(io::Error::other("it is too large to be searched"));
    }
    file.seek(SeekFrom::Start(start))?;
    search(file.take(len))
}

fn search(mut reader: impl Read) -> io::Result<RequiredFields> {
    let finder = Finder::new(BETWEEN_NAMES);
    let mut found = RequiredFields::new();
    let mut chunk = Vec::with_capacity(CHUNK + MAX_MESSAGE);
    loop {
        let overlap = chunk.len().min(MAX_MESSAGE);
        chunk.drain(..chunk.len() - overlap);
        let read = reader.by_ref().take(CHUNK as u64).read_to_end(&mut chunk)?;
        if read == 0 {
            return Ok(found);
        }
        found.extend(
            finder
                .find_iter(&chunk)
                .filter_map(|position| parse_message(&chunk, position)),
        );
    }
}

/// Returns the struct and the field of a message whose [`BETWEEN_NAMES`] begins at `position`.
fn parse_message(bytes: &[u8], position: usize) -> Option<(String, String)> {
    let before = &bytes[position.saturating_sub(MAX_NAME)..position];
    let quote = before.iter().rposition(|it| *it == b'\'')?;
    let field = identifier(&before[quote + 1..])?;
    let rest = bytes.get(position + BETWEEN_NAMES.len()..)?;
    let end = rest.iter().take(MAX_NAME).position(|it| !is_word(*it))?;
    let name = identifier(&rest[..end])?;
    rest[end..]
        .starts_with(AFTER_NAMES)
        .then_some((name, field))
}

fn identifier(bytes: &[u8]) -> Option<String> {
    let is_name = !bytes.is_empty() && bytes.iter().all(|it| is_word(*it));
    is_name.then(|| String::from_utf8_lossy(bytes).into_owned())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns offset and length of an ELF file's `.rodata` section. Every number of the file is checked
/// against its size.
fn find_read_only_data(file: &mut File, size: u64) -> Option<(u64, u64)> {
    let header: [u8; 64] = read_at(file, 0)?;
    let order = if cfg!(target_endian = "little") { 1 } else { 2 };
    if header[..4] != *b"\x7fELF" || header[4] != 2 || header[5] != order {
        return None;
    }
    let sections = u64::from_ne_bytes(header[40..48].try_into().ok()?);
    let half = |at: usize| u16::from_ne_bytes([header[at], header[at + 1]]);
    let (entry_size, count, names) = (u64::from(half(58)), half(60), half(62));
    let mut section = |index: u16| -> Option<[u8; 64]> {
        let offset = sections.checked_add(entry_size.checked_mul(u64::from(index))?)?;
        (entry_size >= 64).then(|| read_at(file, offset))?
    };
    let range = |entry: &[u8; 64]| -> Option<(u64, u64)> {
        let word = |at: usize| u64::from_ne_bytes(entry[at..at + 8].try_into().unwrap_or_default());
        let (offset, len) = (word(24), word(32));
        (offset.checked_add(len)? <= size).then_some((offset, len))
    };
    let entries: Vec<_> = (0..count).map_while(&mut section).collect();
    let (names, names_len) = range(entries.get(usize::from(names))?)?;
    entries.iter().find_map(|entry| {
        let name = u64::from(u32::from_ne_bytes(entry[..4].try_into().ok()?));
        let is_named: [u8; 8] = read_at(file, names.checked_add(name)?)?;
        let is_inside = name < names_len && is_named == *b".rodata\0";
        is_inside.then(|| range(entry))?
    })
}

fn read_at<const N: usize>(file: &mut File, offset: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    file.seek(SeekFrom::Start(offset)).ok()?;
    file.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search_names(bytes: &[u8]) -> Vec<String> {
        let required = search(bytes).unwrap();
        let names = required
            .iter()
            .map(|(name, field)| format!("{name}.{field}"));
        names.collect()
    }

    #[test]
    fn finds_well_formed_messages_only() {
        let bytes =
            b"\0'memset' field in SP_StreamExecutor must be set.\0' field in X must be set\0\
            'a b' field in X must be set\0'x' field in must be set\0'y' field in Y may be set\0\
            'name' field in SP_Platform must be set";
        assert_eq!(
            search_names(bytes),
            ["SP_Platform.name", "SP_StreamExecutor.memset"]
        );
        assert!(search_names(b"").is_empty() && search_names(BETWEEN_NAMES).is_empty());
    }

    #[test]
    fn finds_message_across_chunk_boundary() {
        let message = b"'start' field in TP_ProfilerFns must be set";
        for shift in [1, 7, 20, message.len() - 1] {
            let mut bytes = vec![b'x'; CHUNK - shift];
            bytes.extend_from_slice(message);
            bytes.push(0);
            assert_eq!(search_names(&bytes), ["TP_ProfilerFns.start"], "{shift}");
        }
    }

    #[test]
    fn finds_message_in_own_executable() {
        // `black_box` keeps this message in the read-only data of the test's executable.
        let text = std::hint::black_box("'here' field in SP_ThisTest must be set.");
        assert!(text.ends_with('.'));
        let required = required_fields(&std::env::current_exe().unwrap()).unwrap();
        assert!(required.contains(&("SP_ThisTest".into(), "here".into())));
    }

    #[test]
    fn searches_whole_file_if_sections_lie_outside_of_it() {
        let mut header = [0_u8; 64];
        header[..6].copy_from_slice(b"\x7fELF\x02\x01");
        header[40..48].copy_from_slice(&u64::MAX.to_ne_bytes());
        header[58..64].copy_from_slice(&[64, 0, 255, 255, 1, 0]);
        let path = std::env::temp_dir().join(format!("sp-elf-{}", std::process::id()));
        std::fs::write(&path, header).unwrap();
        assert_eq!(
            find_read_only_data(&mut File::open(&path).unwrap(), 64),
            None
        );
        assert!(required_fields(&path).unwrap().is_empty());
        std::fs::remove_file(&path).unwrap();
    }
}
