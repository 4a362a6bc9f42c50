//! Releases of TensorFlow: parsing, formatting and order of their versions.
//!
//! [`Release`] is the one parser and formatter of versions, as packages and as `TF_Version()` write them. A release
//! candidate is stored under its minor release, with `preview` and `exact` in the snapshot; the final release
//! replaces it. Nightly builds are stored under their version in the user's cache, never in a checkout.

use std::fmt;
use std::str::FromStr;

/// A minor release (`2.21`), or one version of it (`2.21.0`, `2.22.0rc0`, `2.23.0.dev20261026`).
///
/// Versions are ordered as PEP 440 orders them: nightly builds, release candidates, the final release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// `2` of `2.21.0`.
    pub major: u32,
    /// `21` of `2.21.0`.
    pub minor: u32,
    /// `0` of `2.21.0`; `None` in `2.21`.
    pub patch: Option<u32>,
    /// The stage of the version before its final release.
    pub stage: Stage,
}

/// The stage of a version before its final release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// A nightly build, by its date: `.dev20261026`.
    Nightly(u32),
    /// A release candidate: `rc0`.
    Candidate(u32),
    /// A final release.
    Final,
}

impl Release {
    /// The first release that loads plugins, and the first that sp-gen supports.
    pub const FIRST_SUPPORTED: Self = Self::from_minor(2, 5);

    /// Returns the minor release `major.minor`.
    pub const fn from_minor(major: u32, minor: u32) -> Self {
        Self {
            major,
            minor,
            patch: None,
            stage: Stage::Final,
        }
    }

    /// Returns the minor release of this version.
    pub const fn minor(self) -> Self {
        Self::from_minor(self.major, self.minor)
    }

    /// Returns the name under which snapshots of this version are stored: the version itself for a
    /// nightly build, else its minor release.
    pub const fn key(self) -> Self {
        match self.stage {
            Stage::Nightly(_) => self,
            _ => self.minor(),
        }
    }

    /// Returns true for a nightly build.
    pub const fn is_nightly(self) -> bool {
        matches!(self.stage, Stage::Nightly(_))
    }

    /// Returns true for a release candidate.
    pub const fn is_preview(self) -> bool {
        matches!(self.stage, Stage::Candidate(_))
    }

    /// Returns true for a final release.
    pub const fn is_final(self) -> bool {
        matches!(self.stage, Stage::Final)
    }

    /// Returns true if the version `exact` satisfies a request for `self`. A request without a stage is
    /// satisfied by final versions only.
    pub fn admits(self, exact: Self) -> bool {
        let minor = self.minor() == exact.minor() && self.stage == exact.stage;
        minor && (self.patch.is_none() || self.patch == exact.patch)
    }

    /// Returns the newest of `versions` that satisfies a request for `self`: a final version if there is one,
    /// else a release candidate of that minor release.
    pub fn newest_match(self, versions: impl IntoIterator<Item = Self>) -> Option<Self> {
        let is_candidate =
            |it: Self| self.patch.is_none() && it.is_preview() && it.minor() == self.minor();
        let matching = versions
            .into_iter()
            .filter(|version| self.admits(*version) || is_candidate(*version));
        matching.max_by_key(|version| (version.is_final(), *version))
    }

    /// Returns the version as `TF_Version()` of that release spells it, such as `2.22.0-rc0`.
    pub fn host_version(self) -> String {
        let numbers = self.numbers();
        match self.stage {
            Stage::Nightly(date) => format!("{numbers}-dev{date}"),
            Stage::Candidate(number) => format!("{numbers}-rc{number}"),
            Stage::Final => numbers,
        }
    }

    fn numbers(self) -> String {
        let patch = self.patch.map(|patch| format!(".{patch}"));
        format!("{}.{}{}", self.major, self.minor, patch.unwrap_or_default())
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.numbers())?;
        match self.stage {
            Stage::Nightly(date) => write!(f, ".dev{date}"),
            Stage::Candidate(number) => write!(f, "rc{number}"),
            Stage::Final => Ok(()),
        }
    }
}

impl FromStr for Release {
    type Err = String;

    /// Parses `2.21`, `2.21.0`, and pre-releases in the spelling of packages (`2.22.0rc0`) or of
    /// `TF_Version()` (`2.22.0-rc0`).
    fn from_str(text: &str) -> Result<Self, String> {
        parse(text).ok_or_else(|| {
            format!(
                "invalid release `{text}`: expected MAJOR.MINOR[.PATCH], such as 2.21, 2.22.0rc0 or \
                 2.23.0.dev20261026"
            )
        })
    }
}

fn parse(text: &str) -> Option<Release> {
    let (numbers, stage) = split_stage(text)?;
    let numbers: Vec<u32> = numbers.split('.').map(number).collect::<Option<_>>()?;
    let (major, minor, patch) = match *numbers {
        [major, minor] if stage == Stage::Final => (major, minor, None),
        [major, minor, patch] => (major, minor, Some(patch)),
        _ => return None,
    };
    Some(Release {
        major,
        minor,
        patch,
        stage,
    })
}

/// Returns the numbers of a version and its stage.
fn split_stage(text: &str) -> Option<(&str, Stage)> {
    let split = |marks: [&str; 2]| marks.into_iter().find_map(|mark| text.split_once(mark));
    if let Some((numbers, date)) = split([".dev", "-dev"]) {
        return Some((numbers, Stage::Nightly(number(date)?)));
    }
    if let Some((numbers, count)) = split(["-rc", "rc"]) {
        return Some((numbers, Stage::Candidate(number(count)?)));
    }
    Some((text, Stage::Final))
}

/// Parses a decimal number without a sign or leading zeros, so that a release has one spelling.
fn number(text: &str) -> Option<u32> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let is_padded = text.len() > 1 && text.starts_with('0');
    (is_plain && !is_padded)
        .then(|| text.parse().ok())
        .flatten()
}

#[cfg(feature = "serde")]
impl serde::Serialize for Release {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Release {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <String as serde::Deserialize>::deserialize(deserializer)?;
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
    fn versions_round_trip() {
        for text in "2.21 2.4 2.21.0 2.5.3 2.22.0rc0 2.23.0.dev20261026".split(' ') {
            assert_eq!(release(text).to_string(), text);
        }
    }

    #[test]
    fn rejects_invalid_versions() {
        let texts = "2 2. 2.21rc0 2.21.0rc 2.21.0rc01 2.21.0a1 2.15.0.post1 2.23.dev1 +2.1 \
            2.04 v2.5 ../2 2.22.0rc0-rc0";
        for text in texts.split(' ').chain([""]) {
            let error = text.parse::<Release>().unwrap_err();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }

    #[test]
    fn parses_and_prints_the_spelling_of_tf_version() {
        for (host, package) in [
            ("2.22.0-rc0", "2.22.0rc0"),
            ("2.23.0-dev20261026", "2.23.0.dev20261026"),
            ("2.21.0", "2.21.0"),
        ] {
            assert_eq!(release(host), release(package));
            assert_eq!(release(package).host_version(), host);
        }
    }

    #[test]
    fn orders_nightlies_before_candidates_before_finals() {
        let sorted = "2.9.3 2.10.0 2.22.0.dev20260101 2.22.0.dev20260102 2.22.0rc0 2.22.0rc1 \
            2.22.0 2.22.1";
        assert!(sorted.split(' ').map(release).is_sorted());
    }

    #[test]
    fn minor_admits_final_patches_only() {
        assert!(release("2.5").admits(release("2.5.3")));
        assert!(!release("2.5.0").admits(release("2.5.3")));
        assert!(!release("2.2").admits(release("2.21.0")));
        assert!(!release("2.22").admits(release("2.22.0rc0")));
        assert!(release("2.22.0rc0").admits(release("2.22.0-rc0")));
        assert!(!release("2.22.0rc0").admits(release("2.22.0rc1")));
        assert!(!release("2.22.0rc0").admits(release("2.22.0")));
    }

    #[test]
    fn newest_of_prefers_finals_to_candidates() {
        let newest = |requested: &str, known: &[&str]| {
            let found = release(requested).newest_match(known.iter().map(|text| release(text)));
            found.map(|version| version.to_string())
        };
        let candidates = ["2.22.0rc0", "2.22.0rc1", "2.22.0.dev20260101"];
        assert_eq!(newest("2.22", &candidates).as_deref(), Some("2.22.0rc1"));
        let all = ["2.22.0", "2.22.1rc0", "2.21.0"];
        assert_eq!(newest("2.22", &all).as_deref(), Some("2.22.0"));
        assert_eq!(newest("2.22.0", &candidates), None);
        assert_eq!(newest("2.22.0rc0", &all), None);
    }

    #[test]
    fn stores_nightlies_by_version_and_others_by_minor() {
        assert_eq!(release("2.22.0rc0").key(), release("2.22"));
        assert_eq!(release("2.21.0").key(), release("2.21"));
        let nightly = release("2.23.0.dev20261026");
        assert_eq!(nightly.key(), nightly);
    }
}
