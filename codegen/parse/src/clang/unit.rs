//! A parse by libclang.
//!
//! The main file is a wrapper in memory that includes the headers. The builtin headers are ours and the target is
//! explicit, so that the result does not depend on an installed compiler. After an error clang continues and returns
//! wrong layouts, so any error fails the parse.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::path::{Path, PathBuf};
use std::ptr;
use std::rc::Rc;

use clang_sys::*;
use miette::{Diagnostic, NamedSource, SourceSpan};
use thiserror::Error;

use super::cursor::{Cursor, File, Position, expansion, text};
use super::library::{Library, LibraryMissing};
use crate::identifier::{is_identifier_char, split_identifier};
use sp_data::embedded::BUILTIN_HEADERS;

/// Virtual path of the wrapper. No file is written there.
const WRAPPER: &str = "/sp-gen/wrapper.cc";
/// Virtual folder of the builtin headers.
const BUILTIN: &str = "/sp-gen/builtin";

/// The target whose layouts a snapshot records.
pub const DEFAULT_TARGET: &str = "x86_64-unknown-linux-gnu";

/// The input of a parse.
#[derive(Debug, Clone)]
pub struct ParseInput {
    /// The folder that `#include "tensorflow/c/..."` starts from.
    pub include_root: PathBuf,
    /// The headers, relative to it.
    pub headers: Vec<String>,
    /// The target triple.
    pub target: String,
}

impl ParseInput {
    /// Returns true if `header` is one of the input's own headers, not only included by them.
    pub fn has(&self, header: &str) -> bool {
        self.headers.iter().any(|own| own == header)
    }
}

/// The headers cannot be parsed.
#[derive(Debug, Error, Diagnostic)]
pub enum ParseError {
    /// libclang is not found.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Library(#[from] LibraryMissing),
    /// The headers are not valid C++.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Header(#[from] Box<HeaderError>),
    /// libclang returned no translation unit.
    #[error("libclang cannot parse for target `{target}` (error code {code})")]
    #[diagnostic(
        code(sp_gen::clang::parse),
        help("check the target triple; `x86_64-unknown-linux-gnu` is the default")
    )]
    Failed {
        /// The requested target triple.
        target: String,
        /// `CXErrorCode`.
        code: i32,
    },
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
    message: String,
    at: String,
    #[source_code]
    source_code: NamedSource<String>,
    #[label("here")]
    span: Option<SourceSpan>,
    #[related]
    others: Vec<HeaderError>,
}

/// A parsed translation unit.
pub struct Unit {
    raw: CXTranslationUnit,
    index: CXIndex,
    root: PathBuf,
    wrapper: String,
    names: RefCell<HashMap<File, Option<Rc<str>>>>,
    texts: RefCell<HashMap<Rc<str>, Rc<str>>>,
    _library: Library,
}

impl Unit {
    /// Parses the headers of `input`. The wrapper contains `appendix` after its includes.
    ///
    /// # Errors
    /// Returns an error if libclang is missing or reports an error.
    pub fn parse(input: &ParseInput, appendix: &str) -> Result<Self, ParseError> {
        let library = Library::load()?;
        // SAFETY: the library is loaded on this thread. `drop` disposes the index once.
        let index = unsafe { clang_createIndex(0, 0) };
        let mut unit = Self {
            raw: ptr::null_mut(),
            index,
            root: input.include_root.clone(),
            wrapper: wrapper(input, appendix),
            names: RefCell::default(),
            texts: RefCell::default(),
            _library: library,
        };
        unit.raw = translate(index, input, &unit.wrapper)?;
        unit.reject_errors()?;
        Ok(unit)
    }

    /// Returns the root of the syntax tree.
    pub fn cursor(&self) -> Cursor<'_> {
        // SAFETY: `self.raw` is a parsed unit, disposed only in `drop`.
        Cursor::new(unsafe { clang_getTranslationUnitCursor(self.raw) }, self)
    }

    /// Returns the path of a file below the include root, or `None` for the wrapper and the builtin headers.
    pub fn header(&self, file: File) -> Option<Rc<str>> {
        let name = || {
            let path = file.path(self);
            let inside = Path::new(&path).strip_prefix(&self.root).ok()?;
            Some(inside.to_string_lossy().replace('\\', "/").into())
        };
        let mut names = self.names.borrow_mut();
        names.entry(file).or_insert_with(name).clone()
    }

    /// Returns the text of a header, which is empty if it cannot be read.
    pub fn text(&self, header: &str) -> Rc<str> {
        if let Some(text) = self.texts.borrow().get(header) {
            return text.clone();
        }
        let bytes = std::fs::read(self.root.join(header)).unwrap_or_default();
        let text: Rc<str> = String::from_utf8_lossy(&bytes).into();
        let mut texts = self.texts.borrow_mut();
        texts.insert(header.into(), text.clone());
        text
    }

    fn reject_errors(&self) -> Result<(), Box<HeaderError>> {
        let mut errors = self.errors().into_iter();
        match errors.next() {
            None => Ok(()),
            Some(mut first) => {
                first.others = errors.take(4).collect();
                Err(Box::new(first))
            }
        }
    }

    fn errors(&self) -> Vec<HeaderError> {
        // SAFETY: `self.raw` is a parsed unit, disposed only in `drop`.
        let count = unsafe { clang_getNumDiagnostics(self.raw) };
        (0..count).filter_map(|index| self.error(index)).collect()
    }

    fn error(&self, index: u32) -> Option<HeaderError> {
        // SAFETY: the index is less than the count. The diagnostic is disposed once, before its unit.
        unsafe {
            let diagnostic = clang_getDiagnostic(self.raw, index);
            let severity = clang_getDiagnosticSeverity(diagnostic);
            let message = text(clang_getDiagnosticSpelling(diagnostic));
            let location = clang_getDiagnosticLocation(diagnostic);
            clang_disposeDiagnostic(diagnostic);
            (severity >= CXDiagnostic_Error).then(|| self.header_error(message, location))
        }
    }

    /// Returns the error at `location`. If that is a line of the wrapper that uses a macro of a header, the error is at
    /// the macro's definition.
    fn header_error(&self, message: String, location: CXSourceLocation) -> HeaderError {
        let position = expansion(location);
        let position = position.map(|position| self.macro_used_at(position).unwrap_or(position));
        let Some(position) = position else {
            return HeaderError {
                message,
                at: "the command line".into(),
                source_code: NamedSource::new("", String::new()),
                span: None,
                others: Vec::new(),
            };
        };
        let path = position.file.path(self);
        let header = self.header(position.file);
        let name = header.map_or_else(|| path.clone(), |header| header.to_string());
        let code = std::fs::read_to_string(&path).unwrap_or_default();
        HeaderError {
            message,
            at: format!("{name}:{}:{}", position.line, position.column),
            span: word_at(&code, position.offset as usize),
            source_code: NamedSource::new(name, code),
            others: Vec::new(),
        }
    }

    /// Returns the position of the header's macro that the wrapper uses on the line of `used`.
    fn macro_used_at(&self, used: Position) -> Option<Position> {
        let index = used.line.checked_sub(1)? as usize;
        let line = self.wrapper.lines().nth(index)?;
        let words: Vec<&str> = line.split(|it| !is_identifier_char(it)).collect();
        let is_used = |cursor: &Cursor| words.contains(&cursor.name().as_str());
        let in_header = |position: &Position| self.header(position.file).is_some();
        let cursors = self.cursor().children().into_iter();
        cursors
            .filter(|cursor| cursor.kind() == CXCursor_MacroDefinition && is_used(cursor))
            .find_map(|cursor| cursor.position().filter(in_header))
            .filter(|_| used.file.path(self) == WRAPPER)
    }
}

/// Returns the span of the identifier at `offset`, or of the one character there.
fn word_at(code: &str, offset: usize) -> Option<SourceSpan> {
    let rest = code.get(offset..)?;
    let (word, _) = split_identifier(rest);
    Some((offset, word.len().max(1).min(rest.len())).into())
}

impl Drop for Unit {
    fn drop(&mut self) {
        // SAFETY: `parse` created both and nothing else disposes them. The unit is disposed before its index.
        unsafe {
            if !self.raw.is_null() {
                clang_disposeTranslationUnit(self.raw);
            }
            clang_disposeIndex(self.index);
        }
    }
}

fn translate(
    index: CXIndex,
    input: &ParseInput,
    wrapper: &str,
) -> Result<CXTranslationUnit, ParseError> {
    let arguments: Vec<CString> = arguments(input).iter().map(|text| c_string(text)).collect();
    let arguments: Vec<*const c_char> = arguments.iter().map(|text| text.as_ptr()).collect();
    let files = unsaved(wrapper);
    let mut unsaved: Vec<CXUnsavedFile> = files
        .iter()
        .map(|(name, body)| CXUnsavedFile {
            Filename: name.as_ptr(),
            Contents: body.as_ptr(),
            Length: body.as_bytes().len() as _,
        })
        .collect();
    let name = c_string(WRAPPER);
    let mut raw = ptr::null_mut();
    // SAFETY: every pointer is that of a local value that outlives the call. libclang copies the strings it needs later.
    let code = unsafe {
        clang_parseTranslationUnit2(
            index,
            name.as_ptr(),
            arguments.as_ptr(),
            arguments.len() as _,
            unsaved.as_mut_ptr(),
            unsaved.len() as _,
            CXTranslationUnit_DetailedPreprocessingRecord | CXTranslationUnit_SkipFunctionBodies,
            &mut raw,
        )
    };
    match code {
        CXError_Success if !raw.is_null() => Ok(raw),
        code => Err(ParseError::Failed {
            target: input.target.clone(),
            code,
        }),
    }
}

fn arguments(input: &ParseInput) -> Vec<String> {
    let root = input.include_root.to_string_lossy().into_owned();
    [
        "-x",
        "c++",
        "-std=c++17",
        "-nostdinc",
        "-isystem",
        BUILTIN,
        "-I",
        &root,
        // Static assertions take a third of the time for PJRT's headers. A failed one changes no layout, and a lint
        // reports a wrong `struct_size`.
        "-Dstatic_assert(...)=",
        "-target",
        &input.target,
    ]
    .map(String::from)
    .to_vec()
}

fn wrapper(input: &ParseInput, appendix: &str) -> String {
    let headers = input.headers.iter();
    let includes: String = headers
        .map(|header| format!("#include \"{header}\"\n"))
        .collect();
    includes + appendix
}

fn unsaved(wrapper: &str) -> Vec<(CString, CString)> {
    let builtin = BUILTIN_HEADERS
        .iter()
        .map(|(name, body)| (c_string(&format!("{BUILTIN}/{name}")), c_string(body)));
    // C++ has `cstddef` for `stddef.h`.
    let cpp = BUILTIN_HEADERS.iter().filter_map(|(name, _)| {
        let stem = name.strip_suffix(".h")?;
        let body = c_string(&format!("#include <{name}>\n"));
        Some((c_string(&format!("{BUILTIN}/c{stem}")), body))
    });
    std::iter::once((c_string(WRAPPER), c_string(wrapper)))
        .chain(builtin)
        .chain(cpp)
        .collect()
}

/// Returns `text` as a C string, cut at the first NUL. Our own texts contain none.
fn c_string(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}
