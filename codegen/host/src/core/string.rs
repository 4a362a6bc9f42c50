//! `TF_TString`: an element of a tensor of strings.
//!
//! The layout is TensorFlow's, since plugins in C read it with inline functions. The host copies each text once, and
//! keeps it for the life of the process, so that strings can be copied byte for byte.

use std::ffi::c_char;
use std::sync::Mutex;

use super::argument::{List, Out};
use super::functions::functions;
use crate::lock;
use crate::memory::POISON;

/// A string. All bytes 0 are the empty one.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct StringElement {
    /// Size and kind: the low two bits of the first byte are the kind, those above the size.
    head: u64,
    /// The capacity of a large string, the address of a view.
    second: u64,
    /// The address of a large string.
    third: u64,
}

/// The kind of a string, in its low two bits.
const KIND_BITS: u64 = 2;
const SMALL: u64 = 0;
const LARGE: u64 = 1;
const OFFSET: u64 = 2;
const VIEW: u64 = 3;

/// The largest size of a text in the element itself: a byte has the size, and another one is the NUL.
const INLINE_CAPACITY: usize = size_of::<StringElement>() - 2;

static TEXTS: Mutex<Vec<Box<[u8]>>> = Mutex::new(Vec::new());

impl StringElement {
    const EMPTY: Self = Self {
        head: 0,
        second: 0,
        third: 0,
    };

    /// Returns a view of a copy of `text`.
    pub fn new(text: &[u8]) -> Self {
        let text: Box<[u8]> = text.into();
        let head = (text.len() as u64) << KIND_BITS | VIEW;
        let second = text.as_ptr().expose_provenance() as u64;
        lock(&TEXTS).push(text);
        Self {
            head,
            second,
            third: 0,
        }
    }

    /// Returns the element of these bytes.
    ///
    /// # Panics
    /// Panics if there are fewer bytes than an element has.
    fn from_bytes(bytes: &[u8]) -> Self {
        let word = |index: usize| {
            let bytes = &bytes[index * size_of::<u64>()..][..size_of::<u64>()];
            u64::from_ne_bytes(bytes.try_into().expect("eight bytes"))
        };
        Self {
            head: word(0),
            second: word(1),
            third: word(2),
        }
    }

    /// Returns the bytes of the element.
    pub fn to_bytes(self) -> [u8; size_of::<Self>()] {
        let words = [self.head, self.second, self.third];
        let mut bytes = [0; size_of::<Self>()];
        for (part, word) in bytes.chunks_mut(size_of::<u64>()).zip(words) {
            part.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    /// Returns the size of the text.
    fn size(self) -> usize {
        let size = match self.head & ((1 << KIND_BITS) - 1) {
            SMALL => self.head & 0xFF,
            OFFSET => self.head & 0xFFFF_FFFF,
            _ => self.head,
        };
        (size >> KIND_BITS) as usize
    }

    /// Returns the address of the text of the string at `element`.
    fn data(self, element: usize) -> usize {
        match self.head & ((1 << KIND_BITS) - 1) {
            SMALL => element + 1,
            LARGE => self.third as usize,
            OFFSET => element.saturating_add((self.head >> 32) as usize),
            _ => self.second as usize,
        }
    }
}

/// Returns the texts of the first `count` strings of a tensor whose memory is `memory`.
///
/// # Errors
/// Returns the reason if a string is invalid: if its text is not in the memory where its kind has it, or has no address.
///
/// # Safety
/// - The text of each large string and of each view is readable.
pub(crate) unsafe fn texts(memory: &[u8], count: usize) -> Result<Vec<Vec<u8>>, String> {
    let text = |index: usize| {
        // SAFETY: the caller guarantees that the texts are readable.
        let text = unsafe { text(memory, index.saturating_mul(size_of::<StringElement>())) };
        let text = text.map_err(|reason| format!("string {index} {reason}"))?;
        Ok(text.to_vec())
    };
    (0..count).map(text).collect()
}

/// Returns the text of the string at the offset `start` of a tensor's memory.
///
/// # Safety
/// - The text of a large string or a view is readable.
unsafe fn text(memory: &[u8], start: usize) -> Result<&[u8], String> {
    let end = start.saturating_add(size_of::<StringElement>());
    let bytes = memory.get(start..end);
    let bytes = bytes.ok_or("is not in the tensor's memory")?;
    if bytes.iter().all(|byte| *byte == POISON) {
        return Err("is not written".to_owned());
    }
    let string = StringElement::from_bytes(bytes);
    let size = string.size();
    match string.head & ((1 << KIND_BITS) - 1) {
        SMALL if size > INLINE_CAPACITY => Err(format!(
            "is a small one of {size} bytes, and has room for {INLINE_CAPACITY}"
        )),
        SMALL => Ok(&bytes[1..=size]),
        OFFSET => {
            let begin = string.data(start);
            let text = memory.get(begin..begin.saturating_add(size));
            text.ok_or_else(|| {
                format!(
                    "has its {size} bytes at the offset {begin} of a tensor of {}",
                    memory.len()
                )
            })
        }
        _ if size == 0 => Ok(&[]),
        _ => match std::ptr::with_exposed_provenance::<u8>(string.data(start)) {
            address if address.is_null() => Err(format!("has {size} bytes and no address")),
            // SAFETY: the caller guarantees that the text is readable. A size of 62 bits is below `isize::MAX`.
            address => Ok(unsafe { std::slice::from_raw_parts(address, size) }),
        },
    }
}

functions! {
    fn TF_StringInit(string: Out<StringElement>) {
        string.set(StringElement::EMPTY);
    }

    fn TF_StringCopy(string: Out<StringElement>, text: List<c_char>, size: usize) {
        let text: Vec<u8> = text.values(size).iter().map(|byte| *byte as u8).collect();
        string.set(StringElement::new(&text));
    }

    fn TF_StringAssignView(string: Out<StringElement>, text: List<c_char>, size: usize) {
        let head = (size as u64) << KIND_BITS | VIEW;
        string.set(StringElement { head, second: text.address() as u64, third: 0 });
    }

    fn TF_StringGetDataPointer(string: List<StringElement>) -> *const c_char {
        let data = string.first().map_or(0, |it| it.data(string.address() as usize));
        data as *const c_char
    }

    fn TF_StringGetSize(string: List<StringElement>) -> usize {
        string.first().map_or(0, StringElement::size)
    }

    fn TF_StringDealloc(string: Out<StringElement>) {
        string.set(StringElement::EMPTY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = size_of::<StringElement>();

    /// Returns an element with this kind, size and offset, and no address.
    fn element(kind: u64, size: u64, offset: u32) -> [u8; SIZE] {
        let head = size << KIND_BITS | kind | u64::from(offset) << 32;
        let (second, third) = (0, 0);
        StringElement {
            head,
            second,
            third,
        }
        .to_bytes()
    }

    fn checked_texts(elements: &[[u8; SIZE]]) -> Result<Vec<Vec<u8>>, String> {
        // SAFETY: the large strings and views in the tests are those of the host, or have no address.
        unsafe { texts(elements.as_flattened(), elements.len()) }
    }

    fn error(elements: &[[u8; SIZE]]) -> String {
        checked_texts(elements).unwrap_err()
    }

    #[test]
    fn texts_are_those_of_views_and_small_strings() {
        let long = b"a text that is longer than the string's own bytes";
        let mut small = [0; SIZE];
        small[0] = 3 << KIND_BITS;
        small[1..4].copy_from_slice(b"abc");
        let empty = StringElement::EMPTY.to_bytes();
        let elements = [StringElement::new(long).to_bytes(), small, empty];
        let expected = [&long[..], b"abc", b""].map(<[u8]>::to_vec);
        assert_eq!(checked_texts(&elements).unwrap(), expected);
    }

    #[test]
    fn texts_of_offsets_are_in_the_memory_behind_the_elements() {
        let memory = [element(OFFSET, 4, 24 + 2), *b"..text.................."];
        // SAFETY: the memory has no large string and no view.
        let found = unsafe { texts(memory.as_flattened(), 1) };
        assert_eq!(found.unwrap(), [b"text"]);
    }

    #[test]
    fn rejects_small_string_that_exceeds_its_element() {
        let full = element(SMALL, INLINE_CAPACITY as u64, 0);
        assert_eq!(checked_texts(&[full]).unwrap()[0].len(), INLINE_CAPACITY);
        for size in [23, 24, 63] {
            let reason = error(&[full, element(SMALL, size, 0)]);
            assert!(reason.contains("string 1 is a small one of"), "{reason}");
        }
    }

    #[test]
    fn rejects_offset_outside_the_memory() {
        for (size, offset) in [(1, 24), (24, 1), (1, u32::MAX), (u32::MAX >> KIND_BITS, 0)] {
            let reason = error(&[element(OFFSET, size.into(), offset)]);
            assert!(reason.contains("at the offset"), "{reason}");
        }
    }

    #[test]
    fn rejects_string_without_address_or_without_a_value() {
        for kind in [LARGE, VIEW] {
            let expected = "string 0 has 7 bytes and no address";
            assert_eq!(error(&[element(kind, 7, 0)]), expected);
            assert_eq!(checked_texts(&[element(kind, 0, 0)]).unwrap(), [b""]);
        }
        assert_eq!(error(&[[POISON; SIZE]]), "string 0 is not written");
    }
}
