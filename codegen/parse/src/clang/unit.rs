//! A parse of headers, and the headers' texts.
//!
//! After an error clang continues and returns wrong layouts, so any error fails the parse.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use clang_sys::CXCursor_MacroDefinition;
use miette::{NamedSource, SourceSpan};

use super::cursor::{Cursor, File, Position};
use super::diagnostic::{ClangDiagnostic, errors};
use super::error::{HeaderError, ParseError};
use super::input::{Dialect, ParseInput};
use super::limits::read_header;
use super::translation_unit::{TranslationUnit, WRAPPER, is_virtual};
use crate::identifier::{is_identifier_char, split_identifier};

/// An error in the code that is appended to the headers.
#[derive(Debug)]
pub struct AppendixError {
    /// The line in that code, which counts from 0.
    pub line: usize,
    /// Clang's message.
    pub message: String,
}

/// A parse without errors in the headers.
pub struct Unit {
    translation: TranslationUnit,
    root: PathBuf,
    dialect: Dialect,
    wrapper: String,
    last_header: String,
    names: RefCell<HashMap<File, Option<Rc<str>>>>,
    texts: RefCell<HashMap<Rc<str>, Rc<str>>>,
}

impl Unit {
    /// Parses the headers of `input`. The wrapper contains `appendix` after its includes.
    ///
    /// # Errors
    /// Returns an error if libclang is missing or reports an error.
    pub fn parse(input: &ParseInput, appendix: &str) -> Result<Self, ParseError> {
        let unit = Self::new(input, appendix)?;
        unit.reject_errors()?;
        Ok(unit)
    }

    /// Parses as [`parse`](Self::parse) does, if the headers alone have no errors: those of the appendix are returned, each with its
    /// line there, which counts from 0.
    ///
    /// # Errors
    /// Returns an error if libclang is missing.
    pub fn parse_with_errors(
        input: &ParseInput,
        appendix: &str,
    ) -> Result<(Self, Vec<AppendixError>), ParseError> {
        let unit = Self::new(input, appendix)?;
        let first = input.headers.len() + 1;
        let errors = errors(&unit.translation).into_iter();
        let errors = errors.filter_map(|error| {
            let position = error
                .position
                .filter(|position| unit.is_in_wrapper(position))?;
            Some(AppendixError {
                line: (position.line as usize).checked_sub(first)?,
                message: error.message,
            })
        });
        let errors = errors.collect();
        Ok((unit, errors))
    }

    fn new(input: &ParseInput, appendix: &str) -> Result<Self, ParseError> {
        let wrapper = wrapper(input, appendix);
        let translation = TranslationUnit::parse(input, &wrapper)?;
        check_included_files(&translation, input)?;
        Ok(Self {
            translation,
            root: input.include_root.clone(),
            dialect: input.dialect.clone(),
            wrapper,
            last_header: input.headers.last().cloned().unwrap_or_default(),
            names: RefCell::default(),
            texts: RefCell::default(),
        })
    }

    /// Returns true for the headers of a driver.
    pub fn is_driver(&self) -> bool {
        self.dialect != Dialect::TensorFlow
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
        let errors = errors(&self.translation);
        let mut errors = errors.into_iter().map(|error| self.header_error(error));
        match errors.next() {
            None => Ok(()),
            Some(mut first) => {
                first.others = errors.take(4).collect();
                Err(Box::new(first))
            }
        }
    }

    /// Returns the error in a header. If clang has it in a line of the wrapper that uses a macro of a header, it is at the
    /// macro's definition; if a header ends within a declaration, at the token that needs another one, or at the header's end.
    fn header_error(&self, error: ClangDiagnostic) -> HeaderError {
        let ClangDiagnostic {
            message,
            position,
            notes,
        } = error;
        let is_in_file = position.is_some();
        let position = position.map(|position| self.macro_used_at(position).unwrap_or(position));
        let in_header = |position: &Position| self.header(position.file).is_some();
        let noted = || notes.into_iter().find(in_header);
        let position = match position.filter(|position| self.is_in_wrapper(position)) {
            Some(_) => noted(),
            None => position,
        };
        let Some(position) = position else {
            return match is_in_file {
                true => self.error_at_end(message),
                false => error_of_command_line(message),
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

    /// Returns an error at the end of the last header, whose declarations the wrapper continues.
    fn error_at_end(&self, message: String) -> HeaderError {
        let name = self.last_header.clone();
        let code = read_header(&self.path(&name)).unwrap_or_default();
        let line = code.lines().count().max(1);
        let column = code.lines().last().map_or(0, str::len) + 1;
        HeaderError {
            message,
            at: format!("{name}:{line}:{column}"),
            span: word_at(&code, code.trim_end().len().saturating_sub(1)),
            source_code: NamedSource::new(name, code),
            others: Vec::new(),
        }
    }

    fn is_in_wrapper(&self, position: &Position) -> bool {
        position.file.path(&self.translation) == WRAPPER
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
            .filter(|_| self.is_in_wrapper(&used))
    }
}

fn error_of_command_line(message: String) -> HeaderError {
    HeaderError {
        message,
        at: "the command line".into(),
        source_code: NamedSource::new("", String::new()),
        span: None,
        others: Vec::new(),
    }
}

/// Checks that all files that TensorFlow's headers have included are below the include root: the name may be a macro.
fn check_included_files(unit: &TranslationUnit, input: &ParseInput) -> Result<(), ParseError> {
    if input.dialect != Dialect::TensorFlow {
        return Ok(());
    }
    let root = input.include_root.to_string_lossy();
    let is_outside =
        |path: &String| !is_virtual(path) && !is_below(Path::new(path), Path::new(&*root));
    match unit.included_files().into_iter().find(is_outside) {
        None => Ok(()),
        Some(path) => Err(ParseError::Include {
            origin: format!("a header includes {path}"),
            reason: "it is outside of the include root".to_owned(),
        }),
    }
}

/// Returns true if `path` begins with `root` and does not lead out of it by `..`.
fn is_below(path: &Path, root: &Path) -> bool {
    let mut depth = 0_usize;
    let mut stays_below = |part: Component| {
        let next = match part {
            Component::ParentDir => depth.checked_sub(1),
            Component::Normal(_) => Some(depth + 1),
            _ => Some(depth),
        };
        depth = next.unwrap_or(0);
        next.is_some()
    };
    let inside = path.strip_prefix(root);
    inside.is_ok_and(|inside| inside.components().all(&mut stays_below))
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
