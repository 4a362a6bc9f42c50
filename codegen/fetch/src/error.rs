//! What can go wrong in an import: one message per kind, each with what to do next.

use super::range::RangeError;
use miette::Diagnostic;
use sp_data::folders::NoCache;
use sp_data::release::Release;
use sp_library::binary::LibraryError;
use sp_parse::source::SourceError;
use thiserror::Error;

/// Why an import wrote nothing.
#[derive(Debug, Error, Diagnostic)]
pub enum FetchError {
    /// No index that pip asks has a final release of that name.
    #[error("the index has no {package} {release}")]
    #[diagnostic(code(sp_gen::import::unknown_release))]
    UnknownRelease {
        /// The requested version.
        package: String,
        /// In which release.
        release: Release,
        /// Which releases it has.
        #[help]
        known: String,
    },
    /// The index, or the host of the wheel, did not answer.
    #[error("the network is away: {detail}")]
    #[diagnostic(
        code(sp_gen::import::network_away),
        help(
            "check the connection and pip's index settings (`pip config list`), or import from a wheel or an installed TensorFlow with `--from`"
        )
    )]
    NetworkAway {
        /// What pip or the connection said.
        detail: String,
    },
    /// There is no usable pip.
    #[error("cannot ask pip for the wheel: {detail}")]
    #[diagnostic(
        code(sp_gen::import::pip_missing),
        help(
            "`python3 -m pip` must work: `python3 -m ensurepip --upgrade`, or activate an environment that has pip; `--from` needs no pip"
        )
    )]
    PipMissing {
        /// What happened when it was run.
        detail: String,
    },
    /// pip ran and failed for another reason.
    #[error("pip could not read the index: {detail}")]
    #[diagnostic(
        code(sp_gen::import::pip_failed),
        help(
            "`python3 -m pip download --no-deps tensorflow-cpu` shows the whole message; `--from` needs no pip"
        )
    )]
    PipFailed {
        /// The last line of what it said.
        detail: String,
    },
    /// The host of the wheel answers with all of it.
    #[error("the server of {wheel} does not serve parts of a file")]
    #[diagnostic(
        code(sp_gen::import::ranges_refused),
        help(
            "`--whole` fetches all of it, some hundred MB, and compares its sha256 with the index's; `--from` imports a wheel at hand"
        )
    )]
    RangesRefused {
        /// The wheel's file name.
        wheel: String,
    },
    /// The wheel, the page that links to it or a redirect is plain http.
    #[error("{wheel} would be read over plain http from {host}")]
    #[diagnostic(
        code(sp_gen::import::plain_http),
        help(
            "anyone between here and {host} can change it. Use an https index; `--allow-http` allows plain http"
        )
    )]
    PlainHttp {
        /// The wheel's file name.
        wheel: String,
        /// Host and port.
        host: String,
    },
    /// The server answers with an error.
    #[error("{host} answers with status {status} for {wheel}")]
    #[diagnostic(
        code(sp_gen::import::access_denied),
        help(
            "credentials are taken from the index URLs of `pip config list` and from netrc, if they are for {host}; keyrings are not read. `--from` imports a wheel that was fetched otherwise"
        )
    )]
    AccessDenied {
        /// Host and port.
        host: String,
        /// The wheel's file name.
        wheel: String,
        /// The HTTP status.
        status: u16,
    },
    /// The wheel is not the one that the index links to.
    #[error(
        "{wheel} is not what the index states\n  stated sha256 {stated}\n  found  sha256 {found}"
    )]
    #[diagnostic(
        code(sp_gen::import::wheel_differs),
        help("nothing was written. The wheel was changed or is damaged; do not use it")
    )]
    WheelDiffers {
        /// The wheel's file name.
        wheel: String,
        /// The sha256 of the link.
        stated: String,
        /// The sha256 of the file.
        found: String,
    },
    /// A member's name points out of the folder it would be written to.
    #[error("{origin} has a member named `{member}`, which leads out of the store")]
    #[diagnostic(
        code(sp_gen::import::member_name_refused),
        help("this wheel was not made by TensorFlow's build; do not use it")
    )]
    MemberNameRefused {
        /// The wheel.
        origin: String,
        /// The member.
        member: String,
    },
    /// `--from` holds another release than the one named.
    #[error("{origin} holds TensorFlow {found}, not {release}")]
    #[diagnostic(
        code(sp_gen::import::release_differs),
        help("name the release that it holds, {found}, or point `--from` elsewhere")
    )]
    ReleaseDiffers {
        /// The wheel or folder.
        origin: String,
        /// The requested version.
        release: Release,
        /// The version that it states.
        found: String,
    },
    /// `nightly`, and `--from` holds something else.
    #[error("{origin} holds TensorFlow {found}, which is not a nightly build")]
    #[diagnostic(
        code(sp_gen::import::not_nightly),
        help("name the release that it holds instead of `nightly`, or point `--from` elsewhere")
    )]
    NotNightly {
        /// The wheel or folder.
        origin: String,
        /// The version that it states.
        found: String,
    },
    /// `--from` does not say what it is, and no lock does.
    #[error("{origin} does not say which release it is, and {release} is not locked")]
    #[diagnostic(
        code(sp_gen::import::release_unstated),
        help(
            "point `--from` at the wheel or at the site-packages folder, which has the package's dist-info"
        )
    )]
    ReleaseUnstated {
        /// The folder.
        origin: String,
        /// The requested version.
        release: Release,
    },
    /// `--locked`, and the lock does not have it.
    #[error("TensorFlow {release} is not in {lock}")]
    #[diagnostic(
        code(sp_gen::import::release_unlocked),
        help("import it once without `--locked`, look at the change of the lock, and commit it")
    )]
    ReleaseUnlocked {
        /// The requested version.
        release: Release,
        /// The lock file.
        lock: String,
    },
    /// A pre-release of a minor release of which a final or newer version is locked.
    #[error("TensorFlow {release} cannot be imported: {newest} is imported already")]
    #[diagnostic(
        code(sp_gen::import::release_superseded),
        help(
            "snapshots hold one version of each minor release: remove {newest} from {lock} first"
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
    /// A header is not the one that was locked.
    #[error("{header} of {release} is not the locked one\n  locked {locked}\n  found  {found}")]
    #[diagnostic(
        code(sp_gen::import::hash_differs),
        help(
            "nothing was written. The source was changed, or is another build of this release. Its hashes are in {lock}: if they are wrong, remove {release} there and import again"
        )
    )]
    HashDiffers {
        /// The header.
        header: String,
        /// Of which release.
        release: Release,
        /// Its sha256 in the lock, or `absent`.
        locked: String,
        /// Its sha256 in the source, or `absent`.
        found: String,
        /// The lock that has the release.
        lock: String,
    },
    /// A package that symbols are not kept for.
    #[error("{origin} does not say that it is a wheel for Linux or arm64 macOS")]
    #[diagnostic(
        code(sp_gen::import::platform_unknown),
        help(
            "symbols are read from tensorflow and tensorflow-cpu wheels, and from installations of them"
        )
    )]
    PlatformUnknown {
        /// The wheel or folder.
        origin: String,
    },
    /// The lock exists and is not readable text.
    #[error("cannot read the lock {lock}: {detail}")]
    #[diagnostic(
        code(sp_gen::import::lock_unreadable),
        help(
            "nothing was written. Make it readable, or move it away: `sp-gen import` then writes a new one"
        )
    )]
    LockUnreadable {
        /// The lock file.
        lock: String,
        /// Why not.
        detail: String,
    },
    /// No lock on the file that parallel imports exclude each other with.
    #[error("cannot lock {path}: {detail}")]
    #[diagnostic(
        code(sp_gen::import::lock_unavailable),
        help(
            "parallel imports exclude each other with this file: set XDG_CACHE_HOME to a folder that is writable and whose file system has file locks"
        )
    )]
    LockUnavailable {
        /// The file.
        path: String,
        /// Why not.
        detail: String,
    },
    /// The lock is not one.
    #[error("{lock} is not a lock of headers: {detail}")]
    #[diagnostic(code(sp_gen::import::lock_malformed))]
    LockMalformed {
        /// The lock file.
        lock: String,
        /// What the TOML reader said.
        detail: String,
    },
    /// The store or the lock cannot be written.
    #[error("cannot write {path}: {detail}")]
    #[diagnostic(
        code(sp_gen::import::store_unwritable),
        help("nothing was left half-written")
    )]
    StoreUnwritable {
        /// The file or folder.
        path: String,
        /// Why not.
        detail: String,
    },
    /// The index has no nightly build for this platform.
    #[error("the index has no nightly build: {package} has no wheel for Linux on x86-64")]
    #[diagnostic(
        code(sp_gen::import::no_nightly),
        help(
            "`pip config list` shows which index is used; `--from` imports an installed nightly build"
        )
    )]
    NoNightly {
        /// The package.
        package: String,
    },
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
    /// Returns what a failed request for `wheel`, a URL or file name, means.
    pub fn from_server(wheel: &str, error: RangeError) -> Self {
        let wheel = wheel.rsplit('/').next().unwrap_or(wheel).to_owned();
        match error {
            RangeError::Refused => Self::RangesRefused { wheel },
            RangeError::Insecure(host) => Self::PlainHttp { wheel, host },
            RangeError::Denied { host, status } => Self::AccessDenied {
                host,
                wheel,
                status,
            },
            RangeError::Invalid(detail) => Self::Source(SourceError::Unreadable {
                origin: wheel,
                detail,
            }),
            RangeError::Away(detail) => Self::NetworkAway {
                detail: format!("{wheel}: {detail}"),
            },
        }
    }
}
