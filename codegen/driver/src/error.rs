//! The errors of this crate.

use std::io;
use std::path::PathBuf;

use miette::{Diagnostic, NamedSource, SourceSpan};
use sp_parse::clang::ClangError;
use thiserror::Error;

/// A header cannot be bound.
#[derive(Debug, Error, Diagnostic)]
pub enum DriverError {
    /// There is no such file.
    #[error("no header {}", .0.display())]
    #[diagnostic(
        code(sp_gen::driver::header_missing),
        help("`--driver` takes the path of the C header that the driver's vendor ships")
    )]
    Missing(PathBuf),
    /// A path is not valid.
    #[error("cannot read {}: {source}", path.display())]
    #[diagnostic(
        code(sp_gen::driver::unreadable),
        help("`--driver` takes the path of a C header, `--driver-contract` that of a TOML file")
    )]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The header does not parse as C.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Invalid(#[from] Box<InvalidHeader>),
    /// libclang is missing or cannot parse.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Clang(#[from] ClangError),
    /// No function can be bound.
    #[error("header {name} declares no function that can be bound{}", reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}")))]
    #[diagnostic(
        code(sp_gen::driver::no_functions),
        help("name the header that declares the driver's functions")
    )]
    NoFunctions {
        /// The header.
        name: String,
        /// The reason for the first function that is left out.
        reason: Option<String>,
    },
    /// The type of `--driver-status` is not the return type of any function, or has no such value.
    #[error("{what} in {name}")]
    #[diagnostic(code(sp_gen::driver::status_unknown), help("{help}"))]
    Status {
        /// The header.
        name: String,
        /// The reason.
        what: String,
        /// The possible types or values.
        help: String,
    },
    /// The contract is not valid, or does not fit the header.
    #[error("{name}: {what}")]
    #[diagnostic(code(sp_gen::driver::contract_invalid), help("{help}"))]
    Contract {
        /// The file, with the line if it is known.
        name: String,
        /// The reason.
        what: String,
        /// The syntax, or a suggestion.
        help: String,
    },
    /// rustc rejects the bindings.
    #[error("rustc rejects the bindings of {name}: {message}\n  in {line}")]
    #[diagnostic(
        code(sp_gen::driver::rejected),
        help(
            "nothing was written; this is a defect of sp-gen: report it with the header's declaration, and bind a copy of the header without it"
        )
    )]
    Rejected {
        /// The header.
        name: String,
        /// rustc's first message.
        message: String,
        /// The line of the bindings that it is about.
        line: String,
    },
    /// The bindings cannot be compiled.
    #[error("cannot compile the bindings: {source}")]
    #[diagnostic(
        code(sp_gen::driver::temporary),
        help(
            "rustc compiles the bindings in a temporary folder; the variable `TMPDIR` names another one"
        )
    )]
    Temporary {
        /// The system's error.
        source: io::Error,
    },
    /// The template cannot be rendered.
    #[error("cannot render the bindings: {0}")]
    #[diagnostic(code(sp_gen::driver::template_failed))]
    Template(#[from] askama::Error),
}

/// The first error in a header that does not parse as C.
#[derive(Debug, Error, Diagnostic)]
#[error("header {name} is not valid C: {message}\n  at {at}")]
#[diagnostic(code(sp_gen::driver::header_invalid), help("{}", help(*is_cpp)))]
pub struct InvalidHeader {
    /// The header.
    pub name: String,
    /// True if it is C++.
    pub is_cpp: bool,
    /// Clang's message.
    pub message: String,
    /// The position of the error.
    pub at: String,
    /// The header with the error.
    #[source_code]
    pub source_code: NamedSource<String>,
    /// The token with the error.
    #[label("here")]
    pub span: Option<SourceSpan>,
}

fn help(is_cpp: bool) -> &'static str {
    match is_cpp {
        true => {
            "this is C++, and only C functions can be looked up at run time: use the driver's C header, or write one for the functions that the plugin needs"
        }
        false => {
            "a header that is not found needs its folder, `--include DIR`; a macro that a header demands is defined by `--define NAME`"
        }
    }
}
