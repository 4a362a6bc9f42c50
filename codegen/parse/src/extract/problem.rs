//! Why an include root, or one API in it, gives nothing.

use std::path::PathBuf;

use miette::Diagnostic;
use thiserror::Error;

use crate::clang::ClangError;
use crate::contract::NotesError;
use crate::source::SourceError;

/// An include root gives no APIs.
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
    /// One API cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Unread(#[from] Unread),
    /// No header of any API that was asked for is there.
    #[error("{} holds no header of {what}", root.display())]
    #[diagnostic(
        code(sp_gen::extract::no_headers),
        help(
            "an include root is the folder that has tensorflow/c/kernels.h below it, such as .../site-packages/tensorflow/include"
        )
    )]
    NoHeaders {
        /// The folder.
        root: PathBuf,
        /// The name that was looked for.
        what: String,
    },
    /// The include root cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Tree(#[from] SourceError),
    /// The same on another target means something else.
    #[error("{api}: `{item}` is another kind of thing for {target}")]
    #[diagnostic(
        code(sp_gen::extract::target),
        help("a snapshot can only say that layouts and values differ between targets")
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
#[diagnostic(code(sp_gen::extract::unread))]
pub struct Unread {
    /// The API.
    pub api: String,
    /// Why not.
    #[source]
    #[diagnostic_source]
    pub reason: Reason,
}

/// Why an API cannot be read.
#[derive(Debug, Error, Diagnostic)]
pub enum Reason {
    /// One of its headers does not parse, or declares what the IR cannot describe.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Clang(#[from] ClangError),
    /// A type that no header declares is used by value.
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
