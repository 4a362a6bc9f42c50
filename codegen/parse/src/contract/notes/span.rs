//! `2.5..2.13`: the releases for which a note holds, both ends included; either may be open.

use std::str::FromStr;

use serde::Deserialize;

use sp_data::release::Release;

/// A run of releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Span {
    first: Option<Release>,
    last: Option<Release>,
}

impl Span {
    /// Whether `release` is in it. What is no release (headers of unknown origin) is taken for a
    /// new one.
    pub fn has(&self, release: &str) -> bool {
        match release.parse::<Release>().map(Release::minor) {
            Ok(release) => {
                self.first.is_none_or(|first| first <= release)
                    && self.last.is_none_or(|last| release <= last)
            }
            Err(_) => self.last.is_none(),
        }
    }
}

impl TryFrom<String> for Span {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let refused =
            || format!("`{text}` is no run of releases, such as 2.5..2.13, 2.14.. or 2.9");
        let (first, last) = text.split_once("..").unwrap_or((&text, &text));
        let end = |text: &str| match text {
            "" => Ok(None),
            text => Release::from_str(text)
                .map(|release| Some(release.minor()))
                .map_err(|_| refused()),
        };
        match (end(first)?, end(last)?) {
            (None, None) => Err(refused()),
            (first, last) => Ok(Self { first, last }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(span: &str, release: &str) -> bool {
        Span::try_from(span.to_string()).unwrap().has(release)
    }

    #[test]
    fn both_ends_are_included() {
        for release in ["2.5", "2.9", "2.13", "2.13.1"] {
            assert!(has("2.5..2.13", release), "{release}");
        }
        for release in ["2.4", "2.14", "3.0"] {
            assert!(!has("2.5..2.13", release), "{release}");
        }
    }

    #[test]
    fn an_end_may_be_open() {
        assert!(has("2.14..", "2.21") && !has("2.14..", "2.13"));
        assert!(has("..2.13", "2.4") && !has("..2.13", "2.14"));
        assert!(has("2.9", "2.9") && !has("2.9", "2.10"));
        assert!(has("2.14..", "patched") && !has("..2.13", "patched"));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["..", "", "2.5-2.13", "2.x.."] {
            assert!(Span::try_from(text.to_string()).is_err(), "{text}");
        }
    }
}
