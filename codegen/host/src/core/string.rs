//! `TF_TString`: an element of a tensor of strings.
//!
//! The layout is TensorFlow's, since plugins in C read it with inline functions. The host copies each text once, and
//! keeps it for the life of the process, so that strings can be copied byte for byte.

use std::ffi::c_char;
use std::sync::Mutex;

use super::argument::{List, Out};
use super::functions::functions;
use crate::lock;

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
        let (head, second) = (
            (text.len() as u64) << KIND_BITS | VIEW,
            text.as_ptr() as u64,
        );
        lock(&TEXTS).push(text);
        Self {
            head,
            second,
            third: 0,
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
            OFFSET => element + (self.head >> 32) as usize,
            _ => self.second as usize,
        }
    }
}

/// Returns the texts of a tensor's strings.
pub(crate) fn texts(bytes: &[u8]) -> Vec<Vec<u8>> {
    let elements = bytes.chunks_exact(size_of::<StringElement>());
    elements.map(|element| text(element).to_vec()).collect()
}

fn text(element: &[u8]) -> &[u8] {
    let word = |index: usize| {
        let bytes = &element[index * size_of::<u64>()..][..size_of::<u64>()];
        u64::from_ne_bytes(bytes.try_into().expect("eight bytes"))
    };
    let string = StringElement {
        head: word(0),
        second: word(1),
        third: word(2),
    };
    let start = string.data(element.as_ptr() as usize) as *const u8;
    match string.size() {
        0 => &[],
        // SAFETY: a string has as many readable bytes; the plugin's and the host's texts live as long as the tensor.
        size => unsafe { std::slice::from_raw_parts(start, size) },
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

    #[test]
    fn texts_are_those_of_views_and_small_strings() {
        let long = b"a text that is longer than the string's own bytes";
        let mut small = [0; size_of::<StringElement>()];
        small[0] = 3 << KIND_BITS;
        small[1..4].copy_from_slice(b"abc");
        let empty = StringElement::EMPTY.to_bytes();
        let bytes = [StringElement::new(long).to_bytes(), small, empty].concat();
        assert_eq!(texts(&bytes), [&long[..], b"abc", b""]);
    }
}
