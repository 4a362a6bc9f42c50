//! Finds core's validation messages in the read-only data of a library: `'FIELD' field in STRUCT must be set.`

use memchr::memmem::Finder;

use sp_data::required_fields::RequiredFields;
use sp_library::binary::Binary;
use sp_library::elf;

use crate::range::coalesce;

/// The largest gap between ranges that are read in one pass.
const NEAR: u64 = 1 << 16;

const MIDDLE: &[u8] = b"' field in ";
const END: &[u8] = b" must be set.\0";
/// Maximum length of a message with the zeros around it. The names in TensorFlow are much shorter.
const MAX_MESSAGE_LENGTH: usize = 256;

/// Returns the fields that the messages of a library require, or `None` if it is not an ELF library.
///
/// # Errors
/// Returns an error if the library cannot be read.
pub fn scan<B: Binary + ?Sized>(library: &mut B) -> Result<Option<RequiredFields>, B::Error> {
    let head = library.read_range(0..4096)?;
    let Some(ranges) = elf::read_only_ranges(&head) else {
        return Ok(None);
    };
    let mut found = RequiredFields::default();
    let (mut scanner, mut current) = (Scanner::new(&mut found), 0);
    library.stream_ranges(&coalesce(ranges, NEAR), &mut |index, part| {
        if index != current {
            scanner.window.clear();
            current = index;
        }
        scanner.feed(part);
    })?;
    Ok(Some(found))
}

/// Finds messages in bytes that are fed part by part.
struct Scanner<'d> {
    found: &'d mut RequiredFields,
    middle: Finder<'static>,
    /// The end of the previous parts, followed by the current part.
    window: Vec<u8>,
}

impl<'d> Scanner<'d> {
    fn new(found: &'d mut RequiredFields) -> Self {
        Self {
            found,
            middle: Finder::new(MIDDLE),
            window: Vec::new(),
        }
    }

    fn feed(&mut self, part: &[u8]) {
        self.window.extend_from_slice(part);
        for at in self.middle.find_iter(&self.window) {
            if let Some((structure, field)) = parse_message(&self.window, at) {
                self.found.insert(structure, field);
            }
        }
        // A message that is cut here is complete in the next window.
        let overlap = self.window.len().min(2 * MAX_MESSAGE_LENGTH);
        self.window.drain(..self.window.len() - overlap);
    }
}

/// Returns struct and field of the message whose middle is at `at`. The message must have a zero byte on either side.
fn parse_message(bytes: &[u8], at: usize) -> Option<(&str, &str)> {
    let before = &bytes[at.saturating_sub(MAX_MESSAGE_LENGTH)..at];
    let quote = before.iter().rposition(|byte| *byte == b'\'')?;
    let field = &before[quote + 1..];
    let has_start = quote.checked_sub(1).map(|zero| before[zero]) == Some(0);
    let after = &bytes[at + MIDDLE.len()..bytes.len().min(at + MAX_MESSAGE_LENGTH)];
    let structure = &after[..after.iter().position(|byte| *byte == b' ')?];
    let has_end = after[structure.len()..].starts_with(END);
    let is_message = has_start && has_end && is_name(field) && is_name(structure);
    let text = |name| std::str::from_utf8(name).ok();
    is_message.then_some((text(structure)?, text(field)?))
}

/// Returns true if `text` is a C identifier.
fn is_name(text: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    text.first().is_some_and(|first| !first.is_ascii_digit()) && text.iter().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_library::sample::{MemoryLibrary, elf_library};

    fn scan_parts(parts: &[&[u8]]) -> Vec<(String, String)> {
        let mut found = RequiredFields::default();
        let mut scanner = Scanner::new(&mut found);
        parts.iter().for_each(|part| scanner.feed(part));
        let pairs = found.pairs();
        pairs
            .map(|(structure, field)| (structure.into(), field.into()))
            .collect()
    }

    const TEXT: &[u8] = b"\0'open' field in SP_S must be set.\0";

    fn pair() -> Vec<(String, String)> {
        vec![("SP_S".into(), "open".into())]
    }

    #[test]
    fn finds_message_across_any_part_boundary() {
        for cut in 0..TEXT.len() {
            let (first, second) = TEXT.split_at(cut);
            assert_eq!(scan_parts(&[first, second]), pair(), "{cut}");
        }
        let single: Vec<&[u8]> = TEXT.chunks(1).collect();
        assert_eq!(scan_parts(&single), pair());
    }

    #[test]
    fn rejects_texts_that_are_not_a_whole_message() {
        let texts: [&[u8]; 8] = [
            b"\0'open' field in SP_S must be set\0",
            b"\0'open' field in SP_S must be set. \0",
            b"\0The 'open' field in SP_S must be set.\0",
            b"'open' field in SP_S must be set.\0",
            b"\0'' field in SP_S must be set.\0",
            b"\0'%s' field in SP_S must be set.\0",
            b"\0'open' field in  must be set.\0",
            b"\0'open' field in 9S must be set.\0",
        ];
        for text in texts {
            let shown = String::from_utf8_lossy(text);
            assert_eq!(scan_parts(&[text]), [], "{shown}");
        }
    }

    #[test]
    fn rejects_names_longer_than_a_message() {
        let long = format!(
            "\0'{}' field in SP_S must be set.\0",
            "x".repeat(2 * MAX_MESSAGE_LENGTH)
        );
        assert_eq!(scan_parts(&[long.as_bytes()]), []);
    }

    #[test]
    fn does_not_panic_on_truncated_or_changed_libraries() {
        let bytes = elf_library(&["TF_A"], true, 64);
        for at in 0..bytes.len() {
            let _ = scan(&mut MemoryLibrary::new(bytes[..at].to_vec()));
            for value in [0, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = scan(&mut MemoryLibrary::new(changed));
            }
        }
        assert_eq!(scan(&mut MemoryLibrary::new(b"MZ".to_vec())).unwrap(), None);
    }

    #[test]
    fn joins_near_ranges() {
        let ranges = vec![0..10, 10..20, 1 << 20..2 << 20];
        assert_eq!(coalesce(ranges, NEAR), [0..20, 1 << 20..2 << 20]);
    }
}
