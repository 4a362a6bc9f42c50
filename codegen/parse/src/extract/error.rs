//! Errors of an extraction, or of one API in it.

use std::path::PathBuf;

use miette::Diagnostic;
use thiserror::Error;

use crate::clang::ClangError;
use crate::contract::NotesError;
use crate::source::SourceError;

/// No API can be extracted from an include root.
#[derive(Debug, Error, Diagnostic)]
pub enum ExtractError {
    /// The headers cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Clang(#[from] ClangError),
    /// The notes cannot be used.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Notes(#[from] NotesError),
    /// An API cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    UnreadableApi(#[from] UnreadableApi),
    /// The include root has no header of any requested API.
    #[error("{} has no header of {api}", root.display())]
    #[diagnostic(
        code(sp_gen::extract::no_headers),
        help(
            "an include root is the folder that has tensorflow/c/kernels.h below it, such as .../site-packages/tensorflow/include"
        )
    )]
    NoHeaders {
        /// The folder.
        root: PathBuf,
        /// The requested APIs.
        api: String,
    },
    /// The headers declare no item of an API.
    #[error("the headers in {} declare no item of TensorFlow's C APIs", .0.display())]
    #[diagnostic(
        code(sp_gen::extract::no_items),
        help(
            "nothing can be compared or imported; check that these are the headers of a release of TensorFlow"
        )
    )]
    NoItems(PathBuf),
    /// The include root cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Source(#[from] SourceError),
    /// An item is of different kinds on two targets.
    #[error("{api}: `{item}` is another kind of item for {target}")]
    #[diagnostic(
        code(sp_gen::extract::target),
        help("a snapshot can only describe differences of layouts and values between targets")
    )]
    Target {
        /// The API.
        api: String,
        /// Its item.
        item: String,
        /// The target.
        target: String,
    },
}

/// An API that cannot be read.
#[derive(Debug, Error, Diagnostic)]
#[error("API `{api}` cannot be read")]
#[diagnostic(code(sp_gen::extract::unreadable))]
pub struct UnreadableApi {
    /// The API.
    pub api: String,
    /// The reason.
    #[source]
    #[diagnostic_source]
    pub reason: UnreadableReason,
}

/// The reason why an API cannot be read.
#[derive(Debug, Error, Diagnostic)]
pub enum UnreadableReason {
    /// A header does not parse, or the IR cannot describe a declaration.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Clang(#[from] ClangError),
    /// An item uses a type by value that no header declares.
    #[error("`{item}` uses `{missing}`, which no header declares")]
    #[diagnostic(
        code(sp_gen::extract::undeclared),
        help(
            "list the header that declares `{missing}` in the notes of an API (headers/apis), with `only` if little of it is needed"
        )
    )]
    Undeclared {
        /// The item.
        item: String,
        /// The type.
        missing: String,
    },
}
