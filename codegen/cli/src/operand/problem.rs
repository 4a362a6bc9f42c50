//! Why an operand cannot be compared: one message per kind, each with what to do next.

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

/// Why there is nothing to compare.
#[derive(Debug, Error, Diagnostic)]
pub enum OperandError {
    /// A release without snapshots.
    #[error("there are no snapshots of TensorFlow {release}")]
    #[diagnostic(code(sp_gen::diff::unknown_release), help("{help}"))]
    UnknownRelease {
        /// What was asked for.
        release: Release,
        /// Releases that are close to it, and those that are known.
        help: String,
    },
    /// `nightly`, and none is imported.
    #[error("no nightly build is imported")]
    #[diagnostic(
        code(sp_gen::diff::no_nightly),
        help("`sp-gen import tensorflow nightly` imports the newest")
    )]
    NoNightly,
    /// Neither a release nor something on disk.
    #[error("`{text}` is no release, and no such file or folder is there")]
    #[diagnostic(code(sp_gen::diff::missing), help("{help}"))]
    Missing {
        /// As it was given.
        text: String,
        /// Releases that are close to it, and what an operand is.
        help: String,
    },
    /// A file of no known kind.
    #[error("{} is neither a snapshot (.json) nor a wheel (.whl)", path.display())]
    #[diagnostic(code(sp_gen::diff::unrecognised), help("{OPERANDS}"))]
    Unrecognised {
        /// The file.
        path: PathBuf,
    },
    /// A folder of no known kind.
    #[error("{} holds neither headers of TensorFlow nor snapshots", path.display())]
    #[diagnostic(code(sp_gen::diff::empty), help("{OPERANDS}"))]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// A file or folder that the system does not let us read.
    #[error("{} cannot be read: {source}", path.display())]
    #[diagnostic(code(sp_gen::diff::unreadable))]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file that holds no snapshot.
    #[error("{}: {reason}", path.display())]
    #[diagnostic(
        code(sp_gen::diff::malformed),
        help("`sp-gen ir API --format json` writes such files")
    )]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: SnapshotError,
    },
    /// Two snapshots of one API on one side.
    #[error("{} and {} are both of {api}", first.display(), second.display())]
    #[diagnostic(
        code(sp_gen::diff::twice),
        help("a side has each API once: name the file, or a folder that has one release")
    )]
    Twice {
        /// The API.
        api: String,
        /// A file.
        first: PathBuf,
        /// Another.
        second: PathBuf,
    },
    /// An API that neither side has.
    #[error("neither {old} nor {new} has the API `{api}`")]
    #[diagnostic(code(sp_gen::diff::unknown_api), help("{help}"))]
    UnknownApi {
        /// What was asked for.
        api: String,
        /// OLD's label.
        old: String,
        /// NEW's label.
        new: String,
        /// APIs that are close to it, and those of both sides.
        help: String,
    },
    /// A target that snapshots do not speak of.
    #[error("snapshots say nothing of the target {target}, and {label} is one")]
    #[diagnostic(
        code(sp_gen::diff::unknown_target),
        help("known: {known}; include roots and wheels can be compared for any other")
    )]
    UnknownTarget {
        /// What was asked for.
        target: String,
        /// The operand.
        label: String,
        /// What there is.
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
