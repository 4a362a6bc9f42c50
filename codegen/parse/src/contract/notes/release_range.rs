//! The releases to which a note applies: `2.5..2.13`, with both ends; either may be open.

use std::str::FromStr;

use serde::Deserialize;

use sp_data::release::Release;

/// A range of minor releases, with both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct ReleaseRange {
    first: Option<Release>,
    last: Option<Release>,
}

impl ReleaseRange {
    /// Returns true if `release` is in the range. A text that is not a release, as for headers of unknown origin, is
    /// taken for a release newer than all others.
    pub fn contains(&self, release: &str) -> bool {
        match release.parse::<Release>().map(Release::minor) {
            Ok(release) => {
                self.first.is_none_or(|first| first <= release)
                    && self.last.is_none_or(|last| release <= last)
            }
            Err(_) => self.last.is_none(),
        }
    }
}

impl TryFrom<String> for ReleaseRange {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let invalid = || {
            format!(
                "invalid range of releases `{text}`: expected one such as 2.5..2.13, 2.14.. or 2.9"
            )
        };
        let (first, last) = text.split_once("..").unwrap_or((&text, &text));
        let parse_end = |text: &str| match text {
            "" => Ok(None),
            text => Release::from_str(text)
                .map(|release| Some(release.minor()))
                .map_err(|_| invalid()),
        };
        match (parse_end(first)?, parse_end(last)?) {
            (None, None) => Err(invalid()),
            (first, last) => Ok(Self { first, last }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contains(range: &str, release: &str) -> bool {
        ReleaseRange::try_from(range.to_string())
            .unwrap()
            .contains(release)
    }

    #[test]
    fn includes_both_ends() {
        for release in ["2.5", "2.9", "2.13", "2.13.1"] {
            assert!(contains("2.5..2.13", release), "{release}");
        }
        for release in ["2.4", "2.14", "3.0"] {
            assert!(!contains("2.5..2.13", release), "{release}");
        }
    }

    #[test]
    fn accepts_open_ends() {
        assert!(contains("2.14..", "2.21") && !contains("2.14..", "2.13"));
        assert!(contains("..2.13", "2.4") && !contains("..2.13", "2.14"));
        assert!(contains("2.9", "2.9") && !contains("2.9", "2.10"));
        assert!(contains("2.14..", "patched") && !contains("..2.13", "patched"));
    }

    #[test]
    fn rejects_malformed_ranges() {
        for text in ["..", "", "2.5-2.13", "2.x.."] {
            assert!(ReleaseRange::try_from(text.to_string()).is_err(), "{text}");
        }
    }
}
