//! The errors of operands.

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

/// An operand that cannot be compared.
#[derive(Debug, Error, Diagnostic)]
pub enum OperandError {
    /// A release without snapshots.
    #[error("TensorFlow {release} has no snapshots")]
    #[diagnostic(code(sp_gen::diff::unknown_release), help("{help}"))]
    UnknownRelease {
        /// The requested release.
        release: Release,
        /// Similar releases, and all known ones.
        help: String,
    },
    /// No nightly build is imported.
    #[error("no nightly build is imported")]
    #[diagnostic(
        code(sp_gen::diff::no_nightly),
        help("run `sp-gen import tensorflow nightly` to import the newest one")
    )]
    NoNightly,
    /// The text is neither a release nor a path.
    #[error("`{text}` is neither a release nor an existing file or folder")]
    #[diagnostic(code(sp_gen::diff::missing), help("{help}"))]
    Missing {
        /// The text.
        text: String,
        /// Similar releases, and the kinds of operands.
        help: String,
    },
    /// The file is of an unknown kind.
    #[error("{} is neither a snapshot (.json) nor a wheel (.whl)", .0.display())]
    #[diagnostic(code(sp_gen::diff::unrecognised), help("{OPERANDS}"))]
    Unrecognised(PathBuf),
    /// The folder has nothing to compare.
    #[error("{} contains neither headers of TensorFlow nor snapshots", .0.display())]
    #[diagnostic(code(sp_gen::diff::empty), help("{OPERANDS}"))]
    Empty(PathBuf),
    /// The file or folder cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    #[diagnostic(code(sp_gen::diff::unreadable))]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is not a snapshot.
    #[error("{}: {reason}", path.display())]
    #[diagnostic(
        code(sp_gen::diff::malformed),
        help("`sp-gen ir API --format json` writes such files")
    )]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The error in the file.
        reason: SnapshotError,
    },
    /// A side has two snapshots of one API.
    #[error("{} and {} are both snapshots of {api}", first.display(), second.display())]
    #[diagnostic(
        code(sp_gen::diff::duplicate_api),
        help(
            "a side may have one snapshot of each API: pass a file, or a folder with one release"
        )
    )]
    DuplicateApi {
        /// The API.
        api: String,
        /// A snapshot.
        first: PathBuf,
        /// Another snapshot.
        second: PathBuf,
    },
    /// No side has the API.
    #[error("neither {old} nor {new} has the API `{api}`")]
    #[diagnostic(code(sp_gen::diff::unknown_api), help("{help}"))]
    UnknownApi {
        /// The requested API.
        api: String,
        /// OLD's label.
        old: String,
        /// NEW's label.
        new: String,
        /// Similar APIs, and those of both sides.
        help: String,
    },
    /// Snapshots do not have layouts of the target.
    #[error("{label} is a snapshot, which has no layouts of the target {target}")]
    #[diagnostic(
        code(sp_gen::diff::unknown_target),
        help("known: {known}; include roots and wheels can be compared for any target")
    )]
    UnknownTarget {
        /// The requested target.
        target: String,
        /// The operand.
        label: String,
        /// The targets of snapshots.
        known: String,
    },
    /// The release's snapshots cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Snapshots(#[from] SnapshotReadError),
    /// The headers cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Extract(#[from] ExtractError),
    /// The wheel, the installation or the store cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Import(#[from] FetchError),
    /// The tables of exported symbols cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Symbols(#[from] SymbolsError),
}

pub(super) const OPERANDS: &str = "OLD and NEW are each a release (2.21), an IR file or a folder of them, an include root, a wheel, or an installed TensorFlow";
