//! Files embedded in the binary, so that it works outside of a checkout: builtin headers, API notes, snapshots, symbols
//! and required fields. The build script writes the tables.

use flate2::read::DeflateDecoder;
use std::io::Read;
use std::ops::Range;
use std::sync::OnceLock;

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// All snapshots, compressed one by one.
static COMPRESSED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/snapshots.bin"));

/// A snapshot in the binary, which is decompressed at its first use.
#[derive(Debug)]
pub struct Snapshot {
    range: Range<usize>,
    text: OnceLock<String>,
}

impl Snapshot {
    const fn new(range: Range<usize>) -> Self {
        Self {
            range,
            text: OnceLock::new(),
        }
    }

    /// Returns the JSON.
    ///
    /// # Panics
    /// Panics if the binary is damaged.
    pub fn text(&self) -> &str {
        self.text.get_or_init(|| {
            let mut text = String::new();
            let mut decoder = DeflateDecoder::new(&COMPRESSED[self.range.clone()]);
            let read = decoder.read_to_string(&mut text);
            read.expect("the build script compressed it");
            text
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_are_the_committed_files() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../generated/ir");
        assert!(SNAPSHOTS.len() > 200);
        for (file, snapshot) in &SNAPSHOTS {
            let committed = std::fs::read_to_string(format!("{folder}/{file}")).unwrap();
            assert!(snapshot.text() == committed, "{file}");
        }
    }
}
