//! Errors of an extraction, or of one API in it.

use sp_system::errors;
use std::path::PathBuf;

use miette::Diagnostic;
use thiserror::Error;

use crate::clang::ClangError;
use crate::contract::NotesError;
use crate::source::SourceError;

errors! {
    /// No API can be extracted from an include root.
    #[derive(Debug, Error, Diagnostic)]
    pub enum ExtractError in extract {
        /// The headers cannot be read.
        Clang(ClangError) = transparent;

        /// The notes cannot be used.
        Notes(NotesError) = transparent;

        /// An API cannot be read.
        UnreadableApi(UnreadableApi) = transparent;

        /// The include root has no header of any requested API.
        NoHeaders { root: PathBuf, api: String } = no_headers: ("{} has no header of {api}", root.display()),
            help("an include root is the folder that has tensorflow/c/kernels.h below it, such as \
                  .../site-packages/tensorflow/include");

        /// The headers declare no item of an API.
        NoItems(PathBuf) = no_items: ("the headers in {} declare no item of TensorFlow's C APIs", .0.display()),
            help("nothing can be compared or imported; check that these are the headers of a release of TensorFlow");

        /// The include root cannot be read.
        Source(SourceError) = transparent;

        /// An item is of different kinds on two targets.
        Target { api: String, item: String, target: String }
            = target: ("{api}: `{item}` is another kind of item for {target}"),
            help("a snapshot can only describe differences of layouts and values between targets");
    }
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

errors! {
    /// The reason why an API cannot be read.
    #[derive(Debug, Error, Diagnostic)]
    pub enum UnreadableReason in extract {
        /// A header does not parse, or the IR cannot describe a declaration.
        Clang(ClangError) = transparent;

        /// An item uses a type by value that no header declares.
        Undeclared { item: String, missing: String }
            = undeclared: ("`{item}` uses `{missing}`, which no header declares"),
            help("list the header that declares `{missing}` in the notes of an API (headers/apis), with `only` if \
                  little of it is needed");
    }
}
