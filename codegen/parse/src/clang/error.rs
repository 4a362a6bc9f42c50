//! The errors of a parse.

use miette::{Diagnostic, NamedSource, SourceSpan};
use sp_system::budget::Exceeded;
use sp_system::errors;
use thiserror::Error;

use super::library::LibraryMissing;

errors! {
    /// The headers cannot be parsed.
    #[derive(Debug, Error, Diagnostic)]
    pub enum ParseError in clang {
        /// libclang is not found.
        Library(LibraryMissing) = transparent;

        /// The headers are not valid C++.
        Header(Box<HeaderError>) = transparent;

        /// A header includes a file that is not read.
        Include {
            /// The header with the line of the include, and the name that it includes.
            origin: String,
            reason: String,
        } = include: ("{origin}: {reason}"),
            help("nothing was read; headers include regular files, those of TensorFlow only below the include root");

        /// libclang needs more time or memory than any real header.
        Exceeded {
            /// The header, or the number of headers.
            headers: String,
            limit: Exceeded,
        } = limit: ("libclang cannot read {headers}: {limit}"),
            help("nothing was written; look for an include of a pipe or a device, and for macros or structs that \
                  contain themselves many times");

        /// libclang returned no translation unit.
        Failed { target: String, code: i32 }
            = parse: ("libclang cannot parse for target `{target}` (error code {code})"),
            help("check the target triple; `x86_64-unknown-linux-gnu` is the default");
    }
}

/// The first error in a header, with the next ones.
#[derive(Debug, Error, Diagnostic)]
#[error("{message}\n  at {at}")]
#[diagnostic(
    code(sp_gen::clang::parse),
    help(
        "layouts after an error are wrong, so nothing was read; the include root must contain every header that these include"
    )
)]
pub struct HeaderError {
    pub(super) message: String,
    pub(super) at: String,
    #[source_code]
    pub(super) source_code: NamedSource<String>,
    #[label("here")]
    pub(super) span: Option<SourceSpan>,
    #[related]
    pub(super) others: Vec<HeaderError>,
}

/// One error in a header.
pub struct ErrorInHeader {
    /// Clang's message.
    pub message: String,
    /// `HEADER:LINE:COLUMN`
    pub at: String,
    /// The header.
    pub source_code: NamedSource<String>,
    /// The word that the error is about.
    pub span: Option<SourceSpan>,
}

impl HeaderError {
    /// Returns clang's messages.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        let others = self.others.iter().map(|other| other.message.as_str());
        std::iter::once(self.message.as_str()).chain(others)
    }

    /// Returns the first error without the others.
    pub fn into_first(self) -> ErrorInHeader {
        ErrorInHeader {
            message: self.message,
            at: self.at,
            source_code: self.source_code,
            span: self.span,
        }
    }
}
