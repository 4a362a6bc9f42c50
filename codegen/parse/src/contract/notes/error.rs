//! Errors in notes.

use miette::{Diagnostic, NamedSource, SourceSpan};
use thiserror::Error;

/// Notes cannot be used.
#[derive(Debug, Error, Diagnostic)]
pub enum NotesError {
    /// The file is not of the documented form.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Malformed(Box<Malformed>),
    /// Some notes are mistaken.
    #[error("{file}: {} mistaken notes", mistakes.len())]
    #[diagnostic(code(sp_gen::notes::mistaken))]
    Mistaken {
        /// The notes file.
        file: String,
        /// All mistakes in the file.
        #[related]
        mistakes: Vec<Mistake>,
    },
}

/// Notes that are not TOML of the documented form.
#[derive(Debug, Error, Diagnostic)]
#[error("{file}: {message}")]
#[diagnostic(
    code(sp_gen::notes::malformed),
    help("headers/apis/README.md describes the form")
)]
pub struct Malformed {
    pub(super) file: String,
    pub(super) message: String,
    #[source_code]
    pub(super) source_code: NamedSource<String>,
    #[label("here")]
    pub(super) span: Option<SourceSpan>,
}

/// A mistaken note.
#[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
pub enum Mistake {
    /// The note applies to nothing.
    #[error("{file}: `{key}` applies to nothing")]
    #[diagnostic(
        code(sp_gen::notes::unused),
        help(
            "no known release declares the name, or its kind of item does not have this key; correct the name or remove the note"
        )
    )]
    Unused {
        /// The notes file.
        file: String,
        /// The key in it.
        key: String,
    },
    /// The header's comment contradicts the note.
    #[error("{file}: `{key}` is {note} in the note, but {stated} in the comment at {comment}")]
    #[diagnostic(
        code(sp_gen::notes::contradiction),
        help("if the header is wrong, add overrides = \"comment\"")
    )]
    Contradiction {
        /// The notes file.
        file: String,
        /// The key in it.
        key: String,
        /// The note's value.
        note: String,
        /// The location of the comment.
        comment: String,
        /// The comment's value.
        stated: String,
    },
    /// The note overrides a comment that does not contradict it.
    #[error("{file}: `{key}` overrides a comment, but no comment contradicts it")]
    #[diagnostic(code(sp_gen::notes::override_unused), help("remove `overrides`"))]
    OverrideUnused {
        /// The notes file.
        file: String,
        /// The key in it.
        key: String,
    },
    /// The note has no evidence.
    #[error("{file}: `{key}` has no evidence")]
    #[diagnostic(
        code(sp_gen::notes::no_evidence),
        help(
            "add `evidence = \"...\"` to the note or to a table around it: the source that shows the fact"
        )
    )]
    NoEvidence {
        /// The notes file.
        file: String,
        /// The key in it.
        key: String,
    },
}
