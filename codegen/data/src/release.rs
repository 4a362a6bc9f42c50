//! Releases as arguments of commands: a version, or `nightly`.

pub use sp_ir::Release;
use std::fmt;
use std::str::FromStr;

/// A release as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestedRelease {
    /// `nightly`: the newest nightly build.
    Nightly,
    /// A version.
    Version(Release),
}

impl FromStr for RequestedRelease {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "nightly" => Ok(Self::Nightly),
            text => text.parse().map(Self::Version),
        }
    }
}

impl fmt::Display for RequestedRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nightly => f.write_str("nightly"),
            Self::Version(release) => release.fmt(f),
        }
    }
}
