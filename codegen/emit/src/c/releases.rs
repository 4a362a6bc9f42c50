//! Releases in the C headers.

use sp_ir::Release;

/// Returns the release as a number: 205 for 2.5.
pub fn number(release: Release) -> u32 {
    release.major * 100 + release.minor
}

/// Returns a range as an initializer: `{205, 206}`, or `{207, 0}` if it has no end.
pub fn range(first: Release, last: Option<Release>) -> String {
    format!("{{{}, {}}}", number(first), last.map_or(0, number))
}
