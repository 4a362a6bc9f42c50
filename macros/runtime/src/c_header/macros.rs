//! Object-like macros of a header.

use std::collections::BTreeMap;

use super::lexer::words;
use super::{HeaderError, scalar};

/// The macros by name, each with the words of its body; empty if its value is not known.
#[derive(Default)]
pub struct Macros<'a>(BTreeMap<&'a str, Vec<&'a str>>);

impl<'a> Macros<'a> {
    /// Adds the macro of a `#define` directive, given without that word.
    ///
    /// # Errors
    /// Returns an error if the macro replaces a keyword or a standard type.
    pub fn define(&mut self, text: &'a str, is_conditional: bool) -> Result<(), HeaderError> {
        let Some(name) = words(text).next() else {
            return Ok(());
        };
        if is_reserved(name) {
            return Err(HeaderError::Unsupported(
                "a macro replaces a word of the language",
            ));
        }
        let body = match is_conditional {
            true => Vec::new(),
            false => body(text, name),
        };
        let is_same = self.0.get(name).is_none_or(|old| *old == body);
        self.0.insert(name, if is_same { body } else { Vec::new() });
        Ok(())
    }

    /// Makes the value of a macro unknown, since it differs within the header.
    pub fn undefine(&mut self, text: &'a str) {
        if let Some(name) = words(text).next() {
            self.0.insert(name, Vec::new());
        }
    }

    /// Returns true if `name` is defined anywhere.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns the words of the body of the macro `name`: an empty list if they are not known, `None` if it
    /// is not a macro.
    pub fn expansion(&self, name: &str) -> Option<Vec<&'a str>> {
        self.0.get(name).cloned()
    }
}

/// Limit for the words of a body that is known: each use of the macro copies them, and an integer type has five at most.
const MAX_BODY_WORDS: usize = 8;

/// Returns the words of a macro's body, or an empty list if it is long or contains other characters.
fn body<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let start = text.find(name).unwrap_or_default() + name.len();
    let body = text.get(start..).unwrap_or_default();
    let code = body.split("//").next().unwrap_or_default();
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == ' ';
    let is_short = words(code).nth(MAX_BODY_WORDS).is_none();
    match is_short && code.trim_end().chars().all(is_plain) {
        true => words(code).collect(),
        false => Vec::new(),
    }
}

fn is_reserved(name: &str) -> bool {
    const KEYWORDS: [&str; 12] = [
        "char", "const", "enum", "extern", "int", "long", "short", "signed", "struct", "typedef",
        "union", "unsigned",
    ];
    KEYWORDS.contains(&name) || name == "void" || scalar(name).is_some()
}
