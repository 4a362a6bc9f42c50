//! Minor releases of TensorFlow, and runs of them.

use std::fmt;

/// A minor release of TensorFlow; patches change no ABI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    major: u32,
    minor: u32,
}

impl Release {
    /// Creates the release `major.minor`.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// Parses a release in source code, such as `2.6`.
    ///
    /// # Panics
    /// Panics if `text` is not a release; in a constant, that is a compile error.
    pub const fn from_literal(text: &str) -> Self {
        let bytes = text.as_bytes();
        let (mut numbers, mut digits, mut dots, mut position) = ([0, 0], 0, 0, 0);
        while position < bytes.len() {
            match bytes[position] {
                digit @ b'0'..=b'9' => {
                    numbers[dots] = numbers[dots] * 10 + (digit - b'0') as u32;
                    digits += 1;
                }
                b'.' if dots == 0 && digits > 0 => (dots, digits) = (1, 0),
                _ => panic!("expected a release, such as `2.6`"),
            }
            position += 1;
        }
        assert!(dots == 1 && digits > 0, "expected a release, such as `2.6`");
        Self::new(numbers[0], numbers[1])
    }

    /// Returns major and minor, as the lists of releases in `availability` have them.
    pub const fn numbers(self) -> (u16, u16) {
        (self.major as u16, self.minor as u16)
    }

    /// Returns true if `self` is older than `other`.
    pub(crate) const fn is_before(self, other: Self) -> bool {
        self.major < other.major || (self.major == other.major && self.minor < other.minor)
    }

    /// Parses a version such as `2.12.0-rc1` to its minor release; `None` if it has another form.
    pub fn parse(version: &str) -> Option<Self> {
        let mut numbers = version.split(['.', '-', '+']).map(str::parse);
        let major = numbers.next()?.ok()?;
        Some(Self::new(major, numbers.next()?.ok()?))
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The first release that loads plugins. `sp_ir::Release::FIRST_SUPPORTED` is the same; a test compares them.
pub const FIRST_SUPPORTED: Release = Release::new(2, 5);

/// A run of releases; one without a last release is open-ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Releases {
    /// The first release.
    pub first: Release,
    /// The last release, or `None` if the run is open-ended.
    pub last: Option<Release>,
}

impl Releases {
    /// Every release that loads plugins.
    pub const ALL: Self = Self {
        first: FIRST_SUPPORTED,
        last: None,
    };

    /// Returns the run from `first` on.
    pub const fn from(first: Release) -> Self {
        Self { first, last: None }
    }

    /// Returns the run from `first` to `last`, both included.
    pub const fn between(first: Release, last: Release) -> Self {
        Self {
            first,
            last: Some(last),
        }
    }

    /// Returns true if `release` is one of these.
    pub const fn contains(self, release: Release) -> bool {
        let is_over = match self.last {
            Some(last) => last.is_before(release),
            None => false,
        };
        !release.is_before(self.first) && !is_over
    }

    /// Returns true if every release of `other` is one of these.
    pub fn contains_all(self, other: Self) -> bool {
        self.first <= other.first
            && match (self.last, other.last) {
                (None, _) => true,
                (Some(last), Some(other_last)) => other_last <= last,
                (Some(_), None) => false,
            }
    }

    /// Returns the releases that are in both runs, or `None` if there are none.
    pub fn intersection(self, other: Self) -> Option<Self> {
        let first = self.first.max(other.first);
        let last = match (self.last, other.last) {
            (Some(last), Some(other)) => Some(last.min(other)),
            (last, other) => last.or(other),
        };
        last.is_none_or(|last| first <= last)
            .then_some(Self { first, last })
    }
}

impl fmt::Display for Releases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last {
            Some(last) if last == self.first => write!(f, "{last}"),
            Some(last) => write!(f, "{} to {last}", self.first),
            None => write!(f, "{} or later", self.first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_versions_to_minor_release() {
        let cases = ["2.5.3", "2.12.0-rc1", "2.21", "2.20.0-dev20250101+x"];
        let found = cases.map(|text| Release::parse(text).unwrap().to_string());
        assert_eq!(found, ["2.5", "2.12", "2.21", "2.20"]);
        assert_eq!(Release::parse("unknown"), None);
        assert!(Release::new(2, 10) > Release::new(2, 9));
    }

    #[test]
    fn literal_accepts_major_and_minor_only() {
        const V2_21: Release = Release::from_literal("2.21");
        assert_eq!(V2_21.numbers(), (2, 21));
        for text in ["", "2", "2.", ".5", "2.5.0", "2.x"] {
            assert!(
                std::panic::catch_unwind(|| Release::from_literal(text)).is_err(),
                "{text}"
            );
        }
    }
}
