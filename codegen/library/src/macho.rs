//! The export trie of a Mach-O library: 64 bits, little-endian, one architecture.

use super::binary::{Binary, Exports, Wanted, name_at, u32_at};
use std::ops::Range;

const HEADER: u64 = 32;
const COMMANDS_MOST: u64 = 1 << 20;
const TRIE_MOST: u64 = 256 << 20;
const DYLD_INFO: u32 = 0x22;
const EXPORTS_TRIE: u32 = 0x33;
/// Commands that a loader must know have this bit besides.
const REQUIRED: u32 = 0x8000_0000;

/// Whether the bytes begin as such a library does.
pub fn is_macho(head: &[u8]) -> bool {
    head.starts_with(&[0xcf, 0xfa, 0xed, 0xfe])
}

/// Reads the exports; C's names without their underscore.
pub fn exports<B: Binary + ?Sized>(
    binary: &mut B,
    wanted: Wanted<'_>,
) -> Result<Exports, B::Error> {
    let head = binary.part(0..HEADER)?;
    let size = u32_at(&head, 20).map(u64::from).filter(|_| is_macho(&head));
    let Some(size) = size.filter(|size| *size <= COMMANDS_MOST) else {
        return Err(binary.malformed("it has no 64-bit Mach-O header"));
    };
    let commands = binary.part(HEADER..HEADER + size)?;
    let Some(place) = trie_place(&commands) else {
        return Err(binary.malformed("none of its load commands names its exports"));
    };
    let trie = binary.part(place)?;
    let mut names = Vec::new();
    if walk(&trie, wanted, &mut names).is_none() {
        return Err(binary.malformed("its export trie leads out of itself"));
    }
    names.sort();
    names.dedup();
    Ok(Exports {
        names,
        versions: Vec::new(),
    })
}

fn trie_place(commands: &[u8]) -> Option<Range<u64>> {
    let mut at = 0;
    while let Some(command) = u32_at(commands, at) {
        let place = match command & !REQUIRED {
            DYLD_INFO => Some(40),
            EXPORTS_TRIE => Some(8),
            _ => None,
        };
        if let Some(place) = place {
            let offset = u64::from(u32_at(commands, at + place)?);
            let size = u64::from(u32_at(commands, at + place + 4)?);
            return Some(offset..offset + size.min(TRIE_MOST));
        }
        let size = u32_at(commands, at + 4)? as usize;
        at = at.checked_add(size.max(8))?;
    }
    None
}

/// Visits each node once at most as often as there are bytes, so that a crafted trie ends.
fn walk(trie: &[u8], wanted: Wanted<'_>, found: &mut Vec<String>) -> Option<()> {
    if trie.is_empty() {
        return Some(());
    }
    let mut left = trie.len();
    let mut open = vec![(0_usize, Vec::new())];
    while let Some((node, name)) = open.pop() {
        left = left.checked_sub(1)?;
        let mut at = node;
        let terminal = uleb(trie, &mut at)?;
        if terminal > 0 {
            let text = std::str::from_utf8(&name).ok();
            let plain = text.and_then(|text| text.strip_prefix('_'));
            found.extend(plain.filter(|plain| wanted(plain)).map(str::to_owned));
        }
        at = at.checked_add(usize::try_from(terminal).ok()?)?;
        let children = *trie.get(at)?;
        at += 1;
        for _ in 0..children {
            let label = name_at(trie, at)?;
            at += label.len() + 1;
            let child = usize::try_from(uleb(trie, &mut at)?).ok()?;
            let longer = [name.as_slice(), label].concat();
            // C++ names are most of a library and never asked for.
            if !longer.starts_with(b"__Z") {
                open.push((child, longer));
            }
        }
    }
    Some(())
}

/// A number in sevens of bits, the low ones first.
fn uleb(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
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
    use crate::sample::Memory;

    /// `_TF_A`, `_TF_B` and `__Zx` behind some code.
    fn library() -> Vec<u8> {
        let mut trie = vec![0, 2];
        // Children of the root: "_TF_" at 17, "__Zx" at 30.
        trie.extend(b"_TF_\0\x11");
        trie.extend(b"__Zx\0\x1e");
        trie.resize(17, 0);
        trie.extend(b"\0\x02A\0\x21B\0\x25");
        trie.resize(30, 0);
        trie.extend([1, 0, 0]);
        trie.extend([2, 0, 8, 0, 2, 0, 9, 0]);
        let mut bytes = vec![0xcf, 0xfa, 0xed, 0xfe];
        bytes.resize(16, 0);
        bytes.extend([2, 0, 0, 0, 24, 0, 0, 0]);
        bytes.resize(32, 0);
        bytes.extend([0x19, 0, 0, 0, 8, 0, 0, 0]);
        bytes.extend([
            0x33,
            0,
            0,
            0x80,
            16,
            0,
            0,
            0,
            200,
            0,
            0,
            0,
            trie.len() as u8,
            0,
            0,
            0,
        ]);
        bytes.resize(200, 0xcc);
        bytes.extend(trie);
        bytes
    }

    fn tf(name: &str) -> bool {
        name.starts_with("TF_")
    }

    #[test]
    fn names_come_without_their_underscore() {
        let found = exports(&mut Memory::new(library()), &tf).unwrap();
        assert_eq!(found.names, ["TF_A", "TF_B"]);
    }

    #[test]
    fn what_is_changed_or_cut_does_not_panic_and_ends() {
        let bytes = library();
        for at in 0..bytes.len() {
            let _ = exports(&mut Memory::new(bytes[..at].to_vec()), &tf);
            for value in [0, 1, 0x11, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = exports(&mut Memory::new(changed), &tf);
            }
        }
    }
}
