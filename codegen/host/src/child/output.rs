//! Output of a child on stdout or stderr, in bounded memory.

use std::collections::VecDeque;

/// Bytes that are kept from the start of a stream.
const HEAD: usize = 16 << 10;

/// Bytes that are kept from the end of a stream, where a crash is reported.
const TAIL: usize = 64 << 10;

/// The start and the end of a stream.
#[derive(Debug, Default)]
pub(super) struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl Output {
    /// Appends `bytes`, and drops bytes between the start and the end of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..excess);
        self.dropped += excess as u64;
    }

    /// Returns the number of bytes that were dropped between start and end.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the stored text, with a line in place of dropped bytes.
    pub fn text(&self) -> String {
        let gap = match self.dropped {
            0 => String::new(),
            dropped => format!("\n[{dropped} bytes dropped]\n"),
        };
        let (first, second) = self.tail.as_slices();
        let bytes = [&self.head, gap.as_bytes(), first, second].concat();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_start_and_end_and_counts_the_rest() {
        let mut output = Output::default();
        output.push(b"first line\n");
        for _ in 0..1000 {
            output.push(&[b'x'; 1000]);
        }
        output.push(b"\nlast line\n");
        assert_eq!(output.dropped(), 1_000_022 - (HEAD + TAIL) as u64);
        let text = output.text();
        assert!(text.starts_with("first line\n") && text.ends_with("\nlast line\n"));
        assert!(text.contains(&format!("\n[{} bytes dropped]\n", output.dropped())));
        assert!(output.tail.capacity() < 4 * TAIL);
    }

    #[test]
    fn keeps_short_output_whole() {
        let mut output = Output::default();
        output.push(b"one\n");
        output.push(b"two\n");
        let expected = ("one\ntwo\n", 0);
        assert_eq!((output.text().as_str(), output.dropped()), expected);
    }
}
