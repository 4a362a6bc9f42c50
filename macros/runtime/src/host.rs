//! The decision about the host, made once, in the first entry point that TensorFlow calls.
//!
//! The host's release is the one that `TF_Version` states. If it states none, it is unknown, and the exported symbols and
//! the sizes of the structs limit the possible releases. The code never guesses: a question that these
//! facts do not answer has the result `None`.
//!
//! A declined host gets 0 devices, a graph optimizer for a device type that no graph has, a profiler without data,
//! and one line. If only the structs of the optimizer or the profiler differ, that part alone is declined. An entry
//! point never returns an error status for a host that it declines, and leaves no slot of a table null: core requests
//! the tables of a platform without devices too, and either would end the process. The first unknown struct may come
//! after the entry point (`create_stream_executor`); `Host::decline` then sets the number of devices to 0.
//!
//! A struct of an unknown release is accessed only after its header was read. Layouts of `Versioned::host_layout`
//! take precedence over those found by size. An unstable function (the path of its header contains "experimental", or
//! it had another signature) is called in a release newer than `NEWEST` only if the host's header declares the known
//! signature. Otherwise core runs its own kernel instead of one that `needs` the function.
//!
//! The C headers of `generate --lang c` make the same decision (`codegen/emit/src/c/text/host.h`). The messages are
//! `sp_expand::DECLINE_MESSAGES`, and both run the cases of `tests/src/futures.rs`.

use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

use crate::availability::Availability;
use crate::error::{Code, Error, Result};
use crate::installation::IncludeRoot;
use crate::release::{FIRST_SUPPORTED, Release, Releases};
use crate::{report, symbol, variable};
use sp_macros::decline_message;

/// A function whose presence in the process limits the possible releases.
#[derive(Debug, Clone, Copy)]
pub struct ReleaseSymbol {
    /// The C name.
    pub symbol: &'static CStr,
    /// The wheels that export it.
    pub availability: &'static Availability,
}

/// Evidence of a struct that the host passed: the releases whose struct has the size found, or an error
/// if no known release has that size.
pub type SizeEvidence = Result<Releases>;

/// The releases that a plugin was built with: those of sp-abi.
#[derive(Debug, Clone, Copy)]
pub struct KnownReleases {
    /// The newest final release.
    pub newest: Release,
    /// The versions of later previews, as `TF_Version` returns them.
    pub previews: &'static [(&'static str, Release)],
    /// Functions whose presence limits the possible releases.
    pub release_symbols: &'static [ReleaseSymbol],
}

impl KnownReleases {
    fn has_preview(&self, version: &str) -> bool {
        self.previews.iter().any(|(text, _)| *text == version)
    }
}

/// The treatment of a release that is newer than every known one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownRelease {
    /// Reads the host's own headers, and runs if the declarations that the plugin uses have not changed.
    /// If the installation has no headers, decides like [`KnownSizes`](Self::KnownSizes).
    #[default]
    ReadHost,
    /// Accepts structs whose sizes are known, and declines the host if one has another size.
    KnownSizes,
    /// Declines the host.
    Decline,
}

/// A plugin's requirements on its host.
#[derive(Debug, Clone, Copy)]
pub struct HostRequirements {
    /// The plugin's name, for messages.
    pub plugin: &'static str,
    /// The oldest release that the plugin supports.
    pub oldest: Release,
    /// The treatment of a release that is newer than the plugin's sp-abi.
    pub unknown_release: UnknownRelease,
}

/// The TensorFlow of this process.
#[derive(Debug)]
pub struct Host {
    stated_release: Option<Release>,
    releases: Releases,
    is_known: bool,
    is_preview: bool,
    unknown_release: UnknownRelease,
    declined: OnceLock<Error>,
}

impl Host {
    /// Decides about the host on the first call, in the first entry point of a plugin. Later calls return
    /// that decision.
    ///
    /// `size_evidence` is not called if the host's own headers decide: a struct of an unknown release must
    /// not be accessed before its header is read.
    ///
    /// # Safety
    /// Functions are called, and types of kernels are trusted, by this decision.
    /// - `known_releases` are facts of TensorFlow's releases, such as those of sp-abi.
    /// - `size_evidence` returns the releases whose structs have the sizes that this process's host states.
    pub unsafe fn get_or_decide(
        requirements: &HostRequirements,
        known_releases: &KnownReleases,
        size_evidence: impl FnOnce() -> Vec<SizeEvidence>,
    ) -> &'static Self {
        report::set_plugin_name(requirements.plugin);
        HOST.get_or_init(|| {
            let requirements = HostRequirements {
                unknown_release: effective_policy(requirements.unknown_release),
                ..*requirements
            };
            Self::decide(
                version().as_deref(),
                &requirements,
                known_releases,
                symbol::is_exported,
                size_evidence,
            )
        })
    }

    /// Returns the host as the first entry point has decided.
    ///
    /// Before the first entry point, returns a host for which every release counts as unknown. This does
    /// not affect the decision of a later entry point.
    #[inline]
    pub fn running() -> &'static Self {
        static UNDECIDED: OnceLock<Host> = OnceLock::new();
        let undecided = || UNDECIDED.get_or_init(Self::without_known_releases);
        HOST.get().unwrap_or_else(undecided)
    }

    fn without_known_releases() -> Self {
        let requirements = HostRequirements {
            plugin: "",
            oldest: FIRST_SUPPORTED,
            unknown_release: effective_policy(UnknownRelease::ReadHost),
        };
        let known_releases = KnownReleases {
            newest: FIRST_SUPPORTED,
            previews: &[],
            release_symbols: &[],
        };
        Self::decide(
            version().as_deref(),
            &requirements,
            &known_releases,
            symbol::is_exported,
            Vec::new,
        )
    }

    /// Decides from the stated version, the exported symbols and the sizes of the structs.
    fn decide(
        version: Option<&str>,
        requirements: &HostRequirements,
        known_releases: &KnownReleases,
        is_exported: impl Fn(&CStr) -> bool,
        size_evidence: impl FnOnce() -> Vec<SizeEvidence>,
    ) -> Self {
        let stated_release = version.and_then(Release::parse);
        let is_preview = version.is_some_and(|it| known_releases.has_preview(it));
        let mut host = Self {
            stated_release,
            releases: stated_release.map_or(Releases::ALL, |it| Releases::between(it, it)),
            is_known: stated_release
                .is_some_and(|release| is_preview || release <= known_releases.newest),
            is_preview,
            unknown_release: requirements.unknown_release,
            declined: OnceLock::new(),
        };
        let size_evidence = if host.is_decided_by_headers() {
            Vec::new()
        } else {
            size_evidence()
        };
        if stated_release.is_none() {
            host.releases =
                infer_releases(known_releases.release_symbols, is_exported, &size_evidence);
        }
        if let Some(reason) = host.decline_reason(requirements, known_releases, &size_evidence) {
            let _ = host.declined.set(reason);
        }
        host
    }

    /// Returns the reason to decline the host, as far as it is known before any header is read.
    fn decline_reason(
        &self,
        requirements: &HostRequirements,
        known_releases: &KnownReleases,
        size_evidence: &[SizeEvidence],
    ) -> Option<Error> {
        let reason = if self.is_too_old() {
            decline_message!(TooOld, FIRST_SUPPORTED)
        } else if self.is_in(Releases::from(requirements.oldest)) == Some(false) {
            decline_message!(BeforeMinRelease, requirements.oldest)
        } else if !self.is_known && self.unknown_release == UnknownRelease::Decline {
            match self.stated_release {
                Some(_) => format!(
                    "the newest release known to the plugin is {}",
                    known_releases.newest
                ),
                None => "the plugin is for stated releases only".to_owned(),
            }
        } else {
            return size_evidence
                .iter()
                .find_map(|evidence| evidence.clone().err());
        };
        Some(Error::new(Code::FAILED_PRECONDITION, reason))
    }

    /// Returns the release that `TF_Version` states.
    pub fn stated_release(&self) -> Option<Release> {
        self.stated_release
    }

    /// Returns the possible releases of the host: exactly one if it states its release.
    pub fn releases(&self) -> Releases {
        self.releases
    }

    /// Returns true if the host's release is one of `releases`, false if it is not, and `None` if it may be.
    pub fn is_in(&self, releases: Releases) -> Option<bool> {
        match releases.intersection(self.releases) {
            None => Some(false),
            Some(_) if releases.contains_all(self.releases) => Some(true),
            Some(_) => None,
        }
    }

    /// Returns true if the host states its release, and sp-abi contains it.
    #[inline]
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// Returns true if the host is a preview that sp-abi contains.
    pub(crate) fn is_preview(&self) -> bool {
        self.is_preview
    }

    /// Returns true if the host's own headers decide whether the plugin runs.
    pub fn is_decided_by_headers(&self) -> bool {
        !self.is_known && self.unknown_release == UnknownRelease::ReadHost
    }

    /// Returns true if the host's release loads no plugins.
    pub fn is_too_old(&self) -> bool {
        self.stated_release
            .is_some_and(|release| release < FIRST_SUPPORTED)
    }

    /// Checks that the plugin has not declined this host.
    ///
    /// # Errors
    /// Returns an error with the reason if the host was declined.
    pub fn check_accepted(&self) -> Result<()> {
        self.declined.get().cloned().map_or(Ok(()), Err)
    }

    /// Declines the host for the rest of the process, and reports the reason once.
    pub fn decline(&self, reason: Error) {
        if self.declined.set(reason).is_ok() {
            self.report_declined();
        }
    }

    /// Writes the line with the release and the reason for which the plugin declines it.
    pub fn report_declined(&self) {
        if let Err(reason) = self.check_accepted() {
            report!(Error, "{}", self.declined_line("", &reason));
        }
    }

    /// Writes the line that the plugin declines the host for one of its parts only, such as its profiler.
    pub fn report_declined_part(&self, part: &str, reason: &Error) {
        let line = self.declined_line(&format!(" for its {part}"), reason);
        report!(Warn, "{line}");
    }

    fn declined_line(&self, scope: &str, reason: &Error) -> String {
        decline_message!(Declined, self.name(), scope, reason.message())
    }

    /// Returns the host's name for messages, such as `TensorFlow 2.12`.
    pub fn name(&self) -> String {
        match self.stated_release {
            Some(release) => format!("TensorFlow {release}"),
            None => decline_message!(UnstatedRelease, self.releases),
        }
    }
}

/// Returns the author's choice, or `KnownSizes` if headers are to be read and there are none, or the user's environment
/// prevents it.
fn effective_policy(by_author: UnknownRelease) -> UnknownRelease {
    let by_size = || {
        !variable::is_on("SP_TRUST_HEADERS", true)
            || variable::is_on("SP_ASSUME_APPEND", false)
            || IncludeRoot::find().is_none()
    };
    match by_author {
        UnknownRelease::ReadHost if by_size() => UnknownRelease::KnownSizes,
        other => other,
    }
}

static HOST: OnceLock<Host> = OnceLock::new();

/// Returns the releases that agree with the exported symbols and the sizes of the structs.
///
/// The absence of a symbol is no evidence: some packages and platforms do not export all functions.
fn infer_releases(
    release_symbols: &[ReleaseSymbol],
    is_exported: impl Fn(&CStr) -> bool,
    size_evidence: &[SizeEvidence],
) -> Releases {
    let present = release_symbols
        .iter()
        .filter(|release_symbol| is_exported(release_symbol.symbol));
    let by_symbols = present.filter_map(|release_symbol| release_symbol.availability.releases());
    let by_sizes = size_evidence
        .iter()
        .filter_map(|evidence| evidence.as_ref().ok().copied());
    by_symbols
        .chain(by_sizes)
        .fold(Releases::ALL, |known, more| {
            known.intersection(more).unwrap_or(known)
        })
}

/// Returns true if the host's TensorFlow was built with CUDA, whether or not there is such a device; `None` if the host does not
/// tell. Keras has other orders of a GRU's gates then (`tf.sysconfig.get_build_info()["is_cuda_build"]`).
pub fn is_cuda_build() -> Option<bool> {
    static FOUND: OnceLock<Option<bool>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        // `bool tensorflow::IsGoogleCudaEnabled()` of tensorflow/core/util/port.h.
        let found = symbol::find_symbol(c"_ZN10tensorflow19IsGoogleCudaEnabledEv")?;
        // SAFETY: the mangled name states that the function has no parameters, and each release declares it with the result
        // `bool`, which the C++ ABI returns as C does.
        let is_enabled: unsafe extern "C-unwind" fn() -> bool =
            unsafe { std::mem::transmute(found) };
        // SAFETY: the function returns a constant, and has no preconditions.
        Some(unsafe { is_enabled() })
    })
}

fn version() -> Option<String> {
    let version = symbol::find_symbol(c"TF_Version")?;
    // SAFETY: tensorflow/c/c_api.h declares TF_Version with this signature in every release.
    let version: unsafe extern "C-unwind" fn() -> *const c_char =
        unsafe { std::mem::transmute(version) };
    // SAFETY: TF_Version takes no arguments and has no preconditions.
    let text = unsafe { version() };
    // SAFETY: `text` is not null, so it is TensorFlow's static version string.
    let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })?;
    text.to_str().ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::availability::{Exports, WheelSet};

    #[test]
    fn host_without_the_function_does_not_tell_how_it_was_built() {
        assert_eq!(is_cuda_build(), None);
    }

    const V2_5: Release = Release::new(2, 5);
    const V2_6: Release = Release::new(2, 6);
    const V2_8: Release = Release::new(2, 8);
    static READ: WheelSet = WheelSet {
        package: "demo",
        platform: "demo",
        releases: &[(2, 5), (2, 6), (2, 8)],
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
    const RELEASE_SYMBOLS: [ReleaseSymbol; 2] = [
        ReleaseSymbol {
            symbol: c"TF_GetInputByName",
            availability: &FROM_2_6,
        },
        ReleaseSymbol {
            symbol: c"TF_Old",
            availability: &IN_2_5,
        },
    ];

    fn host(version: Option<&str>, symbols: &[&CStr], size_evidence: &[SizeEvidence]) -> Host {
        decide(
            V2_5,
            UnknownRelease::ReadHost,
            version,
            symbols,
            size_evidence,
        )
    }

    fn decide(
        oldest: Release,
        unknown_release: UnknownRelease,
        version: Option<&str>,
        symbols: &[&CStr],
        size_evidence: &[SizeEvidence],
    ) -> Host {
        let requirements = HostRequirements {
            plugin: "demo",
            oldest,
            unknown_release,
        };
        let known_releases = KnownReleases {
            newest: Release::new(2, 21),
            previews: PREVIEWS,
            release_symbols: &RELEASE_SYMBOLS,
        };
        let is_exported = |name: &CStr| symbols.contains(&name);
        Host::decide(version, &requirements, &known_releases, is_exported, || {
            size_evidence.to_vec()
        })
    }

    #[test]
    fn stated_release_takes_precedence_over_symbols_and_sizes() {
        let host = host(
            Some("2.8.4"),
            &[c"TF_Old"],
            &[Ok(Releases::from(Release::new(2, 9)))],
        );
        assert_eq!(host.releases(), Releases::between(V2_8, V2_8));
        assert_eq!(host.name(), "TensorFlow 2.8");
    }

    #[test]
    fn symbols_and_sizes_limit_releases_if_none_is_stated() {
        let host = decide(
            V2_5,
            UnknownRelease::KnownSizes,
            None,
            &[c"TF_GetInputByName"],
            &[Ok(Releases::between(V2_5, V2_8))],
        );
        assert!(host.name().contains("(2.6 to 2.8)"), "{}", host.name());
        assert_eq!(host.is_in(Releases::from(V2_6)), Some(true));
        assert_eq!(host.is_in(Releases::between(V2_5, V2_5)), Some(false));
        assert_eq!(host.is_in(Releases::from(V2_8)), None);
        let only = self::host(None, &[c"TF_Old"], &[]).releases();
        assert_eq!(only, Releases::between(V2_5, V2_5));
    }

    #[test]
    fn every_supported_release_is_possible_without_evidence() {
        assert_eq!(host(None, &[], &[]).releases(), Releases::ALL);
    }

    #[test]
    fn declines_host_that_is_certainly_older_than_minimum() {
        let check = |oldest, version, size_evidence: &[SizeEvidence]| {
            decide(
                oldest,
                UnknownRelease::KnownSizes,
                version,
                &[],
                size_evidence,
            )
            .check_accepted()
        };
        assert!(check(V2_6, Some("2.6.0"), &[]).is_ok());
        let declined = check(V2_8, Some("2.6.0"), &[]).unwrap_err();
        assert_eq!(
            declined.message(),
            "the plugin is for TensorFlow 2.8 or later"
        );
        assert!(check(V2_8, None, &[Ok(Releases::between(V2_5, V2_8))]).is_ok());
        assert!(check(V2_8, None, &[Ok(Releases::between(V2_5, V2_6))]).is_err());
    }

    #[test]
    fn declines_releases_before_plugins_and_unknown_sizes() {
        let old = host(Some("2.4.4"), &[], &[]).check_accepted().unwrap_err();
        assert!(old.message().contains("from TensorFlow 2.5 on"), "{old}");
        let unknown = [Err(Error::internal("SP_Platform is 99 bytes"))];
        let declined = host(Some("2.21.0"), &[], &unknown)
            .check_accepted()
            .unwrap_err();
        assert!(declined.message().contains("99 bytes"), "{declined}");
    }

    #[test]
    fn follows_policy_of_author_for_unknown_release() {
        use UnknownRelease::{Decline, KnownSizes, ReadHost};
        let unknown = [Err(Error::internal("SP_Platform is 99 bytes"))];
        let outcome = |choice, version, size_evidence: &[SizeEvidence]| {
            let host = decide(V2_5, choice, Some(version), &[], size_evidence);
            (host.check_accepted().is_ok(), host.is_decided_by_headers())
        };
        assert_eq!(outcome(ReadHost, "2.30.0", &unknown), (true, true));
        assert_eq!(outcome(KnownSizes, "2.30.0", &unknown), (false, false));
        assert_eq!(outcome(KnownSizes, "2.30.0", &[]), (true, false));
        assert_eq!(outcome(Decline, "2.30.0", &[]), (false, false));
        assert_eq!(outcome(Decline, "2.21.3", &[]), (true, false));
    }

    #[test]
    fn host_that_states_no_release_is_decided_as_an_unknown_one() {
        use UnknownRelease::{Decline, KnownSizes, ReadHost};
        let outcome = |choice| {
            let host = decide(V2_5, choice, None, &[], &[]);
            (host.check_accepted().is_ok(), host.is_decided_by_headers())
        };
        assert_eq!(outcome(ReadHost), (true, true));
        assert_eq!(outcome(KnownSizes), (true, false));
        assert_eq!(outcome(Decline), (false, false));
    }

    #[test]
    fn preview_is_known_by_exact_version() {
        let is_known = |version| host(Some(version), &[], &[]).is_known();
        assert!(is_known("2.22.0-rc0") && is_known("2.21.0") && is_known("2.5.3"));
        assert!(!is_known("2.22.0") && !is_known("2.22.0-rc1"));
        assert!(!is_known("2.23.0-dev20261026"));
        assert!(!host(None, &[], &[]).is_known());
    }
}
