//! Reads tokens from a line of the table.

use std::str::FromStr;

/// The result of parsing a part of a line; an error says what was expected.
pub(crate) type ParseResult<T> = Result<T, String>;

/// The rest of a line.
pub(crate) struct LineCursor<'a> {
    rest: &'a str,
}

impl<'a> LineCursor<'a> {
    /// Returns a cursor at the beginning of `line`.
    pub fn new(line: &'a str) -> Self {
        Self { rest: line }
    }

    /// Returns the text that was not read.
    pub fn rest(&self) -> &'a str {
        self.rest
    }

    /// Returns true if all of the line was read.
    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reads `token` and returns true if it is next, else reads nothing and returns false.
    pub fn take(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Reads `token`.
    pub fn expect(&mut self, token: &str) -> ParseResult<()> {
        match self.take(token) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{token}`"), self.rest)),
        }
    }

    /// Reads a word, which is described as `what` in the error.
    pub fn word(&mut self, what: &str) -> ParseResult<&'a str> {
        let len = self.rest.find(|next| !is_word_char(next));
        let (word, rest) = self.rest.split_at(len.unwrap_or(self.rest.len()));
        if word.is_empty() {
            return Err(self.unexpected(what, self.rest));
        }
        self.rest = rest;
        Ok(word)
    }

    /// Reads a word and parses it.
    pub fn number<T: FromStr>(&mut self, what: &str) -> ParseResult<T> {
        let word = self.word(what)?;
        word.parse().map_err(|_| self.unexpected(what, word))
    }

    /// Reads a string in quotation marks.
    pub fn quoted(&mut self) -> ParseResult<String> {
        self.expect("\"")?;
        let mut text = String::new();
        loop {
            let mut characters = self.rest.chars();
            let character = characters.next();
            self.rest = characters.as_str();
            match character {
                Some('"') => return Ok(text),
                Some('\\') => text.push(self.escaped()?),
                Some(character) => text.push(character),
                None => return Err("a string has no closing quotation mark".into()),
            }
        }
    }

    /// Reads the character after a backslash.
    fn escaped(&mut self) -> ParseResult<char> {
        if self.take("\\") {
            return Ok('\\');
        }
        if self.take("\"") {
            return Ok('"');
        }
        self.expect("u{")?;
        let digits = self.word("the number of a character")?;
        self.expect("}")?;
        let character = u32::from_str_radix(digits, 16)
            .ok()
            .and_then(char::from_u32);
        character.ok_or_else(|| self.unexpected("the number of a character", digits))
    }

    /// Reads a list in brackets.
    pub fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Vec<T>> {
        self.expect("[")?;
        let mut items = Vec::new();
        while !self.take("]") {
            if !items.is_empty() {
                self.expect(", ")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Returns the error for another token than the expected one.
    pub fn unexpected(&self, expected: &str, found: &str) -> String {
        let found: String = found.chars().take(40).collect();
        format!("expected {expected}, found `{}`", found.escape_debug())
    }
}

/// Returns true for the characters of names, numbers and types.
pub(crate) fn is_word_char(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '.' | '-' | '+' | '>' | '/')
}
