//! What can be wrong with notes.

use miette::{Diagnostic, NamedSource, SourceSpan};
use thiserror::Error;

/// Notes cannot be used.
#[derive(Debug, Error, Diagnostic)]
pub enum NotesError {
    /// They are not of the documented form.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Malformed(Box<Malformed>),
    /// They say things that do not hold.
    #[error("{file}: {} of its notes cannot stand", mistakes.len())]
    #[diagnostic(code(sp_gen::notes::mistaken))]
    Mistaken {
        /// The notes file.
        file: String,
        /// All of them.
        #[related]
        mistakes: Vec<Mistake>,
    },
}

/// Notes that are not TOML of the documented form.
#[derive(Debug, Error, Diagnostic)]
#[error("{file}: {message}")]
#[diagnostic(
    code(sp_gen::notes::malformed),
    help("headers/apis/README.md has the form")
)]
pub struct Malformed {
    pub(super) file: String,
    pub(super) message: String,
    #[source_code]
    pub(super) source_code: NamedSource<String>,
    #[label("here")]
    pub(super) span: Option<SourceSpan>,
}

/// One note that cannot stand.
#[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
pub enum Mistake {
    /// Its subject is nowhere.
    #[error("{file}: nothing uses `{key}`")]
    #[diagnostic(
        code(sp_gen::notes::unused),
        help(
            "no known release declares it, or it is of a kind this key says nothing about; correct the name or remove the note"
        )
    )]
    Unused {
        /// The notes file.
        file: String,
        /// The key in it.
        key: String,
    },
    /// The header's comment says otherwise.
    #[error("{file}: `{key}` says {note}, the comment at {comment} says {said}")]
    #[diagnostic(
        code(sp_gen::notes::contradiction),
        help("if the header is wrong, say so: overrides = \"comment\"")
    )]
    Contradiction {
        /// The notes file.
        file: String,
        /// The key in it.
        key: String,
        /// What the note says.
        note: String,
        /// Where the comment is.
        comment: String,
        /// What the comment says.
        said: String,
    },
    /// It overrides a comment that says nothing else.
    #[error("{file}: `{key}` overrides a comment, and no comment says otherwise")]
    #[diagnostic(code(sp_gen::notes::override_unused), help("remove `overrides`"))]
    OverrideUnused {
        /// The notes file.
        file: String,
        /// The key in it.
        key: String,
    },
    /// Nothing says how it is known.
    #[error("{file}: `{key}` has no evidence")]
    #[diagnostic(
        code(sp_gen::notes::no_evidence),
        help("add `evidence = \"...\"` to it or to what it is in: what shows that it is so")
    )]
    NoEvidence {
        /// The notes file.
        file: String,
        /// The key in it.
        key: String,
    },
}
