//! One in-memory parse.
//!
//! The parse reads an unsaved wrapper that includes an API's headers, with our own builtin
//! headers and an explicit target, so that it depends on no compiler. Clang goes on after an
//! error and then reports wrong layouts without a word, hence: any error ends it here.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::path::{Path, PathBuf};
use std::ptr;
use std::rc::Rc;

use clang_sys::*;
use miette::{Diagnostic, NamedSource, SourceSpan};
use thiserror::Error;

use super::cursor::{Cursor, DataFolders, File, expansion, text};
use super::library::{Library, LibraryMissing};
use sp_data::embedded::BUILTIN_HEADERS;

/// Where the wrapper and the builtin headers seem to lie; nothing is ever written there.
const WRAPPER: &str = "/sp-gen/wrapper.cc";
const BUILTIN: &str = "/sp-gen/builtin";

/// The target whose layouts a snapshot records.
pub const DEFAULT_TARGET: &str = "x86_64-unknown-linux-gnu";

/// What to parse.
#[derive(Debug, Clone)]
pub struct Source {
    /// The folder that `#include "tensorflow/c/..."` starts from.
    pub include_root: PathBuf,
    /// The headers, relative to it.
    pub headers: Vec<String>,
    /// The target triple.
    pub target: String,
}

impl Source {
    /// Returns true if `header` is one of the headers, not only included by them.
    pub fn has(&self, header: &str) -> bool {
        self.headers.iter().any(|one| one == header)
    }
}

/// A parse could not be made.
#[derive(Debug, Error, Diagnostic)]
pub enum ParseError {
    /// There is no libclang.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Library(#[from] LibraryMissing),
    /// The headers are not valid C++.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Header(#[from] Box<HeaderError>),
    /// libclang gave no translation unit at all.
    #[error("libclang could not parse for target `{target}` (its code {code})")]
    #[diagnostic(
        code(sp_gen::clang::parse),
        help("check the target triple; `x86_64-unknown-linux-gnu` is the default")
    )]
    Failed {
        /// The triple asked for.
        target: String,
        /// `CXErrorCode`.
        code: i32,
    },
}

/// The first error that clang has with a header, with the others beside it.
#[derive(Debug, Error, Diagnostic)]
#[error("{message}\n  at {at}")]
#[diagnostic(
    code(sp_gen::clang::parse),
    help(
        "layouts after an error are wrong, so nothing was read; the include root must hold every header that these include"
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
    /// Parses `source`; `appendix` is put after the includes in the wrapper.
    ///
    /// # Errors
    /// Where libclang is missing, or says `error` about anything.
    pub fn parse(source: &Source, appendix: &str) -> Result<Self, ParseError> {
        let library = Library::load()?;
        // SAFETY: the library is loaded on this thread; both are disposed in `drop`.
        let index = unsafe { clang_createIndex(0, 0) };
        let mut unit = Self {
            raw: ptr::null_mut(),
            index,
            root: source.include_root.clone(),
            wrapper: wrapper(source, appendix),
            names: RefCell::default(),
            texts: RefCell::default(),
            _library: library,
        };
        unit.raw = translate(index, source, &unit.wrapper)?;
        unit.check()?;
        Ok(unit)
    }

    /// The root of the tree.
    pub fn cursor(&self) -> Cursor<'_> {
        // SAFETY: the unit is alive.
        Cursor::new(unsafe { clang_getTranslationUnitCursor(self.raw) }, self)
    }

    /// The header that a file is, relative to the include root; none for the wrapper and the
    /// builtin headers.
    pub fn header(&self, file: File) -> Option<Rc<str>> {
        let name = || {
            let path = file.path(self);
            let inside = Path::new(&path).strip_prefix(&self.root).ok()?;
            Some(inside.to_string_lossy().replace('\\', "/").into())
        };
        let mut names = self.names.borrow_mut();
        names.entry(file).or_insert_with(name).clone()
    }

    /// The text of a header; empty where it cannot be read.
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

    fn check(&self) -> Result<(), Box<HeaderError>> {
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
        // SAFETY: the unit is alive.
        let count = unsafe { clang_getNumDiagnostics(self.raw) };
        (0..count).filter_map(|index| self.error(index)).collect()
    }

    fn error(&self, index: u32) -> Option<HeaderError> {
        // SAFETY: the index is below the count; the diagnostic is disposed before the unit is.
        unsafe {
            let diagnostic = clang_getDiagnostic(self.raw, index);
            let severity = clang_getDiagnosticSeverity(diagnostic);
            let message = text(clang_getDiagnosticSpelling(diagnostic));
            let location = clang_getDiagnosticLocation(diagnostic);
            clang_disposeDiagnostic(diagnostic);
            (severity >= CXDiagnostic_Error).then(|| self.explain(message, location))
        }
    }

    /// Prefers a header's own line to the wrapper's that uses what it defines.
    fn explain(&self, message: String, location: CXSourceLocation) -> HeaderError {
        let place = expansion(location);
        let place = place.and_then(|place| self.defined(&place).or(Some(place)));
        let Some(place) = place else {
            return HeaderError {
                message,
                at: "the command line".into(),
                source_code: NamedSource::new("", String::new()),
                span: None,
                others: Vec::new(),
            };
        };
        let path = place.file.path(self);
        let header = self.header(place.file);
        let name = header.map_or_else(|| path.clone(), |header| header.to_string());
        let code = std::fs::read_to_string(&path).unwrap_or_default();
        HeaderError {
            message,
            at: format!("{name}:{}:{}", place.line, place.column),
            span: word_at(&code, place.offset as usize),
            source_code: NamedSource::new(name, code),
            others: Vec::new(),
        }
    }

    /// Where the macro is defined that the wrapper uses at `place`.
    fn defined(&self, place: &DataFolders) -> Option<DataFolders> {
        let line = self
            .wrapper
            .lines()
            .nth(place.line.checked_sub(1)? as usize)?;
        let words: Vec<&str> = line.split(|one: char| !is_word(one)).collect();
        let is_used = |one: &Cursor| words.contains(&one.name().as_str());
        let macros = self.cursor().children().into_iter();
        macros
            .filter(|one| one.kind() == CXCursor_MacroDefinition && is_used(one))
            .find_map(|one| {
                one.place()
                    .filter(|place| self.header(place.file).is_some())
            })
            .filter(|_| place.file.path(self) == WRAPPER)
    }
}

/// The whole word that starts at `offset`, else its one character.
fn word_at(code: &str, offset: usize) -> Option<SourceSpan> {
    let rest = code.get(offset..)?;
    let length = rest.find(|one| !is_word(one)).unwrap_or(rest.len()).max(1);
    Some((offset, length.min(rest.len())).into())
}

fn is_word(one: char) -> bool {
    one.is_alphanumeric() || one == '_'
}

impl Drop for Unit {
    fn drop(&mut self) {
        // SAFETY: made in `parse`, disposed once, the unit before its index.
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
    source: &Source,
    wrapper: &str,
) -> Result<CXTranslationUnit, ParseError> {
    let arguments: Vec<CString> = arguments(source).iter().map(|one| c_string(one)).collect();
    let arguments: Vec<*const c_char> = arguments.iter().map(|one| one.as_ptr()).collect();
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
    // SAFETY: every pointer outlives the call, and libclang copies what it keeps.
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
            target: source.target.clone(),
            code,
        }),
    }
}

fn arguments(source: &Source) -> Vec<String> {
    let root = source.include_root.to_string_lossy().into_owned();
    [
        "-x",
        "c++",
        "-std=c++17",
        "-nostdinc",
        "-isystem",
        BUILTIN,
        "-I",
        &root,
        // They take a third of the time of PJRT's headers. One that fails moves no field; what it
        // would say of `struct_size`, a lint does.
        "-Dstatic_assert(...)=",
        "-target",
        &source.target,
    ]
    .map(String::from)
    .to_vec()
}

fn wrapper(source: &Source, appendix: &str) -> String {
    let headers = source.headers.iter();
    let includes: String = headers
        .map(|header| format!("#include \"{header}\"\n"))
        .collect();
    includes + appendix
}

fn unsaved(wrapper: &str) -> Vec<(CString, CString)> {
    let builtin = BUILTIN_HEADERS
        .iter()
        .map(|(name, body)| (c_string(&format!("{BUILTIN}/{name}")), c_string(body)));
    // C++ calls `stddef.h` also `cstddef`.
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

/// Cuts at a NUL, which no header of ours has.
fn c_string(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}
