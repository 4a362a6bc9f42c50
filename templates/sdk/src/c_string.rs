//! Texts for callers in C, and from them.

use std::ffi::c_char;

/// Writes `text` as a C string, cut to `size` bytes; returns the bytes that all of it needs, with its NUL. The text ends at
/// its first NUL.
///
/// # Safety
/// `buffer` is null or writable for `size` bytes.
pub(crate) unsafe fn write(text: &str, buffer: *mut c_char, size: usize) -> usize {
    let bytes = text.split('\0').next().unwrap_or_default().as_bytes();
    if !buffer.is_null() && size > 0 {
        let written = bytes.len().min(size - 1);
        // SAFETY: the caller guarantees `size` bytes, and `written + 1` is at most that.
        unsafe {
            buffer
                .cast::<u8>()
                .copy_from_nonoverlapping(bytes.as_ptr(), written);
            buffer.add(written).write(0);
        }
    }
    bytes.len() + 1
}

/// Returns the texts of a list that TensorFlow has filled: each is in `storage`, from its start on. Of one that is not, as
/// of a null pointer, there are no bytes.
pub(crate) fn texts_in<'a>(
    storage: &'a [u8],
    starts: &'a [*mut c_char],
    lens: &'a [usize],
) -> impl Iterator<Item = &'a [u8]> {
    let base = storage.as_ptr() as usize;
    starts.iter().zip(lens).map(move |(start, len)| {
        let first = (*start as usize).wrapping_sub(base);
        let end = first.checked_add(*len);
        end.and_then(|end| storage.get(first..end))
            .unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn texts_outside_of_their_storage_are_empty() {
        let mut storage = *b"abcdef";
        let start: *mut c_char = storage.as_mut_ptr().cast();
        let starts = [
            start,
            start.wrapping_add(2),
            std::ptr::null_mut(),
            start.wrapping_sub(1),
            start.wrapping_add(5),
        ];
        let texts = texts_in(&storage, &starts, &[2, 4, 1, usize::MAX, 2]);
        let texts: Vec<_> = texts.collect();
        assert_eq!(texts, [&b"ab"[..], b"cdef", b"", b"", b""]);
    }

    #[test]
    fn cuts_text_to_buffer_and_returns_needed_size() {
        let mut buffer = [1; 4];
        let mut write = |size| {
            // SAFETY: `size` is at most the length of `buffer`.
            let needed = unsafe { write("abcd\0e", buffer.as_mut_ptr(), size) };
            assert_eq!(needed, 5);
            buffer
        };
        assert_eq!(write(0), [1; 4]);
        let cut = write(4);
        // SAFETY: `write` has written a NUL.
        assert_eq!(unsafe { CStr::from_ptr(cut.as_ptr()) }, c"abc");
        // SAFETY: a null buffer is not written.
        assert_eq!(unsafe { super::write("", std::ptr::null_mut(), 9) }, 1);
    }
}
