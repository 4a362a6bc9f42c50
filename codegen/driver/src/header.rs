//! Reads a driver's header.

use std::path::{Path, PathBuf};

use sp_parse::clang::driver::{DriverDeclarations, declarations};
use sp_parse::clang::{ClangError, Dialect, HeaderError, Language, ParseError, ParseInput};

use crate::error::{DriverError, InvalidHeader};

/// A driver's header.
#[derive(Debug, Clone)]
pub struct DriverHeader {
    /// Its path.
    pub path: PathBuf,
    /// Folders of the headers that it includes, beside its own.
    pub folders: Vec<PathBuf>,
    /// Macros that are defined for it, as `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
}

impl DriverHeader {
    /// Returns the file's name.
    pub fn file_name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

/// Returns the target whose layouts are bound: this machine's architecture.
pub fn target() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

/// Reads the declarations of the header and of what it includes.
pub(crate) fn read(header: &DriverHeader) -> Result<DriverDeclarations, DriverError> {
    if !header.path.is_file() {
        return Err(DriverError::Missing(header.path.clone()));
    }
    let input = input(header, Language::C)?;
    match declarations(&input) {
        Ok(read) => Ok(read),
        Err(ClangError::Parse(ParseError::Header(error))) => Err(header_error(header, *error)),
        Err(error) => Err(error.into()),
    }
}

fn input(header: &DriverHeader, language: Language) -> Result<ParseInput, DriverError> {
    let absolute = |path: &Path| {
        std::path::absolute(path).map_err(|source| DriverError::Unreadable {
            path: path.to_owned(),
            source,
        })
    };
    let path = absolute(&header.path)?;
    let folders = header.folders.iter().map(|folder| absolute(folder));
    Ok(ParseInput {
        include_root: path.parent().unwrap_or(Path::new("/")).to_owned(),
        headers: vec![header.file_name()],
        target: target(),
        dialect: Dialect::Driver {
            language,
            folders: folders.collect::<Result<_, _>>()?,
            defines: header.defines.clone(),
        },
    })
}

/// Returns the error for a header that is not C: it may be valid C++.
fn header_error(header: &DriverHeader, error: HeaderError) -> DriverError {
    let cpp = input(header, Language::Cpp).ok();
    let is_cpp =
        error.messages().any(is_about_cpp) || cpp.is_some_and(|input| declarations(&input).is_ok());
    let first = error.into_first();
    let invalid = InvalidHeader {
        name: header.file_name(),
        is_cpp,
        message: first.message,
        at: first.at,
        source_code: first.source_code,
        span: first.span,
    };
    Box::new(invalid).into()
}

/// Returns true for an error that only a C++ header gives: one names the language, or a header of its library.
fn is_about_cpp(message: &str) -> bool {
    let missing = message.strip_suffix(" file not found");
    let is_cpp_header = missing.is_some_and(|name| !name.contains(['.', '/']));
    is_cpp_header || message.to_lowercase().contains("c++")
}
