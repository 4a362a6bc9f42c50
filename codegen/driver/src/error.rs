//! The errors of this crate.

use sp_system::errors;
use std::io;
use std::path::PathBuf;

use miette::{Diagnostic, NamedSource, SourceSpan};
use sp_parse::clang::ClangError;
use thiserror::Error;

errors! {
    /// A header cannot be bound.
    #[derive(Debug, Error, Diagnostic)]
    pub enum DriverError in driver {
        /// There is no such file.
        Missing(PathBuf) = header_missing: ("no header {}", .0.display()),
            help("`--driver` takes the path of the C header that the driver's vendor ships");

        /// A path is not valid.
        Unreadable { path: PathBuf, source: io::Error }
            = unreadable: ("cannot read {}: {source}", path.display()),
            help("`--driver` takes the path of a C header, `--driver-contract` that of a TOML file");

        /// The header does not parse as C.
        Invalid(Box<InvalidHeader>) = transparent;

        /// libclang is missing or cannot parse.
        Clang(ClangError) = transparent;

        /// No function can be bound.
        NoFunctions {
            name: String,
            /// The reason for the first function that is left out.
            reason: Option<String>,
        }
            = no_functions: ("header {name} declares no function that can be bound{}",
                reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"))),
            help("name the header that declares the driver's functions");

        /// The type of `--driver-status` is not the return type of any function, or has no such value.
        Status {
            name: String,
            what: String,
            /// The possible types or values.
            help: String,
        } = status_unknown: ("{what} in {name}"),
            help("{help}");

        /// The contract is not valid, or does not fit the header.
        Contract {
            /// The file, with the line if it is known.
            name: String,
            what: String,
            /// The syntax, or a suggestion.
            help: String,
        } = contract_invalid: ("{name}: {what}"),
            help("{help}");

        /// rustc rejects the bindings.
        Rejected {
            name: String,
            message: String,
            /// The line of the bindings that it is about.
            line: String,
        } = rejected: ("rustc rejects the bindings of {name}: {message}\n  in {line}"),
            help("nothing was written; this is a defect of sp-gen: report it with the header's declaration, and \
                  bind a copy of the header without it");

        /// The bindings cannot be compiled.
        Temporary { source: io::Error } = temporary: ("cannot compile the bindings: {source}"),
            help("rustc compiles the bindings in a temporary folder; the variable `TMPDIR` names another one");

        /// The template cannot be rendered.
        Template(#[from] askama::Error) = template_failed: ("cannot render the bindings: {0}");
    }
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
