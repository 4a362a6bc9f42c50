//! Tokens of a C header.

/// A header that the scanner cannot read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

/// A token, borrowed from the header's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// An identifier or a keyword.
    Word(&'a str),
    /// A number, with its suffix.
    Number(&'a str),
    /// A string or a character literal; its content does not matter.
    Literal,
    /// A punctuation character.
    Punctuation(u8),
    /// A preprocessor directive without its `#`, continuation lines included.
    Directive(&'a str),
}

/// Splits `text` into tokens; comments and white space separate them.
///
/// # Errors
/// Returns an error if a comment or a literal has no end, or a character is not ASCII outside of one.
pub fn tokens(text: &str) -> Result<Vec<Token<'_>>, Malformed> {
    let mut lexer = Lexer { text, position: 0 };
    let mut found = Vec::new();
    while let Some(token) = lexer.next()? {
        found.push(token);
    }
    Ok(found)
}

/// Returns the words of a directive or a macro's body, without comments; numbers and punctuation
/// separate them.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split("//").next().unwrap_or_default();
    let code = code.split("/*").next().unwrap_or_default();
    code.split(|it: char| !is_word(it))
        .filter(|it| !it.is_empty())
}

struct Lexer<'a> {
    text: &'a str,
    position: usize,
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or_default()
    }

    /// Consumes `len` bytes.
    fn take(&mut self, len: usize) -> &'a str {
        let rest = self.rest();
        let taken = rest.get(..len).unwrap_or(rest);
        self.position += taken.len();
        taken
    }

    fn next(&mut self) -> Result<Option<Token<'a>>, Malformed> {
        self.skip_blanks_and_comments()?;
        let Some(first) = self.rest().chars().next() else {
            return Ok(None);
        };
        Ok(Some(match first {
            '#' => Token::Directive(self.directive()?),
            '\\' => return Err(Malformed("a line goes on outside of a directive")),
            '%' if self.rest().starts_with("%:") => return Err(Malformed("it has digraphs")),
            '"' | '\'' => self.literal(first)?,
            _ if first.is_ascii_digit() => Token::Number(self.word()),
            _ if is_word(first) => match self.word() {
                "_Pragma" => return Err(Malformed("a _Pragma may change its layouts")),
                word => Token::Word(word),
            },
            _ if first.is_ascii() => Token::Punctuation(self.take(1).as_bytes()[0]),
            _ => return Err(Malformed("it has characters that are not ASCII")),
        }))
    }

    fn skip_blanks_and_comments(&mut self) -> Result<(), Malformed> {
        loop {
            let rest = self.rest();
            self.position += rest.len() - rest.trim_start().len();
            let rest = self.rest();
            if rest.starts_with("//") {
                let line = self.take(rest.find('\n').unwrap_or(rest.len()));
                if line.trim_end().ends_with('\\') {
                    return Err(Malformed("a comment goes on in the next line"));
                }
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let end = comment.find("*/");
                self.take(4 + end.ok_or(Malformed("a comment has no end"))?);
            } else {
                return Ok(());
            }
        }
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        self.take(rest.find(|it| !is_word(it)).unwrap_or(rest.len()))
    }

    fn literal(&mut self, quote: char) -> Result<Token<'a>, Malformed> {
        let mut is_escaped = false;
        let end = self.rest().char_indices().skip(1).find(|(_, it)| {
            let is_end = *it == quote && !is_escaped;
            is_escaped = *it == '\\' && !is_escaped;
            is_end || *it == '\n'
        });
        match end {
            Some((position, it)) if it == quote => {
                self.take(position + 1);
                Ok(Token::Literal)
            }
            _ => Err(Malformed("a literal has no end")),
        }
    }

    /// Reads a directive with its continuation lines.
    fn directive(&mut self) -> Result<&'a str, Malformed> {
        let rest = self.rest();
        let mut end = 0;
        for line in rest.split_inclusive('\n') {
            end += line.len();
            if !line.trim_end().ends_with('\\') {
                break;
            }
        }
        let directive = self.take(end).trim_start_matches('#').trim();
        let code = directive.split("//").next().unwrap_or_default();
        let comment = code.rsplit_once("/*");
        match comment.is_some_and(|(_, comment)| !comment.contains("*/")) {
            true => Err(Malformed("a directive's comment goes on in the next line")),
            false => Ok(directive),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separates_words_numbers_marks_and_directives() {
        let text = "#define A \\\n  B\nint32_t x[0x4]; /* y */ // z\n\"a\\\"b\" '\\''";
        let expected = [
            Token::Directive("define A \\\n  B"),
            Token::Word("int32_t"),
            Token::Word("x"),
            Token::Punctuation(b'['),
            Token::Number("0x4"),
            Token::Punctuation(b']'),
            Token::Punctuation(b';'),
            Token::Literal,
            Token::Literal,
        ];
        assert_eq!(tokens(text).unwrap(), expected);
    }

    #[test]
    fn rejects_unterminated_comments_and_literals() {
        for text in ["/* x", "\"x", "'x\n'", "\"x\\\"", "/*/"] {
            assert!(tokens(text).is_err(), "{text}");
        }
        assert!(tokens("int \u{e9};").is_err());
        assert_eq!(tokens("// \u{e9}").unwrap(), []);
    }

    #[test]
    fn words_exclude_comments() {
        let found: Vec<_> = words("TF_Bool unsigned char // x").collect();
        assert_eq!(found, ["TF_Bool", "unsigned", "char"]);
    }
}
