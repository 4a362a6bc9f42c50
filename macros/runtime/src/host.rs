//! What host this is, decided once, in the first entry point that is called.
//!
//! The release is what the process's TensorFlow says of itself; where nothing says it, the releases
//! that are left once symbols and sizes have been looked at. What does not follow stays open: nobody
//! here guesses.

use std::ffi::{CStr, c_char};
use std::fmt;
use std::sync::OnceLock;

use crate::availability::Availability;
use crate::{Code, Error, Function, Result, report};

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

/// The releases that a plugin was built with: sp-abi's own.
#[derive(Debug, Clone, Copy)]
pub struct Knowledge {
    /// The newest final release.
    pub newest: Release,
    /// The versions of later previews, as `TF_Version` returns them.
    pub previews: &'static [(&'static str, Release)],
    /// Functions whose presence tells a release.
    pub marks: &'static [Mark],
}

impl Knowledge {
    fn has_preview(&self, version: &str) -> bool {
        self.previews.iter().any(|(text, _)| *text == version)
    }
}

/// The treatment of a release that is newer than every known one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownRelease {
    /// Reads the host's own headers and runs if everything that the plugin uses is declared as it was.
    /// If the installation has no headers, structs of known sizes are taken for known.
    #[default]
    ReadHost,
    /// Takes structs of known sizes for known, and declines others.
    KnownSizes,
    /// Declines.
    Decline,
}

/// The conditions under which a plugin runs.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// The plugin's name, for messages.
    pub plugin: &'static str,
    /// The oldest release that it serves.
    pub oldest: Release,
    /// The treatment of a release that is newer than its sp-abi.
    pub unknown_release: UnknownRelease,
}

/// The TensorFlow of this process.
#[derive(Debug)]
pub struct Host {
    said: Option<Release>,
    releases: Releases,
    is_known: bool,
    is_preview: bool,
    unknown_release: UnknownRelease,
    declined: OnceLock<Error>,
}

impl Host {
    /// Decides about the host in the first entry point of a plugin; later calls return that decision.
    /// `clues` is called unless the host's own headers decide: until they are read, a struct of an
    /// unknown release must not be touched.
    pub fn enter(
        terms: &Terms,
        knowledge: &Knowledge,
        clues: impl FnOnce() -> Vec<Clue>,
    ) -> &'static Self {
        report::set_plugin_name(terms.plugin);
        HOST.get_or_init(|| {
            let terms = Terms {
                unknown_release: chosen(terms.unknown_release),
                ..*terms
            };
            Self::decide(version().as_deref(), &terms, knowledge, exported, clues)
        })
    }

    /// Returns the host as an entry point has decided, or, before the first of them, without any
    /// knowledge. The latter changes nothing for an entry point that follows.
    pub fn running() -> &'static Self {
        static UNDECIDED: OnceLock<Host> = OnceLock::new();
        let undecided = || UNDECIDED.get_or_init(Self::without_knowledge);
        HOST.get().unwrap_or_else(undecided)
    }

    fn without_knowledge() -> Self {
        let terms = Terms {
            plugin: "",
            oldest: FIRST,
            unknown_release: chosen(UnknownRelease::ReadHost),
        };
        let knowledge = Knowledge {
            newest: FIRST,
            previews: &[],
            marks: &[],
        };
        Self::decide(version().as_deref(), &terms, &knowledge, exported, Vec::new)
    }

    /// Decides from what the process states, exports and passes.
    fn decide(
        version: Option<&str>,
        terms: &Terms,
        knowledge: &Knowledge,
        exported: impl Fn(&CStr) -> bool,
        clues: impl FnOnce() -> Vec<Clue>,
    ) -> Self {
        let said = version.and_then(Release::parse);
        let is_preview = version.is_some_and(|it| knowledge.has_preview(it));
        let mut host = Self {
            said,
            releases: said.map_or(Releases::ALL, |it| Releases::between(it, it)),
            is_known: match said {
                Some(release) => is_preview || release <= knowledge.newest,
                // A version of an unknown form is that of no release that is known.
                None => version.is_none(),
            },
            is_preview,
            unknown_release: terms.unknown_release,
            declined: OnceLock::new(),
        };
        let clues = if host.reads_headers() {
            Vec::new()
        } else {
            clues()
        };
        if said.is_none() {
            host.releases = infer(knowledge.marks, exported, &clues);
        }
        if let Some(reason) = host.objection(terms, knowledge, &clues) {
            let _ = host.declined.set(reason);
        }
        host
    }

    /// Returns the reason to decline that is known before any header is read.
    fn objection(&self, terms: &Terms, knowledge: &Knowledge, clues: &[Clue]) -> Option<Error> {
        let reason = if self.is_too_old() {
            format!("plugins are loaded from TensorFlow {FIRST} on")
        } else if self.is(Releases::from(terms.oldest)) == Some(false) {
            format!("the plugin is for TensorFlow {} or later", terms.oldest)
        } else if !self.is_known && self.unknown_release == UnknownRelease::Decline {
            let newest = knowledge.newest;
            format!("the newest release known to the plugin is {newest}")
        } else {
            return clues.iter().find_map(|clue| clue.clone().err());
        };
        Some(Error::new(Code::FAILED_PRECONDITION, reason))
    }

    /// Returns the release that the process's TensorFlow states.
    pub fn said(&self) -> Option<Release> {
        self.said
    }

    /// Returns the releases that it may be: one, if it states its release.
    pub fn releases(&self) -> Releases {
        self.releases
    }

    /// Returns true if it is one of `releases`; `None` if that does not follow.
    pub fn is(&self, releases: Releases) -> Option<bool> {
        match releases.and(self.releases) {
            None => Some(false),
            Some(_) if releases.contain(self.releases) => Some(true),
            Some(_) => None,
        }
    }

    /// Returns true for a release that sp-abi contains, or that is not stated.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// Returns true for a preview that sp-abi contains.
    pub(crate) fn is_preview(&self) -> bool {
        self.is_preview
    }

    /// Returns true if the host's own headers decide.
    pub fn reads_headers(&self) -> bool {
        !self.is_known && self.unknown_release == UnknownRelease::ReadHost
    }

    /// Returns true for a release from before plugins.
    pub fn is_too_old(&self) -> bool {
        self.said.is_some_and(|release| release < FIRST)
    }

    /// Checks that the plugin serves this host.
    ///
    /// # Errors
    /// Returns the reason for which it was declined.
    pub fn serve(&self) -> Result<()> {
        self.declined.get().cloned().map_or(Ok(()), Err)
    }

    /// Declines the host from here on, and reports the reason once.
    pub fn decline(&self, reason: Error) {
        if self.declined.set(reason).is_ok() {
            self.report_declined();
        }
    }

    /// Writes the line that names the release and the reason.
    pub fn report_declined(&self) {
        if let Err(reason) = self.serve() {
            crate::report!(Warn, "declined {}: {}", self.name(), reason.message());
        }
    }

    /// Returns the release in words: `TensorFlow 2.12`, or which it may be.
    pub fn name(&self) -> String {
        match self.said {
            Some(release) => format!("TensorFlow {release}"),
            None => format!(
                "a TensorFlow that does not state its release ({})",
                self.releases
            ),
        }
    }
}

/// Returns the author's choice, unless the user's environment overrides it.
fn chosen(by_author: UnknownRelease) -> UnknownRelease {
    let is_set = |name: &str, value: &str| std::env::var_os(name).is_some_and(|it| it == value);
    let by_size = is_set("SP_TRUST_HEADERS", "0") || is_set("SP_ASSUME_APPEND", "1");
    match by_author {
        UnknownRelease::ReadHost if by_size => UnknownRelease::KnownSizes,
        other => other,
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
    const PREVIEWS: &[(&str, Release)] = &[("2.22.0-rc0", Release::new(2, 22))];
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
        entered(V2_5, UnknownRelease::ReadHost, version, symbols, clues)
    }

    fn entered(
        oldest: Release,
        unknown_release: UnknownRelease,
        version: Option<&str>,
        symbols: &[&CStr],
        clues: &[Clue],
    ) -> Host {
        let terms = Terms {
            plugin: "demo",
            oldest,
            unknown_release,
        };
        let knowledge = Knowledge {
            newest: Release::new(2, 21),
            previews: PREVIEWS,
            marks: &MARKS,
        };
        let exported = |name: &CStr| symbols.contains(&name);
        Host::decide(version, &terms, &knowledge, exported, || clues.to_vec())
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
        let seen_by = |oldest, version, clues: &[Clue]| {
            entered(oldest, UnknownRelease::ReadHost, version, &[], clues).serve()
        };
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
    fn declines_releases_before_plugins_and_unknown_sizes() {
        let old = host(Some("2.4.4"), &[], &[]).serve().unwrap_err();
        assert!(old.message().contains("from TensorFlow 2.5 on"), "{old}");
        let unknown = [Err(Error::internal("SP_Platform is 99 bytes"))];
        let declined = host(Some("2.21.0"), &[], &unknown).serve().unwrap_err();
        assert!(declined.message().contains("99 bytes"), "{declined}");
    }

    #[test]
    fn treats_an_unknown_release_as_its_author_chose() {
        use UnknownRelease::{Decline, KnownSizes, ReadHost};
        let unknown = [Err(Error::internal("SP_Platform is 99 bytes"))];
        let served = |choice, version, clues: &[Clue]| {
            let host = entered(V2_5, choice, Some(version), &[], clues);
            (host.serve().is_ok(), host.reads_headers())
        };
        assert_eq!(served(ReadHost, "2.30.0", &unknown), (true, true));
        assert_eq!(served(KnownSizes, "2.30.0", &unknown), (false, false));
        assert_eq!(served(KnownSizes, "2.30.0", &[]), (true, false));
        assert_eq!(served(Decline, "2.30.0", &[]), (false, false));
        assert_eq!(served(Decline, "2.21.3", &[]), (true, false));
    }

    #[test]
    fn knows_a_preview_by_its_whole_version() {
        let is_known = |version| host(Some(version), &[], &[]).is_known();
        assert!(is_known("2.22.0-rc0") && is_known("2.21.0") && is_known("2.5.3"));
        assert!(!is_known("2.22.0") && !is_known("2.22.0-rc1"));
        assert!(!is_known("2.23.0-dev20261026"));
        assert!(host(None, &[], &[]).is_known());
    }
}
