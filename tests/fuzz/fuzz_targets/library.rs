//! Parses any bytes as a shared library: its symbols are read or rejected.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sp_fetch::symbols::exports;
use sp_library::binary::{Binary, LibraryError};
use sp_library::elf;
use std::ops::Range;

struct Bytes<'a>(&'a [u8]);

impl Binary for Bytes<'_> {
    type Error = LibraryError;

    fn name(&self) -> String {
        "fuzzed".into()
    }

    fn length(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_ranges(&mut self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>, LibraryError> {
        let clip = |at: u64| usize::try_from(at).map_or(self.0.len(), |at| at.min(self.0.len()));
        let part = |range: &Range<u64>| {
            let (from, to) = (clip(range.start), clip(range.end));
            self.0[from.min(to)..to].to_vec()
        };
        Ok(ranges.iter().map(part).collect())
    }
}

fuzz_target!(|bytes: &[u8]| {
    let _ = exports(&mut Bytes(bytes));
    let _ = elf::exports(&mut Bytes(bytes), &|name| name.starts_with("TF_"));
});
