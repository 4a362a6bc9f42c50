//! Errors of an import, each with a message, a code and help.

use super::range::RangeError;
use miette::Diagnostic;
use sp_data::folders::NoCache;
use sp_data::release::Release;
use sp_library::binary::LibraryError;
use sp_parse::source::SourceError;
use sp_system::replacement::ReplacementError;
use thiserror::Error;

/// A failure of an import, which wrote nothing.
#[derive(Debug, Error, Diagnostic)]
pub enum FetchError {
    /// pip's indexes have no wheel of the requested release.
    #[error("the index has no {package} {release}")]
    #[diagnostic(code(sp_gen::import::unknown_release))]
    UnknownRelease {
        /// The package.
        package: String,
        /// The requested release.
        release: Release,
        /// The releases that the index has.
        #[help]
        known: String,
    },
    /// The index or the server of the wheel cannot be reached.
    #[error("the index or the server of the wheel cannot be reached: {detail}")]
    #[diagnostic(
        code(sp_gen::import::network_unreachable),
        help(
            "check the connection and pip's index settings (`pip config list`), or import from a wheel or an installed TensorFlow with `--from`"
        )
    )]
    NetworkUnreachable {
        /// The error of pip or of the connection.
        detail: String,
    },
    /// pip cannot be run.
    #[error("pip cannot be run to find the wheel: {detail}")]
    #[diagnostic(
        code(sp_gen::import::pip_missing),
        help(
            "`python3 -m pip` must work: `python3 -m ensurepip --upgrade`, or activate an environment that has pip; `--from` needs no pip"
        )
    )]
    PipMissing {
        /// The error of the attempt to run it.
        detail: String,
    },
    /// pip ran and failed for another reason than a connection or an unknown package.
    #[error("pip could not read the index: {detail}")]
    #[diagnostic(
        code(sp_gen::import::pip_failed),
        help(
            "`python3 -m pip download --no-deps tensorflow-cpu` shows the whole message; `--from` needs no pip"
        )
    )]
    PipFailed {
        /// The last line of its output.
        detail: String,
    },
    /// The server of the wheel does not support range requests.
    #[error("the server of {0} does not support range requests")]
    #[diagnostic(
        code(sp_gen::import::ranges_unsupported),
        help(
            "`--whole` downloads the whole wheel, some hundred MB, and compares its sha256 with the index's; `--from` imports a local wheel"
        )
    )]
    RangesUnsupported(String),
    /// The URL of the wheel, of the page that links to it or of a redirect is plain http.
    #[error("{wheel} would be fetched over plain http from {host}")]
    #[diagnostic(
        code(sp_gen::import::plain_http),
        help(
            "anyone on the network can change it. Use an https index, or `--allow-http` to allow plain http"
        )
    )]
    PlainHttp {
        /// The wheel's file name.
        wheel: String,
        /// Host and port.
        host: String,
    },
    /// The server answers with an error status.
    #[error("{host} answers with status {status} for {wheel}")]
    #[diagnostic(
        code(sp_gen::import::request_failed),
        help(
            "if {host} needs credentials, add them to the index URL in pip's configuration or to netrc; keyrings are not read. `--from` imports a wheel that was downloaded by other means"
        )
    )]
    RequestFailed {
        /// Host and port.
        host: String,
        /// The wheel's file name.
        wheel: String,
        /// The HTTP status.
        status: u16,
    },
    /// The wheel's sha256 differs from the one in the index.
    #[error(
        "{wheel} has another sha256 than the index states\n  stated {stated}\n  found  {found}"
    )]
    #[diagnostic(
        code(sp_gen::import::wheel_hash_mismatch),
        help("nothing was written. The wheel was changed or is damaged; do not use it")
    )]
    WheelHashMismatch {
        /// The wheel's file name.
        wheel: String,
        /// The sha256 of the link.
        stated: String,
        /// The sha256 of the file.
        found: String,
    },
    /// `--whole` is given, and neither the link to the wheel nor its page states a sha256.
    #[error("the index states no sha256 of {0}, so that it cannot be verified")]
    #[diagnostic(
        code(sp_gen::import::wheel_hash_not_stated),
        help(
            "nothing was written. Download the wheel by other means, verify it and import it with `--from`; without `--whole` \
             only its headers are checked, with the lock"
        )
    )]
    WheelHashNotStated(String),
    /// A member's path is outside of the wheel's root.
    #[error("{origin} has the member `{member}`, whose path is outside of the wheel's root")]
    #[diagnostic(
        code(sp_gen::import::member_outside_root),
        help("TensorFlow's build does not write such a wheel; do not use it")
    )]
    MemberOutsideRoot {
        /// The wheel.
        origin: String,
        /// The member.
        member: String,
    },
    /// The source of `--from` has another release than the requested one.
    #[error("{origin} has TensorFlow {found}, not {release}")]
    #[diagnostic(
        code(sp_gen::import::release_mismatch),
        help("request {found}, or give `--from` a wheel or folder of {release}")
    )]
    ReleaseMismatch {
        /// The wheel or folder.
        origin: String,
        /// The requested version.
        release: Release,
        /// The version that it states.
        found: String,
    },
    /// The release is `nightly`, and the source of `--from` is not a nightly build.
    #[error("{origin} has TensorFlow {found}, which is not a nightly build")]
    #[diagnostic(
        code(sp_gen::import::not_nightly),
        help("request {found} instead of `nightly`, or give `--from` a nightly build")
    )]
    NotNightly {
        /// The wheel or folder.
        origin: String,
        /// The version that it states.
        found: String,
    },
    /// The source of `--from` does not state its release, and the release is not locked.
    #[error("{origin} does not state its release, and {release} is not locked")]
    #[diagnostic(
        code(sp_gen::import::release_not_stated),
        help(
            "give `--from` the wheel, or the site-packages folder, which has the package's dist-info"
        )
    )]
    ReleaseNotStated {
        /// The folder.
        origin: String,
        /// The requested version.
        release: Release,
    },
    /// `--locked` is given, and the lock does not have the release.
    #[error("TensorFlow {release} is not in {lock}")]
    #[diagnostic(
        code(sp_gen::import::release_not_locked),
        help("import it without `--locked`, review the change of the lock and commit it")
    )]
    ReleaseNotLocked {
        /// The requested version.
        release: Release,
        /// The lock file.
        lock: String,
    },
    /// A final or newer version of the requested pre-release's minor release is locked.
    #[error("TensorFlow {release} cannot be imported: {newest} is imported already")]
    #[diagnostic(
        code(sp_gen::import::release_superseded),
        help(
            "there are snapshots of one version of each minor release only: remove {newest} from {lock} first"
        )
    )]
    ReleaseSuperseded {
        /// The requested version.
        release: Release,
        /// The locked version.
        newest: Release,
        /// The lock that has it.
        lock: String,
    },
    /// A header differs from the locked one.
    #[error(
        "{header} of {release} has another sha256 than the lock\n  locked {locked}\n  found  {found}"
    )]
    #[diagnostic(
        code(sp_gen::import::header_hash_mismatch),
        help(
            "nothing was written. The source was changed, or is another build of this release. If the hashes in {lock} are wrong, remove {release} there and import again"
        )
    )]
    HeaderHashMismatch {
        /// The header.
        header: String,
        /// Its release.
        release: Release,
        /// Its sha256 in the lock, or `absent`.
        locked: String,
        /// Its sha256 in the source, or `absent`.
        found: String,
        /// The lock that has the release.
        lock: String,
    },
    /// The platform of a wheel is not supported by `--symbols`.
    #[error("{0} is not a wheel of TensorFlow for Linux or arm64 macOS")]
    #[diagnostic(
        code(sp_gen::import::unsupported_platform),
        help("symbols are read from wheels of tensorflow, tensorflow-cpu and tf-nightly")
    )]
    UnsupportedPlatform(String),
    /// The lock exists and cannot be read as text.
    #[error("cannot read the lock {lock}: {detail}")]
    #[diagnostic(
        code(sp_gen::import::lock_unreadable),
        help(
            "nothing was written. Make it readable, or remove it: `sp-gen import` then writes a new one"
        )
    )]
    LockUnreadable {
        /// The lock file.
        lock: String,
        /// The cause.
        detail: String,
    },
    /// The file lock that excludes parallel imports is not available.
    #[error("cannot lock {path}: {detail}")]
    #[diagnostic(
        code(sp_gen::import::file_lock_unavailable),
        help(
            "parallel imports lock this file: set XDG_CACHE_HOME to a writable folder on a file system with file locks"
        )
    )]
    FileLockUnavailable {
        /// The file.
        path: String,
        /// The cause.
        detail: String,
    },
    /// The lock is malformed.
    #[error("{lock} is not a valid lock of headers: {detail}")]
    #[diagnostic(
        code(sp_gen::import::lock_malformed),
        help(
            "nothing was written. Repair the file, or remove it: `sp-gen import` then writes a new one"
        )
    )]
    LockMalformed {
        /// The lock file.
        lock: String,
        /// The error of the TOML parser.
        detail: String,
    },
    /// The store or the lock cannot be written.
    #[error("cannot write {path}: {detail}")]
    #[diagnostic(
        code(sp_gen::import::store_unwritable),
        help("headers and lock are unchanged")
    )]
    StoreUnwritable {
        /// The file or folder.
        path: String,
        /// The cause.
        detail: String,
    },
    /// The release's folder in the store has a file that sp-gen did not write.
    #[error("{path} was not written by sp-gen, and is in the folder of TensorFlow {release}")]
    #[diagnostic(
        code(sp_gen::import::store_occupied),
        help(
            "no file was changed; move it to another folder, or store the headers elsewhere: `--store DIR`"
        )
    )]
    StoreOccupied {
        /// The file.
        path: String,
        /// The release.
        release: Release,
    },
    /// Files cannot be replaced.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Replacement(#[from] ReplacementError),
    /// The index has no nightly build for this platform.
    #[error("the index has no nightly build: {0} has no wheel for Linux on x86-64")]
    #[diagnostic(
        code(sp_gen::import::no_nightly),
        help(
            "`pip config list` shows which index is used; `--from` imports a local wheel or an installed nightly build"
        )
    )]
    NoNightly(String),
    /// The headers cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Source(#[from] SourceError),
    /// A library cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Library(#[from] LibraryError),
    /// There is no checkout and no cache.
    #[error(transparent)]
    #[diagnostic(transparent)]
    NoCache(#[from] NoCache),
}

impl FetchError {
    /// Returns the error of a wheel or library that cannot be read.
    pub fn unreadable(origin: impl Into<String>, detail: impl ToString) -> Self {
        Self::Source(SourceError::Unreadable {
            origin: origin.into(),
            detail: detail.to_string(),
        })
    }

    /// Converts the error of a request for `wheel`, a URL or a file name.
    pub fn from_server(wheel: &str, error: RangeError) -> Self {
        let wheel = wheel.rsplit('/').next().unwrap_or(wheel).to_owned();
        match error {
            RangeError::Unsupported => Self::RangesUnsupported(wheel),
            RangeError::PlainHttp(host) => Self::PlainHttp { wheel, host },
            RangeError::ErrorStatus { host, status } => Self::RequestFailed {
                host,
                wheel,
                status,
            },
            RangeError::InvalidResponse(detail) => Self::unreadable(wheel, detail),
            RangeError::Unreachable(detail) => Self::NetworkUnreachable {
                detail: format!("{wheel}: {detail}"),
            },
        }
    }
}
