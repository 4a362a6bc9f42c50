//! What host this is, decided once, in the first entry point that is called.
//!
//! The release is what the process's TensorFlow says of itself; where nothing says it, the releases
//! that are left once symbols and sizes have been looked at. What does not follow stays open: nobody
//! here guesses.

use std::ffi::{CStr, c_char};
use std::fmt;
use std::sync::OnceLock;

use crate::availability::Availability;
use crate::{Code, Error, Function, Result};

/// A minor release of TensorFlow; patches change no ABI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    major: u32,
    minor: u32,
}

impl Release {
    /// The release `major.minor`.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// The release of a text such as `2.6`, for what is written in code.
    ///
    /// # Panics
    /// Where it is no release: at compile time, in a constant.
    pub const fn literal(text: &str) -> Self {
        let bytes = text.as_bytes();
        let (mut numbers, mut digits, mut dots, mut at) = ([0, 0], 0, 0, 0);
        while at < bytes.len() {
            match bytes[at] {
                digit @ b'0'..=b'9' => {
                    numbers[dots] = numbers[dots] * 10 + (digit - b'0') as u32;
                    digits += 1;
                }
                b'.' if dots == 0 && digits > 0 => (dots, digits) = (1, 0),
                _ => panic!("expected a release, such as `2.6`"),
            }
            at += 1;
        }
        assert!(dots == 1 && digits > 0, "expected a release, such as `2.6`");
        Self::new(numbers[0], numbers[1])
    }

    /// Major and minor, as [`Availability::has`] is asked.
    pub const fn numbers(self) -> (u16, u16) {
        (self.major as u16, self.minor as u16)
    }

    /// Whether it came before `other`.
    pub(crate) const fn is_before(self, other: Self) -> bool {
        self.major < other.major || (self.major == other.major && self.minor < other.minor)
    }

    /// The release of a version such as `2.12.0-rc1`.
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

/// The first release that loads plugins.
pub const FIRST: Release = Release::new(2, 5);

/// A run of releases; without a last one it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Releases {
    /// The first.
    pub first: Release,
    /// The last, if it has ended.
    pub last: Option<Release>,
}

impl Releases {
    /// Every release that loads plugins.
    pub const ALL: Self = Self {
        first: FIRST,
        last: None,
    };

    /// From `first` on.
    pub const fn from(first: Release) -> Self {
        Self { first, last: None }
    }

    /// From `first` to `last`, both included.
    pub const fn between(first: Release, last: Release) -> Self {
        Self {
            first,
            last: Some(last),
        }
    }

    /// Whether `release` is one of these.
    pub const fn has(self, release: Release) -> bool {
        let ended = match self.last {
            Some(last) => last.is_before(release),
            None => false,
        };
        !release.is_before(self.first) && !ended
    }

    /// Whether every release of `other` is one of these.
    pub fn contain(self, other: Self) -> bool {
        self.first <= other.first
            && match (self.last, other.last) {
                (None, _) => true,
                (Some(last), Some(other)) => other <= last,
                (Some(_), None) => false,
            }
    }

    /// The releases that are in both.
    pub fn and(self, other: Self) -> Option<Self> {
        let first = self.first.max(other.first);
        let last = match (self.last, other.last) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
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

/// A function whose presence tells what releases this may be.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    /// Its C name.
    pub symbol: &'static CStr,
    /// Who exports it.
    pub exported: &'static Availability,
}

/// What an entry point has seen of its host: the releases whose structs have the sizes found, or
/// why a size tells nothing.
pub type Clue = Result<Releases>;

/// The TensorFlow of this process.
#[derive(Debug, Clone)]
pub struct Host {
    said: Option<Release>,
    releases: Releases,
    refused: Option<Error>,
}

impl Host {
    /// The host as the first entry point of a plugin for `oldest` or later finds it; what later ones
    /// bring changes nothing any more.
    pub fn enter(oldest: Release, marks: &[Mark], clues: &[Clue]) -> &'static Self {
        HOST.get_or_init(|| Self::of(version().as_deref(), marks, exported, clues).from(oldest))
    }

    /// The host, decided by now or without any clue.
    pub fn running() -> &'static Self {
        Self::enter(FIRST, &[], &[])
    }

    /// What follows from what the process says, exports and hands over.
    fn of(
        version: Option<&str>,
        marks: &[Mark],
        exported: impl Fn(&CStr) -> bool,
        clues: &[Clue],
    ) -> Self {
        let said = version.and_then(Release::parse);
        let releases = match said {
            Some(release) => Releases::between(release, release),
            None => infer(marks, exported, clues),
        };
        let mut host = Self {
            said,
            releases,
            refused: clues.iter().find_map(|clue| clue.clone().err()),
        };
        if host.is_too_old() {
            let message = format!("plugins are loaded from TensorFlow {FIRST} on");
            host.refused = Some(Error::new(Code::FAILED_PRECONDITION, message));
        }
        host
    }

    /// The same, as a plugin sees it that is for `oldest` or later.
    fn from(mut self, oldest: Release) -> Self {
        if self.refused.is_none() && self.is(Releases::from(oldest)) == Some(false) {
            let message = format!("the plugin is for TensorFlow {oldest} or later");
            self.refused = Some(Error::new(Code::FAILED_PRECONDITION, message));
        }
        self
    }

    /// The release that the process's TensorFlow says it is.
    pub fn said(&self) -> Option<Release> {
        self.said
    }

    /// The releases that it may be; one, where it says so.
    pub fn releases(&self) -> Releases {
        self.releases
    }

    /// Whether it is one of `releases`; `None` where that does not follow.
    pub fn is(&self, releases: Releases) -> Option<bool> {
        match releases.and(self.releases) {
            None => Some(false),
            Some(_) if releases.contain(self.releases) => Some(true),
            Some(_) => None,
        }
    }

    /// Whether it is a release from before plugins, whose structs nobody here knows.
    pub fn is_too_old(&self) -> bool {
        self.said.is_some_and(|release| release < FIRST)
    }

    /// Whether this plugin can serve it.
    ///
    /// # Errors
    /// The fact that speaks against it.
    pub fn serve(&self) -> Result<()> {
        self.refused.clone().map_or(Ok(()), Err)
    }

    /// The release in words: `TensorFlow 2.12`, or which it may be.
    pub fn name(&self) -> String {
        match self.said {
            Some(release) => format!("TensorFlow {release}"),
            None => format!(
                "a TensorFlow that does not say its release ({})",
                self.releases
            ),
        }
    }
}

static HOST: OnceLock<Host> = OnceLock::new();

/// The releases that fit what is exported and what sizes were seen. What is absent tells nothing:
/// packages and platforms leave functions out.
fn infer(marks: &[Mark], exported: impl Fn(&CStr) -> bool, clues: &[Clue]) -> Releases {
    let present = marks.iter().filter(|mark| exported(mark.symbol));
    let of_symbols = present.filter_map(|mark| mark.exported.releases());
    let of_sizes = clues.iter().filter_map(|clue| clue.as_ref().ok().copied());
    of_symbols
        .chain(of_sizes)
        .fold(Releases::ALL, |known, more| {
            known.and(more).unwrap_or(known)
        })
}

// SAFETY: the symbol's own signature (tensorflow/c/c_api.h).
static VERSION: Function<unsafe extern "C" fn() -> *const c_char> =
    unsafe { Function::new(c"TF_Version") };

fn version() -> Option<String> {
    let version = VERSION.get().ok()?;
    // SAFETY: takes no arguments, and returns a C string that lives for ever, or null.
    let text = unsafe { version() };
    // SAFETY: as above.
    let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })?;
    text.to_str().ok().map(str::to_owned)
}

fn exported(symbol: &CStr) -> bool {
    crate::symbol::is_exported(symbol)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::availability::{Exports, Wheels};

    const V2_5: Release = Release::new(2, 5);
    const V2_6: Release = Release::new(2, 6);
    const V2_8: Release = Release::new(2, 8);
    static READ: Wheels = Wheels {
        package: "demo",
        platform: "demo",
        read: &[(2, 5), (2, 6), (2, 8)],
    };
    static FROM_2_6: Availability = Availability(&[Exports {
        wheels: &READ,
        spans: &[((2, 6), (2, 8))],
    }]);
    static IN_2_5: Availability = Availability(&[Exports {
        wheels: &READ,
        spans: &[((2, 5), (2, 5))],
    }]);
    const MARKS: [Mark; 2] = [
        Mark {
            symbol: c"TF_GetInputByName",
            exported: &FROM_2_6,
        },
        Mark {
            symbol: c"TF_Old",
            exported: &IN_2_5,
        },
    ];

    fn host(version: Option<&str>, symbols: &[&CStr], clues: &[Clue]) -> Host {
        Host::of(version, &MARKS, |name| symbols.contains(&name), clues)
    }

    #[test]
    fn versions_are_read_to_the_minor() {
        let cases = ["2.5.3", "2.12.0-rc1", "2.21", "2.20.0-dev20250101+x"];
        let found = cases.map(|text| Release::parse(text).unwrap().to_string());
        assert_eq!(found, ["2.5", "2.12", "2.21", "2.20"]);
        assert_eq!(Release::parse("unknown"), None);
        assert!(Release::new(2, 10) > Release::new(2, 9));
    }

    #[test]
    fn what_it_says_counts_before_what_it_shows() {
        let host = host(
            Some("2.8.4"),
            &[c"TF_Old"],
            &[Ok(Releases::from(Release::new(2, 9)))],
        );
        assert_eq!(host.releases(), Releases::between(V2_8, V2_8));
        assert_eq!(host.name(), "TensorFlow 2.8");
    }

    #[test]
    fn symbols_and_sizes_narrow_what_says_nothing() {
        let host = host(
            None,
            &[c"TF_GetInputByName"],
            &[Ok(Releases::between(V2_5, V2_8))],
        );
        assert!(host.name().contains("(2.6 to 2.8)"), "{}", host.name());
        assert_eq!(host.is(Releases::from(V2_6)), Some(true));
        assert_eq!(host.is(Releases::between(V2_5, V2_5)), Some(false));
        assert_eq!(host.is(Releases::from(V2_8)), None);
        let only = self::host(None, &[c"TF_Old"], &[]).releases();
        assert_eq!(only, Releases::between(V2_5, V2_5));
    }

    #[test]
    fn nothing_known_is_anything_that_loads_plugins() {
        assert_eq!(host(None, &[], &[]).releases(), Releases::ALL);
    }

    #[test]
    fn a_literal_is_a_release() {
        const V2_21: Release = Release::literal("2.21");
        assert_eq!(V2_21.numbers(), (2, 21));
        for text in ["", "2", "2.", ".5", "2.5.0", "2.x"] {
            assert!(
                std::panic::catch_unwind(|| Release::literal(text)).is_err(),
                "{text}"
            );
        }
    }

    #[test]
    fn a_plugin_for_later_releases_refuses_what_is_surely_older() {
        let seen_by =
            |oldest, version, clues: &[Clue]| host(version, &[], clues).from(oldest).serve();
        assert!(seen_by(V2_6, Some("2.6.0"), &[]).is_ok());
        let refused = seen_by(V2_8, Some("2.6.0"), &[]).unwrap_err();
        assert_eq!(
            refused.message(),
            "the plugin is for TensorFlow 2.8 or later"
        );
        assert!(seen_by(V2_8, None, &[Ok(Releases::between(V2_5, V2_8))]).is_ok());
        assert!(seen_by(V2_8, None, &[Ok(Releases::between(V2_5, V2_6))]).is_err());
    }

    #[test]
    fn an_older_release_and_an_unknown_size_are_refused() {
        let old = host(Some("2.4.4"), &[], &[]).serve().unwrap_err();
        assert!(old.message().contains("from TensorFlow 2.5 on"), "{old}");
        let unknown = Err(Error::internal("a SP_Platform of 99 bytes"));
        let unknown = host(Some("2.30.0"), &[], &[unknown]).serve().unwrap_err();
        assert!(unknown.message().contains("99 bytes"), "{unknown}");
        assert!(host(Some("2.30.0"), &[], &[]).serve().is_ok());
    }
}
