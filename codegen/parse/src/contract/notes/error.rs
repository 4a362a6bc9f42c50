//! Errors in notes.

use miette::{Diagnostic, NamedSource, SourceSpan};
use sp_system::errors;
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

errors! {
    /// A mistaken note.
    #[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
    pub enum Mistake in notes {
        /// The note applies to nothing.
        Unused { file: String, key: String } = unused: ("{file}: `{key}` applies to nothing"),
            help("no known release declares the name, or its kind of item does not have this key; correct the name \
                  or remove the note");

        /// The header's comment contradicts the note.
        Contradiction {
            file: String,
            key: String,
            note: String,
            /// The location of the comment.
            comment: String,
            stated: String,
        } = contradiction: ("{file}: `{key}` is {note} in the note, but {stated} in the comment at {comment}"),
            help("if the header is wrong, add overrides = \"comment\"");

        /// The note overrides a comment that does not contradict it.
        OverrideUnused { file: String, key: String }
            = override_unused: ("{file}: `{key}` overrides a comment, but no comment contradicts it"),
            help("remove `overrides`");

        /// The note has no evidence.
        NoEvidence { file: String, key: String } = no_evidence: ("{file}: `{key}` has no evidence"),
            help("add `evidence = \"...\"` to the note or to a table around it: the source that shows the fact");
    }
}
