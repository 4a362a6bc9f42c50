//! Errors of an import, each with a message, a code and help.

use super::range::RangeError;
use miette::Diagnostic;
use sp_data::folders::NoCache;
use sp_data::release::Release;
use sp_library::binary::LibraryError;
use sp_parse::source::SourceError;
use sp_system::errors;
use sp_system::replacement::ReplacementError;
use thiserror::Error;

errors! {
    /// A failure of an import, which wrote nothing.
    #[derive(Debug, Error, Diagnostic)]
    pub enum FetchError in import {
        /// pip's indexes have no wheel of the requested release.
        UnknownRelease {
            package: String,
            release: Release,
            /// The releases that the index has.
            #[help] known: String,
        } = unknown_release: ("the index has no {package} {release}");

        /// The index or the server of the wheel cannot be reached.
        NetworkUnreachable {
            /// The error of pip or of the connection.
            detail: String,
        } = network_unreachable: ("the index or the server of the wheel cannot be reached: {detail}"),
            help("check the connection and pip's index settings (`pip config list`), or import from a wheel or an \
                  installed TensorFlow with `--from`");

        /// pip cannot be run.
        PipMissing {
            /// The error of the attempt to run it.
            detail: String,
        } = pip_missing: ("pip cannot be run to find the wheel: {detail}"),
            help("`python3 -m pip` must work: `python3 -m ensurepip --upgrade`, or activate an environment that has \
                  pip; `--from` needs no pip");

        /// pip ran and failed for another reason than a connection or an unknown package.
        PipFailed {
            /// The last line of its output.
            detail: String,
        } = pip_failed: ("pip could not read the index: {detail}"),
            help("`python3 -m pip download --no-deps tensorflow-cpu` shows the whole message; `--from` needs no pip");

        /// The server of the wheel does not support range requests.
        RangesUnsupported(String) = ranges_unsupported: ("the server of {0} does not support range requests"),
            help("`--whole` downloads the whole wheel, some hundred MB, and compares its sha256 with the index's; \
                  `--from` imports a local wheel");

        /// The URL of the wheel, of the page that links to it or of a redirect is plain http.
        PlainHttp { wheel: String, host: String }
            = plain_http: ("{wheel} would be fetched over plain http from {host}"),
            help("anyone on the network can change it. Use an https index, or `--allow-http` to allow plain http");

        /// The server answers with an error status.
        RequestFailed { host: String, wheel: String, status: u16 }
            = request_failed: ("{host} answers with status {status} for {wheel}"),
            help("if {host} needs credentials, add them to the index URL in pip's configuration or to netrc; \
                  keyrings are not read. `--from` imports a wheel that was downloaded by other means");

        /// The wheel's sha256 differs from the one in the index.
        WheelHashMismatch {
            wheel: String,
            /// The sha256 of the link.
            stated: String,
            /// The sha256 of the file.
            found: String,
        } = wheel_hash_mismatch: ("{wheel} has another sha256 than the index states\n  stated {stated}\n  found  \
                {found}"),
            help("nothing was written. The wheel was changed or is damaged; do not use it");

        /// `--whole` is given, and neither the link to the wheel nor its page states a sha256.
        WheelHashNotStated(String)
            = wheel_hash_not_stated: ("the index states no sha256 of {0}, so that it cannot be verified"),
            help("nothing was written. Download the wheel by other means, verify it and import it with `--from`; \
                  without `--whole` \
             only its headers are checked, with the lock");

        /// A member's path is outside of the wheel's root.
        MemberOutsideRoot { origin: String, member: String }
            = member_outside_root: ("{origin} has the member `{member}`, whose path is outside of the wheel's root"),
            help("TensorFlow's build does not write such a wheel; do not use it");

        /// The source of `--from` has another release than the requested one.
        ReleaseMismatch {
            origin: String,
            release: Release,
            /// The version that it states.
            found: String,
        } = release_mismatch: ("{origin} has TensorFlow {found}, not {release}"),
            help("request {found}, or give `--from` a wheel or folder of {release}");

        /// The release is `nightly`, and the source of `--from` is not a nightly build.
        NotNightly {
            origin: String,
            /// The version that it states.
            found: String,
        } = not_nightly: ("{origin} has TensorFlow {found}, which is not a nightly build"),
            help("request {found} instead of `nightly`, or give `--from` a nightly build");

        /// The source of `--from` does not state its release, and the release is not locked.
        ReleaseNotStated { origin: String, release: Release }
            = release_not_stated: ("{origin} does not state its release, and {release} is not locked"),
            help("give `--from` the wheel, or a folder with `tensorflow/include` and `tensorflow-{release}.dist-info/METADATA`, such as site-packages");

        /// `--locked` is given, and the lock does not have the release.
        ReleaseNotLocked { release: Release, lock: String }
            = release_not_locked: ("TensorFlow {release} is not in {lock}"),
            help("import it without `--locked`, review the change of the lock and commit it");

        /// A final or newer version of the requested pre-release's minor release is locked.
        ReleaseSuperseded {
            release: Release,
            newest: Release,
            /// The lock that has it.
            lock: String,
        } = release_superseded: ("TensorFlow {release} cannot be imported: {newest} is imported already"),
            help("there are snapshots of one version of each minor release only: remove {newest} from {lock} first");

        /// A header differs from the locked one.
        HeaderHashMismatch {
            header: String,
            release: Release,
            /// Its sha256 in the lock, or `absent`.
            locked: String,
            /// Its sha256 in the source, or `absent`.
            found: String,
            /// The lock that has the release.
            lock: String,
        } = header_hash_mismatch: ("{header} of {release} has another sha256 than the lock\n  locked {locked}\n  \
                found  {found}"),
            help("nothing was written. The source was changed, or is another build of this release. If the hashes \
                  in {lock} are wrong, remove {release} there and import again");

        /// The platform of a wheel is not supported by `--symbols`.
        UnsupportedPlatform(String)
            = unsupported_platform: ("{0} is not a wheel of TensorFlow for Linux or arm64 macOS"),
            help("symbols are read from wheels of tensorflow, tensorflow-cpu and tf-nightly");

        /// The lock exists and cannot be read as text.
        LockUnreadable { lock: String, detail: String }
            = lock_unreadable: ("cannot read the lock {lock}: {detail}"),
            help("nothing was written. Make it readable, or remove it: `sp-gen import` then writes a new one");

        /// The file lock that excludes parallel imports is not available.
        FileLockUnavailable { path: String, detail: String }
            = file_lock_unavailable: ("cannot lock {path}: {detail}"),
            help("parallel imports lock this file: set XDG_CACHE_HOME to a writable folder on a file system with \
                  file locks");

        /// The lock is malformed.
        LockMalformed {
            lock: String,
            /// The error of the TOML parser.
            detail: String,
        } = lock_malformed: ("{lock} is not a valid lock of headers: {detail}"),
            help("nothing was written. Repair the file, or remove it: `sp-gen import` then writes a new one");

        /// The store or the lock cannot be written.
        StoreUnwritable { path: String, detail: String } = store_unwritable: ("cannot write {path}: {detail}"),
            help("headers and lock are unchanged");

        /// The release's folder in the store has a file that sp-gen did not write.
        StoreOccupied { path: String, release: Release }
            = store_occupied: ("{path} was not written by sp-gen, and is in the folder of TensorFlow {release}"),
            help("no file was changed; move it to another folder, or store the headers elsewhere: `--store DIR`");

        /// Files cannot be replaced.
        Replacement(ReplacementError) = transparent;

        /// The index has no nightly build for this platform.
        NoNightly(String)
            = no_nightly: ("the index has no nightly build: {0} has no wheel for Linux on x86-64"),
            help("`pip config list` shows which index is used; `--from` imports a local wheel or an installed \
                  nightly build");

        /// The headers cannot be read.
        Source(SourceError) = transparent;

        /// A library cannot be read.
        Library(LibraryError) = transparent;

        /// There is no checkout and no cache.
        NoCache(NoCache) = transparent;
    }
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
