//! Releases as commands take them: a version, or `nightly`.

pub use sp_ir::Release;
use std::fmt;
use std::str::FromStr;

/// A release on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Requested {
    /// `nightly`: the newest nightly build.
    Nightly,
    /// A version.
    Version(Release),
}

impl FromStr for Requested {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "nightly" => Ok(Self::Nightly),
            text => text.parse().map(Self::Version),
        }
    }
}

impl fmt::Display for Requested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nightly => f.write_str("nightly"),
            Self::Version(release) => release.fmt(f),
        }
    }
}
