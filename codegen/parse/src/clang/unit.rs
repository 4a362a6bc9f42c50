//! A parse of headers, and the headers' texts.
//!
//! After an error clang continues and returns wrong layouts, so any error fails the parse.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clang_sys::*;
use miette::{NamedSource, SourceSpan};

use super::cursor::{Cursor, File, Position, expansion};
use super::error::{HeaderError, ParseError};
use super::input::{Dialect, ParseInput};
use super::limits::read_header;
use super::string::text;
use super::translation_unit::{TranslationUnit, WRAPPER, is_virtual};
use crate::identifier::{is_identifier_char, split_identifier};

/// A parse without errors.
pub struct Unit {
    translation: TranslationUnit,
    root: PathBuf,
    dialect: Dialect,
    wrapper: String,
    names: RefCell<HashMap<File, Option<Rc<str>>>>,
    texts: RefCell<HashMap<Rc<str>, Rc<str>>>,
}

impl Unit {
    /// Parses the headers of `input`. The wrapper contains `appendix` after its includes.
    ///
    /// # Errors
    /// Returns an error if libclang is missing or reports an error.
    pub fn parse(input: &ParseInput, appendix: &str) -> Result<Self, ParseError> {
        let wrapper = wrapper(input, appendix);
        let unit = Self {
            translation: TranslationUnit::parse(input, &wrapper)?,
            root: input.include_root.clone(),
            dialect: input.dialect.clone(),
            wrapper,
            names: RefCell::default(),
            texts: RefCell::default(),
        };
        unit.reject_errors()?;
        Ok(unit)
    }

    /// Returns the root of the syntax tree.
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor::root(&self.translation)
    }

    /// Returns the path of a file below the include root, or `None` for the wrapper and the builtin headers. With a
    /// driver's dialect a file outside of the include root has its whole path.
    pub fn header(&self, file: File) -> Option<Rc<str>> {
        let name = || {
            let path = file.path(&self.translation);
            if is_virtual(&path) {
                return None;
            }
            match (Path::new(&path).strip_prefix(&self.root), &self.dialect) {
                (Ok(inside), _) => Some(inside.to_string_lossy().replace('\\', "/").into()),
                (Err(_), Dialect::TensorFlow) => None,
                (Err(_), Dialect::Driver { .. }) => Some(path.into()),
            }
        };
        let mut names = self.names.borrow_mut();
        names.entry(file).or_insert_with(name).clone()
    }

    /// Returns the path of a header in the file system.
    pub fn path(&self, header: &str) -> PathBuf {
        self.root.join(header)
    }

    /// Returns the name of the header that an include directive includes, or `None` as [`header`](Self::header) does.
    pub fn included_header(&self, directive: Cursor) -> Option<Rc<str>> {
        self.header(directive.included_file()?)
    }

    /// Returns the text of a header, which is empty if it cannot be read.
    pub fn text(&self, header: &str) -> Rc<str> {
        if let Some(text) = self.texts.borrow().get(header) {
            return text.clone();
        }
        let text: Rc<str> = read_header(&self.path(header)).unwrap_or_default().into();
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
        // SAFETY: the unit is parsed and not yet disposed.
        let count = unsafe { clang_getNumDiagnostics(self.translation.as_raw()) };
        (0..count).filter_map(|index| self.error(index)).collect()
    }

    fn error(&self, index: u32) -> Option<HeaderError> {
        // SAFETY: the index is less than the count. The diagnostic is disposed once, before its unit.
        unsafe {
            let diagnostic = clang_getDiagnostic(self.translation.as_raw(), index);
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
        let path = position.file.path(&self.translation);
        let header = self.header(position.file);
        let name = header.map_or_else(|| path.clone(), |header| header.to_string());
        let code = read_header(Path::new(&path)).unwrap_or_default();
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
            .filter(|_| used.file.path(&self.translation) == WRAPPER)
    }
}

fn wrapper(input: &ParseInput, appendix: &str) -> String {
    let headers = input.headers.iter();
    let includes: String = headers
        .map(|header| format!("#include \"{header}\"\n"))
        .collect();
    includes + appendix
}

/// Returns the span of the identifier at `offset`, or of the one character there.
fn word_at(code: &str, offset: usize) -> Option<SourceSpan> {
    let rest = code.get(offset..)?;
    let (word, _) = split_identifier(rest);
    Some((offset, word.len().max(1).min(rest.len())).into())
}
