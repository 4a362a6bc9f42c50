//! The name of a TensorFlow release: `2.21` (its newest patch) or `2.21.0` (exactly that one).
//!
//! Release candidates and post releases have no name here: no contract is read from them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, str::FromStr};

/// A minor release, or one patch of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// `2` of `2.21.0`.
    pub major: u32,
    /// `21` of `2.21.0`.
    pub minor: u32,
    /// `0` of `2.21.0`; absent in `2.21`.
    pub patch: Option<u32>,
}

impl Release {
    /// The release without its patch, which is what snapshots are keyed by.
    pub fn minor(self) -> Self {
        Self {
            patch: None,
            ..self
        }
    }

    /// Whether `exact` is what this name asks for.
    pub fn admits(self, exact: Self) -> bool {
        self.minor() == exact.minor() && (self.patch.is_none() || self.patch == exact.patch)
    }

    /// The requirement in pip's language: `==2.21.*` or `==2.21.0`.
    pub fn requirement(self) -> String {
        match self.patch {
            None => format!("=={self}.*"),
            Some(_) => format!("=={self}"),
        }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        self.patch.map_or(Ok(()), |patch| write!(f, ".{patch}"))
    }
}

impl FromStr for Release {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("`{text}` is not a release; write it as 2.21 or 2.21.0");
        let numbers = text.split('.').map(number).collect::<Option<Vec<u32>>>();
        match numbers.as_deref() {
            Some(&[major, minor]) => Ok(Self {
                major,
                minor,
                patch: None,
            }),
            Some(&[major, minor, patch]) => Ok(Self {
                major,
                minor,
                patch: Some(patch),
            }),
            _ => Err(refuse()),
        }
    }
}

/// A plain decimal number: no sign, no leading zero, so that a release has one spelling.
fn number(text: &str) -> Option<u32> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let padded = text.len() > 1 && text.starts_with('0');
    (plain && !padded).then(|| text.parse().ok()).flatten()
}

impl Serialize for Release {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Release {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(text: &str) -> Release {
        text.parse().unwrap()
    }

    #[test]
    fn reads_what_it_prints() {
        for text in ["2.21", "2.4", "2.21.0", "2.5.3"] {
            assert_eq!(release(text).to_string(), text);
        }
    }

    #[test]
    fn refuses_what_is_no_release() {
        for text in [
            "",
            "2",
            "2.",
            "2.21rc0",
            "2.21.0rc0",
            "2.15.0.post1",
            "+2.1",
            "2.04",
            "v2.5",
            "../2",
        ] {
            assert!(text.parse::<Release>().is_err(), "{text}");
        }
    }

    #[test]
    fn minors_sort_by_number() {
        assert!(release("2.9.3") < release("2.10.0"));
    }

    #[test]
    fn a_minor_admits_its_patches_only() {
        assert!(release("2.5").admits(release("2.5.3")));
        assert!(!release("2.5.0").admits(release("2.5.3")));
        assert!(!release("2.2").admits(release("2.21.0")));
    }
}
