//! The files of the crates that a scaffold vendors, which the build script compresses into one stream.

use flate2::read::DeflateDecoder;
use std::io::Read;
use std::ops::Range;
use std::sync::LazyLock;

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// The files of the embedded crates by `<crate>/<path>`, decompressed at their first use.
pub static CRATE_FILES: LazyLock<Vec<(&'static str, &'static [u8])>> = LazyLock::new(|| {
    let contents: &'static [u8] = decompress().leak();
    let slice = |(path, range): &(&'static str, Range<usize>)| (*path, &contents[range.clone()]);
    RANGES.iter().map(slice).collect()
});

/// Returns the bytes of all files.
///
/// # Panics
/// Panics if the binary is damaged.
fn decompress() -> Vec<u8> {
    let compressed: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/crates.bin"));
    let mut contents = Vec::new();
    let read = DeflateDecoder::new(compressed).read_to_end(&mut contents);
    read.expect("the build script compressed it");
    contents
}

/// Returns the release of the embedded snapshots: `2.21` for `sp-abi/ir/stream_executor/2.21.json`.
pub fn embedded_release() -> &'static str {
    let release = |(path, _): &(&'static str, &[u8])| {
        path.strip_prefix("sp-abi/ir/stream_executor/")?
            .strip_suffix(".json")
    };
    CRATE_FILES.iter().find_map(release).unwrap_or_default()
}
