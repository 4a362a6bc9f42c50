//! The errors of operands.

use sp_system::errors;
use std::io;
use std::path::PathBuf;

use miette::Diagnostic;
use sp_ir::SnapshotError;
use thiserror::Error;

use sp_data::release::Release;
use sp_data::snapshots::SnapshotReadError;
use sp_data::symbols::SymbolsError;
use sp_fetch::error::FetchError;
use sp_parse::extract::ExtractError;

errors! {
    /// An operand that cannot be compared.
    #[derive(Debug, Error, Diagnostic)]
    pub enum OperandError in diff {
        /// A release without snapshots.
        UnknownRelease {
            release: Release,
            /// Similar releases, and all known ones.
            help: String,
        } = unknown_release: ("TensorFlow {release} has no snapshots"),
            help("{help}");

        /// No nightly build is imported.
        NoNightly = no_nightly: ("no nightly build is imported"),
            help("run `sp-gen import tensorflow nightly` to import the newest one");

        /// The text is neither a release nor a path.
        Missing {
            text: String,
            /// Similar releases, and the kinds of operands.
            help: String,
        } = missing: ("`{text}` is neither a release nor an existing file or folder"),
            help("{help}");

        /// The file is of an unknown kind.
        Unrecognised(PathBuf)
            = unrecognised: ("{} is neither a snapshot (.json) nor a wheel (.whl)", .0.display()),
            help("{OPERANDS}");

        /// The folder has nothing to compare.
        Empty(PathBuf) = empty: ("{} contains neither headers of TensorFlow nor snapshots", .0.display()),
            help("{OPERANDS}");

        /// The file or folder cannot be read.
        Unreadable {
            path: PathBuf,
            /// The error of the system.
            source: io::Error,
        } = unreadable: ("{} cannot be read: {source}", path.display());

        /// The file is not a snapshot.
        Malformed {
            path: PathBuf,
            /// The error in the file.
            reason: SnapshotError,
        } = malformed: ("{}: {reason}", path.display()),
            help("`sp-gen ir API --format json` writes such files");

        /// A side has two snapshots of one API.
        DuplicateApi { api: String, first: PathBuf, second: PathBuf }
            = duplicate_api: ("{} and {} are both snapshots of {api}", first.display(), second.display()),
            help("a side may have one snapshot of each API: pass a file, or a folder with one release");

        /// No side has the API.
        UnknownApi {
            api: String,
            old: String,
            new: String,
            /// Similar APIs, and those of both sides.
            help: String,
        } = unknown_api: ("neither {old} nor {new} has the API `{api}`"),
            help("{help}");

        /// Snapshots do not have layouts of the target.
        UnknownTarget { target: String, label: String, known: String }
            = unknown_target: ("{label} is a snapshot, which has no layouts of the target {target}"),
            help("known: {known}; include roots and wheels can be compared for any target");

        /// The release's snapshots cannot be read.
        Snapshots(SnapshotReadError) = transparent;

        /// The headers cannot be read.
        Extract(ExtractError) = transparent;

        /// The wheel, the installation or the store cannot be read.
        Import(FetchError) = transparent;

        /// The tables of exported symbols cannot be read.
        Symbols(SymbolsError) = transparent;
    }
}

pub(super) const OPERANDS: &str = "OLD and NEW are each a release (2.21), an IR file or a folder of them, an include root, a wheel, or an installed TensorFlow";
