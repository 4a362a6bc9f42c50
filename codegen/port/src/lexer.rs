//! Splits a C++ source into tokens.
//!
//! Nothing here fails: an unterminated comment or raw string ends with the file, an unterminated string with its line.
//! [`Tokens::unterminated`] has the lines of these.
//!
//! The scanner of C headers in sp-runtime has a lexer of its own: that crate is part of every plugin and depends on no
//! crate for this, it rejects what is unterminated, and it needs neither literals and lines nor the raw strings of C++.

use crate::token::{Kind, Token};
use sp_system::budget::{Budget, Exceeded};
use std::borrow::Cow;

/// The tokens of a source.
pub struct Tokens {
    /// The tokens.
    pub tokens: Vec<Token>,
    /// The lines of comments and strings without an end.
    pub unterminated: Vec<u32>,
}

/// Splits `text` into tokens; comments and white space separate them.
///
/// # Errors
/// Returns an error if the tokens take more than the budget.
pub fn tokenize(text: &str, budget: &mut Budget) -> Result<Tokens, Exceeded> {
    let mut lexer = Lexer {
        text,
        position: 0,
        line: 1,
        last_line: 0,
        unterminated: Vec::new(),
    };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next_token() {
        budget.step(1)?;
        budget.allocate(token.bytes())?;
        tokens.push(token);
    }
    Ok(Tokens {
        tokens,
        unterminated: lexer.unterminated,
    })
}

struct Lexer<'a> {
    text: &'a str,
    position: usize,
    line: u32,
    /// The line in which the last token ends.
    last_line: u32,
    unterminated: Vec<u32>,
}

/// The prefixes of strings. One that ends with `R` begins a raw string.
const PREFIXES: [&str; 9] = ["R", "L", "u", "U", "u8", "LR", "uR", "UR", "u8R"];

/// The most characters of a raw string's delimiter, as in C++.
const MAX_DELIMITER: usize = 16;

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$')
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or_default()
    }

    /// Consumes `len` bytes, and counts their lines.
    fn take(&mut self, len: usize) -> &'a str {
        let rest = self.rest();
        let taken = rest.get(..len).unwrap_or(rest);
        let lines = taken.bytes().filter(|byte| *byte == b'\n').count();
        self.line = self
            .line
            .saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        self.position += taken.len();
        taken
    }

    /// Consumes the characters at the beginning that `is_part` accepts.
    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        self.take(rest.find(|it| !is_part(it)).unwrap_or(rest.len()))
    }

    fn next_token(&mut self) -> Option<Token> {
        self.skip_blanks();
        let line = self.line;
        let first = self.rest().chars().next()?;
        let (kind, text) = match first {
            '#' if self.line != self.last_line => (Kind::Directive, Cow::Owned(self.directive())),
            '"' => (Kind::String, self.string()),
            '\'' => (Kind::Literal, Cow::Borrowed(self.quoted('\''))),
            _ if first.is_ascii_digit() => (Kind::Literal, Cow::Borrowed(self.number())),
            _ if is_word(first) => self.word(),
            _ => (Kind::Punctuation, Cow::Borrowed(self.punctuation(first))),
        };
        self.last_line = self.line;
        let text = text.into();
        Some(Token { kind, text, line })
    }

    /// Skips white space, comments and the ends of lines that go on in the next one.
    fn skip_blanks(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            let rest = self.rest();
            if rest.starts_with("//") {
                self.take(logical_line(rest));
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let Some(end) = comment.find("*/") else {
                    self.unterminated.push(self.line);
                    self.take(rest.len());
                    return;
                };
                self.take(end + 4);
            } else if rest.starts_with("\\\n") || rest.starts_with("\\\r\n") {
                self.take(rest.find('\n').map_or(1, |end| end + 1));
            } else {
                return;
            }
        }
    }

    /// Reads an identifier, or a string with a prefix.
    fn word(&mut self) -> (Kind, Cow<'a, str>) {
        let word = self.take_while(is_word);
        match self.rest().starts_with('"') && PREFIXES.contains(&word) {
            true if word.ends_with('R') => (Kind::String, Cow::Borrowed(self.raw_string())),
            true => (Kind::String, self.string()),
            false => (Kind::Word, Cow::Borrowed(word)),
        }
    }

    /// Reads a number, with its digit separators and exponent.
    fn number(&mut self) -> &'a str {
        let rest = self.rest();
        let mut last = ' ';
        let end = rest.find(|it: char| {
            let is_sign = matches!(it, '+' | '-') && matches!(last, 'e' | 'E' | 'p' | 'P');
            let is_part = is_word(it) || matches!(it, '.' | '\'') || is_sign;
            last = it;
            !is_part
        });
        self.take(end.unwrap_or(rest.len()))
    }

    fn punctuation(&mut self, first: char) -> &'a str {
        let is_double = ["::", "##"].iter().any(|it| self.rest().starts_with(it));
        self.take(if is_double { 2 } else { first.len_utf8() })
    }

    /// Reads a literal between quotation marks, and returns what is between them.
    fn quoted(&mut self, mark: char) -> &'a str {
        let mut is_escaped = false;
        let rest = self.rest();
        let end = rest.char_indices().skip(1).find(|(_, it)| {
            let is_end = !is_escaped && (*it == mark || *it == '\n');
            is_escaped = !is_escaped && *it == '\\' || is_escaped && *it == '\r';
            is_end
        });
        match end {
            Some((end, it)) if it == mark => {
                let text = self.take(end + 1);
                &text[1..end]
            }
            end => {
                self.unterminated.push(self.line);
                let text = self.take(end.map_or(rest.len(), |(end, _)| end));
                text.get(1..).unwrap_or_default()
            }
        }
    }

    fn string(&mut self) -> Cow<'a, str> {
        let text = self.quoted('"');
        match text.contains('\\') {
            true => Cow::Owned(unescape(text)),
            false => Cow::Borrowed(text),
        }
    }

    /// Reads `"delimiter(text)delimiter"`.
    fn raw_string(&mut self) -> &'a str {
        let rest = self.rest();
        let (delimiter, text) = rest[1..].split_once('(').unwrap_or_default();
        let end = match delimiter.len() <= MAX_DELIMITER {
            true => text.find(&format!("){delimiter}\"")),
            false => None,
        };
        let Some(end) = end else {
            self.unterminated.push(self.line);
            self.take(rest.len());
            return "";
        };
        self.take(1 + delimiter.len() + 1 + end + 1 + delimiter.len() + 1);
        &text[..end]
    }

    /// Reads a directive: its lines become one.
    fn directive(&mut self) -> String {
        let rest = self.rest();
        let lines = self.take(logical_line(rest));
        lines[1..].replace("\\\r\n", " ").replace("\\\n", " ")
    }
}

/// Returns the length of the first line, with the lines in which it goes on, and without the end of the last one.
fn logical_line(text: &str) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        length += line.len();
        let content = line.trim_end_matches(['\r', '\n']);
        if !content.ends_with('\\') {
            return length - (line.len() - content.len());
        }
    }
    length
}

/// Returns the value of a string. Numbers of characters are left as they are: no name has one.
fn unescape(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\\' {
            value.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => value.push('\n'),
            Some('t') => value.push('\t'),
            Some('r') if characters.peek() == Some(&'\n') => {}
            Some('\r') => drop(characters.next_if_eq(&'\n')),
            Some('\n') | None => {}
            Some(it @ ('"' | '\'' | '\\' | '?')) => value.push(it),
            Some(it) => value.extend(['\\', it]),
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        let mut budget = Budget::for_input(source.len());
        let tokens = tokenize(source, &mut budget).unwrap().tokens;
        tokens.iter().map(|it| it.text.to_string()).collect()
    }

    fn unterminated(source: &str) -> Vec<u32> {
        let mut budget = Budget::for_input(source.len());
        tokenize(source, &mut budget).unwrap().unterminated
    }

    #[test]
    fn separates_words_strings_numbers_and_directives() {
        let source = "#define A(x) \\\n  x /* y */\nstd::f<1'000, 1e-3>('\\'', \"a\\\"b\"); // z\n";
        let expected = [
            "define A(x)    x /* y */",
            "std",
            "::",
            "f",
            "<",
            "1'000",
            ",",
            "1e-3",
            ">",
            "(",
            "\\'",
            ",",
            "a\"b",
            ")",
            ";",
        ];
        assert_eq!(texts(source), expected);
    }

    #[test]
    fn raw_strings_and_prefixes_are_strings() {
        assert_eq!(
            texts("R\"x(a)\"b)x\" u8\"c\" LR\"(d\n)\" f"),
            ["a)\"b", "c", "d\n", "f"]
        );
    }

    #[test]
    fn carriage_returns_end_lines_as_in_other_files() {
        let source = "#define A \\\r\n  b\r\nc // d\r\n\"e\\\r\nf\"\r\n";
        assert_eq!(texts(source), ["define A    b", "c", "ef"]);
    }

    #[test]
    fn tokens_have_their_lines() {
        let source = "a /* \n */ b\nR\"(\n\n)\" c";
        let mut budget = Budget::for_input(source.len());
        let tokens = tokenize(source, &mut budget).unwrap().tokens;
        let lines: Vec<u32> = tokens.iter().map(|it| it.line).collect();
        assert_eq!(lines, [1, 2, 3, 5]);
    }

    #[test]
    fn unterminated_literals_and_comments_are_named_by_line() {
        for (source, line) in [
            ("\n\"abc\nd", 2),
            ("/* x", 1),
            ("\n\nR\"(x", 3),
            ("R\"x", 1),
            ("'a", 1),
            ("\"\\", 1),
        ] {
            assert_eq!(unterminated(source), [line], "{source:?}");
        }
        assert_eq!(texts("\"abc\nd"), ["abc", "d"]);
    }

    #[test]
    fn tokens_beyond_the_budget_are_an_error() {
        let exceeded = tokenize("a b c", &mut Budget::new(2, 1 << 20)).err();
        assert_eq!(exceeded, Some(Exceeded::Steps));
    }
}
